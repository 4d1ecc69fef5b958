//! Packages whose size or digest is not in the metadata of the source.
//!
//! If only the size is unknown, tfoci asks for the first byte of the package: the answer tells the size of the whole.
//!
//! A package whose digest is unknown, or whose server does not tell its size, is downloaded once to find that out, and again when it is copied.

use std::pin::pin;

use futures_util::{StreamExt as _, TryStreamExt as _};
use tokio::sync::Semaphore;

use super::error::Error;
use super::location::RemoteMetadata;
use super::source_package::SourcePackage;
use crate::archive::{Archive, Limits};
use crate::digest::{Digest, Hasher};
use crate::disk::temp_file::TempFile;
use crate::error::{FEW, listed, printable};
use crate::hash::PackageHash;
use crate::http::{Retry, Shown, Transient};
use crate::jobs;
use crate::release::{Expected, Release};
use crate::trust::Verified;

/// The most packages of one version that are requested at once. Most versions have more packages, and higher numbers would only wait for
/// the limits of the HTTP client.
const CONCURRENT_PACKAGES: usize = 8;

/// The most packages that are in temporary files at once: a disk may be small, and each may have gigabytes. The holder of a permit waits only for its
/// download.
static TEMP_FILES: Semaphore = Semaphore::const_new(4);

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
    let asked = all_metadata.into_iter().map(RemoteMetadata::resolved);
    let asked: Vec<_> = asked.collect();
    let asked = futures_util::stream::iter(asked).buffered(CONCURRENT_PACKAGES);
    asked.try_collect().await
}

impl RemoteMetadata {
    /// The package with its size and digest.
    async fn resolved(mut self) -> Result<SourcePackage, Error> {
        // If the digest is unknown, the package is downloaded anyway.
        if self.digest.is_some() && self.size.is_none() {
            self.size = self.ask_size().await?;
        }
        if self.size.is_some_and(|size| size > self.largest()) {
            return Err(self.too_large());
        }
        let expected = match (self.digest, self.size) {
            (Some(digest), Some(size)) => Expected { digest, size },
            _ => self.download().await?,
        };
        self.digest = Some(expected.digest);
        self.size = Some(expected.size);
        Ok(SourcePackage::remote(self, expected))
    }

    /// Downloads the package, and checks it against the hashes. After a lost connection it begins anew: nothing tells whether the rest would belong
    /// to the same package.
    async fn download(&self) -> Result<Expected, Error> {
        // The semaphore is never closed.
        let _permit = TEMP_FILES.acquire().await.ok();
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

    async fn attempt(&self) -> Result<Expected, Error> {
        let (mut file, mut hasher, mut size) = (TempFile::new()?, Hasher::new(), 0);
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
        let found = hasher.finish();
        if self.digest.is_none() {
            self.check(&file, &found).await?;
        }
        // If the source provides a digest, it is used here. A package that differs from it is refused when it is published.
        let digest = self.digest.unwrap_or(found);
        Ok(Expected { digest, size })
    }

    /// Checks the downloaded package against the hashes.
    async fn check(&self, file: &TempFile, digest: &Digest) -> Result<(), Error> {
        let zh = PackageHash::of_zip(digest);
        let hashes = &self.hashes;
        if hashes.is_empty() || hashes.contains(&zh) {
            return Ok(());
        }
        let zip = file.reader(0);
        let hashed =
            jobs::in_thread(move || Archive::open(zip, &Limits::default())?.hashes()).await;
        let h1 = hashed.map_err(|source| Error::Archive {
            platform: self.platform.clone(),
            place: Shown::from(self.url.clone()).to_string(),
            source,
        })?;
        let h1 = h1.zip;
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
