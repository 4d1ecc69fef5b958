//! Downloads packages to hash them.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::archive::{Archive, Limits, Stop, Stream};
use crate::authentication::Authentication;
use crate::disk::temp_file::TempFileWriter;
use crate::event::{Event, Reporter, Subject, Transfer};
use crate::hash::PackageHash;
use crate::install::Download;
use crate::jobs;
use crate::outcome::{At, Failure, Problem};
use crate::publish::PackageBlob;
use crate::release::{Package, Release};
use crate::trust::Verified;

use super::Journey;

/// A package to hash.
struct Measurement<B> {
    package: Package<B>,
    subject: Subject,
    at: At,
    authentication: Authentication,
    h1: bool,
    reporter: Arc<dyn Reporter>,
}

impl Journey<'_> {
    /// Downloads the packages of a release. Returns the `zh` of each, and with [`super::Options::h1`] the `h1` of its unpacked directory.
    pub(super) async fn measure<B: PackageBlob>(
        &self,
        release: Verified<Release<B>>,
        at: At,
    ) -> Result<BTreeSet<PackageHash>, Failure> {
        let subject = Subject::version(&release.provider, &release.version);
        let sizes = release.packages.iter().map(|package| package.expected.size);
        self.reporter.report(Event::planned(subject.clone(), sizes));
        let work = release.packages.iter().map(|package| Measurement {
            subject: subject.platform(&package.platform),
            package: package.clone(),
            at: at.clone(),
            authentication: release.authentication().clone(),
            h1: self.options.h1.has(&package.platform),
            reporter: Arc::clone(self.reporter),
        });
        let measured = self.options.jobs.run(work, |work| {
            let (subject, at) = (work.subject.clone(), work.at.clone());
            async move {
                let hashes = work.measure().await;
                hashes.map_err(|problem| problem.of(subject, at))
            }
        });
        Ok(measured.await?.into_iter().flatten().collect())
    }
}

impl<B: PackageBlob> Measurement<B> {
    async fn measure(self) -> Result<Vec<PackageHash>, Problem> {
        let size = self.package.expected.size;
        let download = Download {
            package: &self.package,
            subject: &self.subject,
            reporter: &self.reporter,
        };
        let mut hashes = Vec::from_iter(self.package.zh());
        match self.h1 {
            false => download.to(|_| Ok(())).await?,
            true => hashes.push(self.h1_of(&download).await?),
        }
        self.reporter.report(Event::Finished {
            subject: self.subject,
            size,
            transfer: Transfer::Copied,
            authentication: self.authentication,
        });
        Ok(hashes)
    }

    /// The `h1` of the unpacked package, computed while the zip arrives, or from a temporary file.
    async fn h1_of(&self, download: &Download<'_, B>) -> Result<PackageHash, Problem> {
        let (size, file) = (self.package.expected.size, self.package.file_name.clone());
        let unusable = move |source| Problem::Archive { file, source };
        let refused = unusable.clone();
        let mut spooled: Option<TempFileWriter> = None;
        let arrived = download.arriving_or_to(
            |front| Ok(Stream::<&[u8]>::suits(front)),
            move |reader| match Stream::new(reader, size, &Limits::default()).finish() {
                Ok(arrived) => Ok(Some(arrived.hashes.directory)),
                Err(Stop::Unsuited) => Ok(None),
                Err(Stop::Refused(error)) => Err(refused(error)),
            },
            |chunk| {
                let writer = match spooled.take() {
                    None => TempFileWriter::new()?,
                    Some(writer) => writer,
                };
                spooled.insert(writer).write(chunk)
            },
        );
        if let Some(h1) = arrived.await? {
            return Ok(h1);
        }
        let zip = spooled.map_or_else(TempFileWriter::new, Ok)?.finish();
        let hashed =
            jobs::in_thread(move || Archive::open(zip.reader(0), &Limits::default())?.hashes());
        Ok(hashed.await.map_err(unusable)?.directory)
    }
}
