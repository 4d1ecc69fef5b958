//! Writes the blobs below the tags to the repository. [`Publication`] writes the manifests.

use std::sync::Arc;

use futures_util::future;

use super::publication::CONCURRENT_WRITES;
use super::reported_blob::ReportedBlob;
use super::{
    AttachedBlobs, Blob, BlobFailure, BlobSource, Error, Expected, Journey, Package, PackageBlob,
    Publication, Release, RepoMut, Reporter, Subject, Transfer,
};
use crate::blob::verify;
use crate::event::Event;
use crate::jobs::Jobs;
use crate::oci::Part;
use crate::store::Lookup;

/// The outcome for the packages of a release and for other blobs, over all attempts. What an earlier one has written counts as written.
#[derive(Debug)]
pub(super) struct TransferOutcomes {
    /// The outcome of each package, in the order of the release.
    packages: Vec<Transfer>,
    /// The blobs that no signature covers. A new plan may list different ones.
    beside: Vec<(Expected, Transfer)>,
}

impl TransferOutcomes {
    /// No outcome yet.
    pub(super) fn new(packages: usize) -> Self {
        Self {
            packages: vec![Transfer::Present; packages],
            beside: Vec::new(),
        }
    }

    /// Writes every blob below the tags of a publication.
    pub(super) async fn transfer_all<B: PackageBlob>(
        &mut self,
        journey: &Journey<'_, B>,
        publication: &Publication<B>,
    ) -> Result<(), Error> {
        let Journey { edition, to, .. } = journey;
        let work = edition.release.packages.iter();
        let work = work.zip(publication.delivers.iter().copied());
        let sizes = work.clone().map(|(package, delivers)| match delivers {
            true => package.expected.size,
            false => 0,
        });
        let subject = edition.subject.clone();
        journey.reporter.report(Event::planned(subject, sizes));
        let work = work.map(|(package, delivers)| (package.clone(), delivers));
        let packages = journey.options.jobs.run(work, |(package, delivers)| {
            let (to, reporter) = (RepoMut::clone(to), Arc::clone(&journey.reporter));
            let subject = edition.subject.platform(&package.platform);
            let authentication = edition.release.authentication().clone();
            async move {
                let transfer = match delivers {
                    true => deliver_package(&package, &to, &subject, &reporter).await?,
                    false => check_package(&package).await?,
                };
                reporter.report(Event::Finished {
                    subject,
                    size: package.expected.size,
                    transfer,
                    authentication,
                });
                Ok(transfer)
            }
        });
        let (packages, ()) = future::try_join(packages, documents(publication, to)).await?;
        let written = |transfer: &Transfer| *transfer != Transfer::Present;
        for (outcome, now) in self.packages.iter_mut().zip(packages) {
            *outcome = Some(now).filter(written).unwrap_or(*outcome);
        }
        for (blob, now) in unproven(journey, publication).await? {
            match self.beside.iter_mut().find(|(known, _)| *known == blob) {
                Some((_, outcome)) => *outcome = Some(now).filter(written).unwrap_or(*outcome),
                None => self.beside.push((blob, now)),
            }
        }
        Ok(())
    }

    /// Finds out what [`TransferOutcomes::transfer_all`] would do. An interrupted run may have written packages without moving the tag.
    pub(super) async fn predict<B: PackageBlob>(
        &mut self,
        journey: &Journey<'_, B>,
        publication: &Publication<B>,
    ) -> Result<(), Error> {
        let Journey { edition, to, .. } = journey;
        let packages = edition.release.packages.iter();
        let packages = packages.zip(&publication.delivers);
        for ((package, delivers), transfer) in packages.zip(&mut self.packages) {
            check_package(package).await?;
            let is_there = match to.refuses_incomplete() {
                _ if !delivers => true,
                true => to.has_blob(&package.expected).await?,
                false => verify(&to.blob(package.expected)).await.is_ok(),
            };
            *transfer = planned(is_there);
        }
        for (blob, _) in unproven_blobs(publication) {
            let expected = blob.expected();
            let transfer = planned(to.has_blob(&expected).await?);
            journey
                .reporter
                .report(carried(edition.subject.clone(), expected, transfer));
            self.beside.push((expected, transfer));
        }
        Ok(())
    }

    /// The outcome of each package, in the order of the release.
    pub(super) fn packages(&self) -> impl Iterator<Item = Transfer> {
        self.packages.iter().copied()
    }

    /// The bytes that were written of packages and of other blobs.
    pub(super) fn bytes<B>(&self, release: &Release<B>) -> u64 {
        let packages = release.packages.iter().zip(self.packages());
        let copied = packages.filter(|(_, transfer)| *transfer == Transfer::Copied);
        let copied = copied.map(|(package, _)| package.expected.size);
        let beside = self.beside().map_or(0, |beside| beside.moved);
        copied.fold(beside, u64::saturating_add)
    }

    /// The counts of blobs that no signature covers, if there are any.
    pub(super) fn beside(&self) -> Option<AttachedBlobs> {
        let mut beside = AttachedBlobs::default();
        for (expected, transfer) in &self.beside {
            beside.add(expected.size, *transfer);
        }
        beside.if_any()
    }
}

fn planned(is_there: bool) -> Transfer {
    match is_there {
        true => Transfer::Present,
        false => Transfer::Planned,
    }
}

async fn deliver_package<B: PackageBlob>(
    package: &Package<B>,
    to: &RepoMut,
    subject: &Subject,
    reporter: &Arc<dyn Reporter>,
) -> Result<Transfer, Error> {
    let watched = ReportedBlob::start(package.location.clone(), subject, reporter);
    let blob_failure = |source| BlobFailure::of_package(package, source);
    let put = to.put_blob(&watched, Lookup::First).await;
    let transfer = put.map_err(|error| Error::of_blob::<B>(error, blob_failure))?;
    match watched.was_read() {
        true => Ok(transfer),
        false => check_package(package).await.map(|_| transfer),
    }
}

/// Checks the bytes of a package that the repository has, unless they were checked before.
async fn check_package<B: PackageBlob>(package: &Package<B>) -> Result<Transfer, Error> {
    let blob = &package.location;
    if blob.info().is_unverified {
        let read = verify(blob).await;
        let failed = |source| Error::of_failure::<B>(BlobFailure::of_package(package, source));
        read.map_err(failed)?;
    }
    Ok(Transfer::Present)
}

/// Writes the small blobs, the config and the documents of the evidence, each once.
async fn documents<B: PackageBlob>(
    publication: &Publication<B>,
    to: &RepoMut,
) -> Result<(), Error> {
    let mut work: Vec<(Blob<B>, Part)> = Vec::new();
    for (blob, what) in publication.all_blobs() {
        let is_new = work
            .iter()
            .all(|(one, _)| one.expected() != blob.expected());
        if is_new && matches!(blob, Blob::Read { .. }) {
            work.push((blob.clone(), what));
        }
    }
    let jobs = Jobs::new(CONCURRENT_WRITES);
    let writes = jobs.run(work, |(blob, what)| {
        let to = to.clone();
        async move {
            let lookup = match &blob {
                Blob::Read {
                    is_likely_there: false,
                    ..
                } => Lookup::Never,
                Blob::Read { .. } | Blob::Unproven(_) => Lookup::First,
            };
            put::<B>(&blob, what, lookup, &to).await
        }
    });
    writes.await?;
    Ok(())
}

/// Writes a blob that is not a package.
async fn put<B: PackageBlob>(
    blob: &impl BlobSource<Failure = B::Failure>,
    what: Part,
    lookup: Lookup,
    to: &RepoMut,
) -> Result<Transfer, Error> {
    let put = to.put_blob(blob, lookup).await;
    put.map_err(|error| {
        Error::of_blob::<B>(error, |source| BlobFailure {
            what,
            package: None,
            digest: blob.expected().digest,
            source,
        })
    })
}

/// Writes the blobs that no signature covers, and reports each.
async fn unproven<B: PackageBlob>(
    journey: &Journey<'_, B>,
    publication: &Publication<B>,
) -> Result<Vec<(Expected, Transfer)>, Error> {
    let blobs = unproven_blobs(publication).into_iter();
    let blobs = blobs.map(|(blob, what)| (blob.clone(), what));
    journey
        .options
        .jobs
        .run(blobs, |(blob, what)| {
            let (to, reporter) = (journey.to.clone(), Arc::clone(&journey.reporter));
            let subject = journey.edition.subject.clone();
            async move {
                let expected = blob.expected();
                let watched = ReportedBlob::start(blob, &subject, &reporter);
                let transfer = put::<B>(&watched, what, Lookup::First, &to).await?;
                reporter.report(carried(subject, expected, transfer));
                Ok((expected, transfer))
            }
        })
        .await
}

fn unproven_blobs<B>(publication: &Publication<B>) -> Vec<(&B, Part)> {
    let blobs = publication.all_blobs();
    let blobs = blobs.filter_map(|(blob, what)| match blob {
        Blob::Unproven(blob) => Some((blob, what)),
        Blob::Read { .. } => None,
    });
    blobs.collect()
}

/// The event of a blob that no signature covers.
pub(crate) fn carried(
    subject: Subject,
    Expected { digest, size }: Expected,
    transfer: Transfer,
) -> Event {
    Event::AttachedFinished {
        subject,
        digest,
        size,
        transfer,
    }
}
