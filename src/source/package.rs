//! Packages whose size or digest is not in the metadata of the source.
//!
//! If only the size is unknown, tfoci asks for the first byte of the package: the answer tells the size of the whole.
//!
//! A package whose digest is unknown, or whose server does not tell its size, is downloaded into a temporary file before it is uploaded. The
//! number of these files is limited over all versions of all providers. If a version has more such packages than the limit, the others are
//! downloaded twice.

use std::pin::pin;
use std::sync::Arc;

use futures_util::{StreamExt as _, TryStreamExt as _};

use super::error::Error;
use super::location::RemoteMetadata;
use super::source_package::{PackageBytes, SourcePackage};
use crate::archive::{self, Archive, Limits};
use crate::digest::{Digest, Hasher};
use crate::disk::temp_file::{Permit, TempFile, TempFileWriter};
use crate::error::{FEW, listed, printable};
use crate::hash::PackageHash;
use crate::http::{Retry, Shown, Transient};
use crate::jobs;
use crate::release::{Expected, Release};
use crate::trust::Verified;

/// The most packages of one version that are requested at once. Most versions have more packages, and higher numbers would only wait for
/// the limits of the HTTP client.
const CONCURRENT_PACKAGES: usize = 8;

/// Finds out the sizes that the source does not tell, before verified packages are transferred.
///
/// # Errors
/// A package does not exist, or cannot be requested.
pub async fn complete(
    release: Verified<Release<SourcePackage>>,
) -> Result<Verified<Release<SourcePackage>>, Error> {
    let remote = release
        .packages
        .iter()
        .filter_map(|one| one.location.metadata());
    let mut found = resolve(remote.cloned().collect()).await?.into_iter();
    let packages = release.packages.iter().filter_map(|one| {
        let package = match one.location.metadata() {
            Some(_) => found.next()?,
            None => one.location.clone(),
        };
        let size = package.expected.size;
        Some((package, size))
    });
    let packages: Vec<_> = packages.collect();
    Ok(release.located(packages))
}

/// Finds out the sizes and digests of packages at URLs.
pub(super) async fn resolve(
    all_metadata: Vec<RemoteMetadata>,
) -> Result<Vec<SourcePackage>, Error> {
    let all_metadata = sized(all_metadata).await?;
    let is_too_large = |one: &&RemoteMetadata| one.size.is_some_and(|size| size > one.largest());
    if let Some(refused) = all_metadata.iter().find(is_too_large) {
        return Err(refused.too_large());
    }
    let unknown = |metadata: &&RemoteMetadata| metadata.digest.is_none() || metadata.size.is_none();
    let mut left = all_metadata.iter().filter(unknown).count();
    let Some(first) = all_metadata.iter().find(unknown) else {
        return Ok(all_metadata
            .iter()
            .filter_map(RemoteMetadata::remote)
            .collect());
    };
    let temp_files = &first.access.temp_files;
    let permit = Arc::new(temp_files.acquire(left).await);
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

/// Asks for the sizes that the source does not provide.
async fn sized(all_metadata: Vec<RemoteMetadata>) -> Result<Vec<RemoteMetadata>, Error> {
    let asked = all_metadata.into_iter().map(async |mut metadata| {
        // If the digest is unknown, the package is downloaded anyway.
        if metadata.digest.is_some() && metadata.size.is_none() {
            metadata.size = metadata.ask_size().await?;
        }
        Ok(metadata)
    });
    let asked: Vec<_> = asked.collect();
    let asked = futures_util::stream::iter(asked).buffered(CONCURRENT_PACKAGES);
    asked.try_collect().await
}

impl RemoteMetadata {
    /// The package, if its size and digest are known.
    fn remote(&self) -> Option<SourcePackage> {
        let (digest, size) = (self.digest?, self.size?);
        Some(SourcePackage::remote(
            self.clone(),
            Expected { digest, size },
        ))
    }

    /// Downloads the package if its size or digest is still unknown. If the file is not kept, the upload downloads the package again.
    async fn into_remote(self, permit: Arc<Permit>, keeps: bool) -> Result<SourcePackage, Error> {
        if let Some(package) = self.remote() {
            return Ok(package);
        }
        let (file, found) = self.download().await?;
        if self.digest.is_none() {
            self.check(&file, &found.digest, &permit).await?;
        }
        // If the source provides a digest, it is used here. A package that differs from it is refused when it is published.
        let digest = self.digest.unwrap_or(found.digest);
        let expected = Expected { digest, ..found };
        if !keeps {
            let metadata = Self {
                digest: Some(digest),
                size: Some(expected.size),
                ..self
            };
            return Ok(SourcePackage::remote(metadata, expected));
        }
        let _permit = permit;
        Ok(SourcePackage {
            bytes: PackageBytes::TempFile { file, _permit },
            expected,
        })
    }

    /// Downloads the package into a temporary file. After a lost connection it begins anew: nothing tells whether the rest would belong to the
    /// same package.
    async fn download(&self) -> Result<(TempFile, Expected), Error> {
        let mut retry = Retry::new(self.access.request_limits.packages);
        loop {
            let error = match self.attempt().await {
                Err(error) if error.is_transient() => error,
                ended => return ended,
            };
            let failure = Transient::because(error.summary());
            if !retry
                .wait(&self.access.http, self.url.clone(), failure)
                .await
            {
                return Err(error);
            }
        }
    }

    async fn attempt(&self) -> Result<(TempFile, Expected), Error> {
        let (mut file, mut hasher, mut size) = (TempFileWriter::new()?, Hasher::new(), 0);
        let mut answer = self.ask(0).await?;
        if answer.content_length() > Some(self.largest()) {
            return Err(self.too_large());
        }
        let mut chunks = pin!(answer.chunks());
        while let Some(chunk) = chunks.try_next().await? {
            size += chunk.len() as u64;
            if size > self.largest() {
                return Err(self.too_large());
            }
            hasher.update(&chunk);
            file.write(&chunk)?;
        }
        let digest = hasher.finish();
        Ok((file.finish(), Expected { digest, size }))
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
        if hashes.is_empty() || hashes.contains(&zh) {
            return Ok(());
        }
        let h1 = h1(file, permit).await.map_err(|source| Error::Archive {
            platform: self.platform.clone(),
            place: Shown::from(self.url.clone()).to_string(),
            source,
        })?;
        if hashes.contains(&h1) {
            return Ok(());
        }
        let expected = printable(&listed(hashes, FEW));
        let received = listed(&[zh, h1], FEW);
        let (what, url) = (self.what(), self.url.clone().into());
        Err(Error::contradiction(
            &what, &url, "hash", expected, &received,
        ))
    }
}

/// Computes the `h1` of a zip on a separate thread.
async fn h1(file: &TempFile, permit: &Arc<Permit>) -> Result<PackageHash, archive::Error> {
    let (reader, permit) = (file.reader(0), Arc::clone(permit));
    let hashing = jobs::in_thread(move || {
        // Hold the permit while the file is open.
        let _permit = permit;
        Archive::open(reader, &Limits::default())?.hashes()
    });
    Ok(hashing.await?.zip)
}
