//! Downloads packages to hash them.

use std::collections::BTreeSet;

use crate::archive::{Archive, Limits, Stop, Stream};
use crate::disk::temp_file::TempFileWriter;
use crate::event::Transfer;
use crate::hash::PackageHash;
use crate::install::{Download, each_package};
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
        release: &Verified<Release<B>>,
        at: &At,
    ) -> Result<BTreeSet<PackageHash>, Failure> {
        let options = self.options;
        let measured = each_package(release, &options.jobs, at, self.reporter, |download| {
            let wants_h1 = options.h1.has(&download.package.platform);
            async move {
                let hashes = hashes(&download, wants_h1).await?;
                Ok::<_, Problem>((hashes, Transfer::Copied))
            }
        });
        Ok(measured.await?.into_iter().flatten().collect())
    }
}

/// The `zh` of a package, and the `h1` if it is wanted, computed while the zip arrives, or from a temporary file.
async fn hashes<B: PackageBlob>(
    download: &Download<B>,
    wants_h1: bool,
) -> Result<Vec<PackageHash>, Problem> {
    let package = &download.package;
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
