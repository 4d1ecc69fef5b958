//! Downloads packages to hash them.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::archive::{Archive, Limits, Stop, Stream};
use crate::disk::temp_file::TempFileWriter;
use crate::event::{Event, Subject, Transfer};
use crate::hash::PackageHash;
use crate::install::Download;
use crate::jobs;
use crate::outcome::{At, Failure, Problem};
use crate::publish::PackageBlob;
use crate::release::Release;
use crate::trust::Verified;

use super::Journey;

impl Journey<'_> {
    /// Downloads the packages of a release. Returns the `zh` of each, and with [`super::Options::h1`] the `h1` of its unpacked directory.
    pub(super) async fn measure<B: PackageBlob>(
        &self,
        release: Verified<Release<B>>,
        at: At,
    ) -> Result<BTreeSet<PackageHash>, Failure> {
        let of_version = Subject::version(&release.provider, &release.version);
        let sizes = release.packages.iter().map(|package| package.expected.size);
        let planned = Event::planned(of_version.clone(), sizes);
        self.reporter.report(planned);
        let measured = self.options.jobs.run(release.packages.clone(), |package| {
            let (at, reporter) = (at.clone(), Arc::clone(self.reporter));
            let subject = of_version.platform(&package.platform);
            let authentication = release.authentication().clone();
            let wants_h1 = self.options.h1.has(&package.platform);
            async move {
                let download = Download {
                    package: &package,
                    subject: &subject,
                    reporter: &reporter,
                };
                let hashes = hashes(&download, wants_h1).await;
                let hashes = hashes.map_err(|problem| problem.of(subject.clone(), at))?;
                reporter.report(Event::Finished {
                    subject,
                    size: package.expected.size,
                    transfer: Transfer::Copied,
                    authentication,
                });
                Ok::<_, Failure>(hashes)
            }
        });
        Ok(measured.await?.into_iter().flatten().collect())
    }
}

/// The `zh` of a package, and the `h1` if it is wanted, computed while the zip arrives, or from a temporary file.
async fn hashes<B: PackageBlob>(
    download: &Download<'_, B>,
    wants_h1: bool,
) -> Result<Vec<PackageHash>, Problem> {
    let package = download.package;
    let mut hashes = Vec::from_iter(package.zh());
    if !wants_h1 {
        download.to(|_| Ok(())).await?;
        return Ok(hashes);
    }
    let (size, file) = (package.expected.size, package.file_name.clone());
    let unusable = move |source| Problem::Archive { file, source };
    let refused = unusable.clone();
    let mut spooled: Option<TempFileWriter> = None;
    let arrived = download.arriving_or_to(
        |front| Ok(Stream::<&[u8]>::suits(front)),
        move |reader| match Stream::new(reader, size, &Limits::default()).finish() {
            Ok(arrived) => Ok(Some(arrived.hashes)),
            Err(Stop::Unsuited) => Ok(None),
            Err(Stop::Refused(error)) => Err(refused(error)),
        },
        |chunk| {
            let writer = spooled.take().map_or_else(TempFileWriter::new, Ok)?;
            spooled.insert(writer).write(chunk)
        },
    );
    let read = match arrived.await? {
        Some(arrived) => arrived,
        None => {
            let zip = spooled.map_or_else(TempFileWriter::new, Ok)?.finish();
            let hashed =
                jobs::in_thread(move || Archive::open(zip.reader(0), &Limits::default())?.hashes());
            hashed.await.map_err(unusable)?
        }
    };
    hashes.push(read.directory);
    Ok(hashes)
}
