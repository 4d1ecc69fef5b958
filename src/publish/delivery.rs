//! Delivery: everything below the tags comes into the store.

use std::sync::Arc;

use futures_util::{StreamExt as _, TryStreamExt as _, future, stream};

use super::{
    BlobSource, Body, Change, Destination, EMPTY_BYTES, Event, Expected, Memory, Package, Plan,
    Problem, Put, Release, Reporter, Subject, Transfer, Verified, WriteStore, jobs,
};
use crate::blob::{self, Kept};
use crate::oci::EMPTY;
use crate::oci::evidence::KEYS;
use crate::store;

/// How many manifests or documents are written at once: an index may name hundreds.
const ABREAST: usize = 8;

/// Brings everything below the tags into the store.
pub(super) async fn carry_out<S: WriteStore, B: BlobSource>(
    release: &Verified<Release<B>>,
    destination: &Destination<S>,
    plan: &Plan,
    limit: usize,
    reporter: &Arc<dyn Reporter>,
) -> Result<Vec<Transfer>, Problem> {
    let Destination { store, repository } = destination;
    if plan.change() == Change::Present {
        announce_present(release, reporter);
        return Ok(vec![Transfer::Present; release.packages.len()]);
    }
    let subject = Subject::version(&release.provider, &release.version);
    let work = release
        .packages
        .iter()
        .zip(&plan.steps)
        .map(|(package, step)| {
            (
                package.clone(),
                step.clone(),
                subject.platform(&package.platform),
            )
        });
    let authentication = release.authentication().clone();
    let packages = jobs::run(limit, work, |(package, step, subject)| {
        let (destination, reporter) = (destination.clone(), Arc::clone(reporter));
        let authentication = authentication.clone();
        async move {
            let transfer = match step.missing {
                true => deliver(&package, &destination, &subject, &reporter)
                    .await
                    .map_err(|problem| of_source(problem, &package))?,
                false => Transfer::Present,
            };
            let size = package.expected.size;
            reporter.report(Event::Finished {
                subject,
                size,
                transfer,
                authentication,
            });
            Ok::<_, Problem>(transfer)
        }
    });
    let (transfers, ()) = future::try_join(packages, share(destination, plan)).await?;
    let missing = plan.steps.iter().filter(|step| step.missing);
    let manifests = missing.filter_map(|step| step.manifest.as_ref());
    let written = manifests.map(|manifest| store.put_manifest(repository, manifest));
    let written = stream::iter(written).buffer_unordered(ABREAST);
    written.try_collect::<()>().await?;
    Ok(transfers)
}

/// Brings the small blobs: the config, and the documents of the evidence. What is looked for costs one request more if it is
/// not there, and one less if it is.
async fn share<S: WriteStore>(destination: &Destination<S>, plan: &Plan) -> Result<(), Problem> {
    let config = (EMPTY, EMPTY_BYTES.to_vec());
    let documents = plan.evidence.write.iter();
    let documents = documents.flat_map(|(evidence, _)| evidence.documents());
    let documents = documents.map(|(media_type, bytes)| (media_type, bytes.clone()));
    let blobs = std::iter::once(config).chain(documents);
    jobs::run(ABREAST, blobs, |(media_type, bytes)| {
        let Destination { store, repository } = destination.clone();
        let is_likely_there = match media_type {
            // Every version has these two.
            EMPTY | KEYS => plan.is_familiar,
            _ => plan.was.is_some(),
        };
        async move {
            let blob = Memory::new(bytes);
            match is_likely_there {
                true => store.put_blob(&repository, &blob).await,
                false => store.put_new_blob(&repository, &blob).await,
            }
        }
    })
    .await?;
    Ok(())
}

/// Brings one package into a store, and tells how it goes.
pub(crate) async fn deliver<S: WriteStore, B: BlobSource>(
    package: &Package<B>,
    destination: &Destination<S>,
    subject: &Subject,
    reporter: &Arc<dyn Reporter>,
) -> Result<Transfer, Problem> {
    let (blob, size) = (package.location.clone(), package.expected.size);
    deliver_blob(blob, size, destination, subject, reporter).await
}

/// Brings any blob into a store, and tells how it goes.
pub(crate) async fn deliver_blob<S: WriteStore, B: BlobSource>(
    blob: B,
    size: u64,
    destination: &Destination<S>,
    subject: &Subject,
    reporter: &Arc<dyn Reporter>,
) -> Result<Transfer, Problem> {
    reporter.report(Event::Started {
        subject: subject.clone(),
        size,
    });
    let watched = Watched {
        blob,
        subject: subject.clone(),
        reporter: Arc::clone(reporter),
    };
    Ok(
        match destination
            .store
            .put_blob(&destination.repository, &watched)
            .await?
        {
            Put::Stored => Transfer::Copied,
            Put::Mounted => Transfer::Mounted,
            Put::Present => Transfer::Present,
        },
    )
}

/// A store that cannot use a blob since its bytes do not come is not to blame: its source is.
fn of_source<B>(problem: Problem, package: &Package<B>) -> Problem {
    let Problem::Store(store::Error::Blob {
        what,
        digest,
        source,
    }) = problem
    else {
        return problem;
    };
    let platform = package.platform.clone();
    match source {
        blob::Error::Archive(source) => Problem::Archive {
            file: package.file_name.clone(),
            source,
        },
        blob::Error::NotGiven { category, source } => Problem::Package {
            platform,
            category,
            source,
        },
        blob::Error::Http(error) => Problem::Package {
            platform,
            category: error.category(),
            source: Box::new(error),
        },
        source => Problem::Store(store::Error::Blob {
            what,
            digest,
            source,
        }),
    }
}

fn announce_present<B>(release: &Verified<Release<B>>, reporter: &Arc<dyn Reporter>) {
    let subject = Subject::version(&release.provider, &release.version);
    for package in &release.packages {
        reporter.report(Event::Finished {
            subject: subject.platform(&package.platform),
            size: package.expected.size,
            transfer: Transfer::Present,
            authentication: release.authentication().clone(),
        });
    }
}

/// A blob whose progress somebody watches.
#[derive(Clone)]
struct Watched<B> {
    blob: B,
    subject: Subject,
    reporter: Arc<dyn Reporter>,
}

impl<B: BlobSource> BlobSource for Watched<B> {
    fn expected(&self) -> Expected {
        self.blob.expected()
    }

    fn can_be_cut(&self) -> bool {
        self.blob.can_be_cut()
    }

    fn is_unopened(&self) -> bool {
        self.blob.is_unopened()
    }

    fn kept(&self) -> Option<Kept<'_>> {
        self.blob.kept()
    }

    async fn open(&self, from: u64) -> Result<Body, blob::Error> {
        let body = self.blob.open(from).await?;
        let (subject, reporter) = (self.subject.clone(), Arc::clone(&self.reporter));
        Ok(Body::new(body.inspect(move |chunk| {
            if let Ok(chunk) = chunk {
                reporter.report(Event::Advanced {
                    subject: subject.clone(),
                    bytes: chunk.len() as u64,
                });
            }
        })))
    }
}
