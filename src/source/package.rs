//! Packages whose size or digest is not in the metadata of the source.
//!
//! The headers of the response to a download contain the size. tfoci sends the request when it needs the size, and the upload reads the
//! response ([`super::opened`]). If a version has more such packages than responses may be open at once, the first of them are uploaded
//! before the version is published ([`super::Source::too_many_unsized`]).
//!
//! A package whose digest is unknown, or whose server announces no length, is downloaded into a temporary file before it is uploaded. The
//! number of these files is limited over all versions of all providers. If a version has more such packages than the limit, the others are
//! downloaded twice.

use std::sync::Arc;

use futures_util::{FutureExt as _, StreamExt as _, TryStreamExt as _};
use tokio::sync::OwnedSemaphorePermit;

use super::download::PackageDownload;
use super::error::Error;
use super::opened::Opened;
use super::package_metadata::RemoteMetadata;
use super::source_package::{PackageBytes, SourcePackage};
use crate::archive::{self, Archive, Limits};
use crate::digest::Digest;
use crate::disk::temp_file::{Permit, TempFile};
use crate::hash::PackageHash;
use crate::jobs;
use crate::release::Expected;

/// The most packages of one version that are requested at once. Most versions have more packages, and higher numbers would only wait for
/// the limits of the HTTP client.
const CONCURRENT_PACKAGES: usize = 8;

/// The metadata of a package before it is requested.
#[derive(Clone, Debug)]
pub enum PackageMetadata {
    /// A package at a URL. Its size or digest may be unknown.
    Remote(Box<RemoteMetadata>),
    /// A package of known size and digest.
    Complete(SourcePackage),
}

impl PackageMetadata {
    /// The most responses that may be open, for a package whose size has to be requested.
    pub(super) fn open_limit(&self) -> Option<usize> {
        match self {
            Self::Remote(remote) if remote.lacks_size() => {
                Some(remote.location.access.open_answers.limit())
            }
            Self::Remote(_) | Self::Complete(_) => None,
        }
    }

    /// Sets the size of a package that was requested.
    pub(super) fn with_size(mut self, size: u64) -> Self {
        if let Self::Remote(remote) = &mut self {
            remote.size = Some(size);
        }
        self
    }
}

/// Determines sizes and digests that the source does not provide.
pub(super) async fn complete(
    all_metadata: Vec<PackageMetadata>,
) -> Result<Vec<SourcePackage>, Error> {
    let remote = all_metadata.iter().filter_map(|metadata| match metadata {
        PackageMetadata::Remote(remote) => Some(RemoteMetadata::clone(remote)),
        PackageMetadata::Complete(_) => None,
    });
    let mut found = resolve(remote.collect()).await?.into_iter();
    let packages = all_metadata
        .into_iter()
        .filter_map(|metadata| match metadata {
            PackageMetadata::Remote(_) => found.next(),
            PackageMetadata::Complete(package) => Some(package),
        });
    Ok(packages.collect())
}

/// Like [`complete`], for packages at URLs.
pub(super) async fn resolve(
    all_metadata: Vec<RemoteMetadata>,
) -> Result<Vec<SourcePackage>, Error> {
    let mut all_metadata = with_sizes(all_metadata).await?;
    all_metadata
        .iter()
        .try_for_each(RemoteMetadata::check_size)?;
    let unknown = |metadata: &&RemoteMetadata| metadata.known().is_none();
    let mut left = all_metadata.iter().filter(unknown).count();
    let Some(first) = all_metadata.iter().find(unknown) else {
        return Ok(all_metadata
            .iter()
            .filter_map(RemoteMetadata::remote)
            .collect());
    };
    let temp_files = first.location.access.temp_files.clone();
    let permit = match temp_files.acquire(left).now_or_never() {
        Some(permit) => permit,
        None => {
            // Close the open responses before waiting: a version that holds temporary files may wait for their permits.
            all_metadata
                .iter_mut()
                .for_each(|metadata| metadata.opened = None);
            temp_files.acquire(left).await
        }
    };
    let permit = Arc::new(permit);
    let concurrent = CONCURRENT_PACKAGES.min(permit.files());
    let found = all_metadata.into_iter().map(|metadata| {
        // Only the last downloads keep their files. `buffered` returns results in order, so the downloads that run or wait for an earlier
        // one never exceed the limit. A file is kept only after all downloads that do not keep theirs.
        let keeps = left <= permit.files();
        left -= usize::from(unknown(&&metadata));
        metadata.into_remote(Arc::clone(&permit), keeps)
    });
    futures_util::stream::iter(found)
        .buffered(concurrent)
        .try_collect()
        .await
}

/// Requests the sizes that the source does not provide.
async fn with_sizes(all_metadata: Vec<RemoteMetadata>) -> Result<Vec<RemoteMetadata>, Error> {
    let count = all_metadata
        .iter()
        .filter(|metadata| metadata.lacks_size())
        .count();
    let mut permits = match all_metadata.iter().find(|metadata| metadata.lacks_size()) {
        Some(first) => {
            let answers = &first.location.access.open_answers;
            answers.permits(count).await.into_iter()
        }
        None => return Ok(all_metadata),
    };
    let asked = all_metadata.into_iter().map(|metadata| {
        let permit = match metadata.lacks_size() {
            true => permits.next(),
            false => None,
        };
        metadata.with_size(permit)
    });
    let asked = futures_util::stream::iter(asked).buffered(CONCURRENT_PACKAGES);
    asked.try_collect().await
}

impl RemoteMetadata {
    /// Whether its size has to be requested. If the digest is unknown, the package is downloaded anyway.
    fn lacks_size(&self) -> bool {
        self.digest.is_some() && self.size.is_none()
    }

    /// Requests the package if its size is not known otherwise and there is a permit. The response stays open, and the upload reads it.
    async fn with_size(mut self, permit: Option<OwnedSemaphorePermit>) -> Result<Self, Error> {
        if let Some(permit) = permit {
            let answer = self.location.ask(0, None).await?;
            self.size = answer.content_length();
            self.opened = Some(Opened::new(answer, permit));
        }
        Ok(self)
    }

    fn known(&self) -> Option<Expected> {
        let (digest, size) = (self.digest?, self.size?);
        Some(Expected { digest, size })
    }

    fn remote(&self) -> Option<SourcePackage> {
        self.known().map(|expected| SourcePackage {
            bytes: PackageBytes::Remote {
                location: Box::new(self.location.clone()),
                opened: self.opened.clone(),
            },
            expected,
        })
    }

    /// Downloads the package if its size or digest is still unknown. If the file is not kept, the upload downloads the package again.
    async fn into_remote(self, permit: Arc<Permit>, keeps: bool) -> Result<SourcePackage, Error> {
        if let Some(package) = self.remote() {
            return Ok(package);
        }
        let (file, found) = PackageDownload::new(&self)?.run().await?;
        if self.digest.is_none() {
            self.check(&file, &found.digest, &permit).await?;
        }
        // If the source provides a digest, it is used here. A package that differs from it is refused when it is published.
        let digest = self.digest.unwrap_or(found.digest);
        Ok(SourcePackage {
            expected: Expected { digest, ..found },
            bytes: match keeps {
                true => PackageBytes::TempFile {
                    file,
                    _permit: permit,
                },
                false => PackageBytes::Remote {
                    location: Box::new(self.location),
                    opened: None,
                },
            },
        })
    }

    /// Checks the downloaded package against the hashes.
    async fn check(
        &self,
        file: &TempFile,
        digest: &Digest,
        permit: &Arc<Permit>,
    ) -> Result<(), Error> {
        let zh = PackageHash::of_zip(digest);
        let hashes = &self.hashes;
        if hashes.is_empty() || zh.as_ref().is_some_and(|zh| hashes.contains(zh)) {
            return Ok(());
        }
        let h1 = h1(file, permit).await.map_err(|source| Error::Archive {
            what: self.location.what(),
            url: self.location.url.clone().into(),
            source,
        })?;
        if hashes.contains(&h1) {
            return Ok(());
        }
        Err(Error::Contradiction {
            what: self.location.what(),
            field: "hash",
            url: self.location.url.clone().into(),
            expected: list(hashes),
            received: list(&Vec::from_iter(zh.into_iter().chain([h1]))),
        })
    }
}

/// Computes the `h1` of a zip on a separate thread, which stops when the result is no longer needed.
async fn h1(file: &TempFile, permit: &Arc<Permit>) -> Result<PackageHash, archive::Error> {
    let (reader, permit) = (file.reader(0), Arc::clone(permit));
    let wanted = Arc::new(());
    let is_wanted = Arc::downgrade(&wanted);
    let inflating = jobs::in_thread(move || {
        // Hold the permit while the file is open.
        let _permit = permit;
        let mut archive = Archive::open(reader, &Limits::default())?;
        let hashes = archive.read(|_, content| {
            while content.chunk()?.is_some() {
                if is_wanted.strong_count() == 0 {
                    return Err(std::io::Error::other("given up").into());
                }
            }
            Ok::<_, archive::Error>(())
        })?;
        Ok(hashes.zip)
    });
    let inflated = inflating.await;
    drop(wanted);
    inflated
}

fn list(hashes: &[PackageHash]) -> String {
    let texts: Vec<String> = hashes.iter().map(PackageHash::to_string).collect();
    texts.join(", ")
}
