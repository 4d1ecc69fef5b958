//! Packages whose size or digest the source does not say.
//!
//! The size of a package is in the answer that brings it: the request is sent when the size has to be known, and the upload reads the
//! answer ([`super::opened`]). A version with more such packages than answers may be open at once asks for the size of the others by a
//! request of its own.
//!
//! A package whose digest is unknown, or whose server announces no length, is downloaded into a temporary file until the store takes
//! it. The number of these files has a limit, over all versions of all providers; a version that has more such packages than there is
//! room for downloads the others twice.

use std::pin::pin;
use std::sync::Arc;

use futures_util::{StreamExt as _, TryStreamExt as _};
use reqwest::StatusCode;
use reqwest::header::ETAG;
use tokio::sync::OwnedSemaphorePermit;

use super::error::Error;
use super::location::PackageLocation;
use super::opened::Opened;
use super::remote::{PackageBytes, RemotePackage};
use crate::archive::{self, Archive, Limits};
use crate::blob::MOST_RESUMPTIONS;
use crate::digest::{Algorithm, Digest, Hasher};
use crate::disk::temp_file::{Permit, TempFile, TempFileWriter};
use crate::hash::PackageHash;
use crate::http::{self, Answer, LEAST_FLOW, Retry, Transient};
use crate::release::Expected;

/// The largest package that is fetched to learn what it is, in bytes: as much as a provider may have unpacked.
const LARGEST: u64 = 8 << 30;
/// How many packages of one version are asked about, or fetched, at once.
const ABREAST: usize = 8;

/// What a source says about a package.
#[derive(Clone, Debug)]
pub struct PackageMeta {
    pub(super) location: PackageLocation,
    /// Its digest, if the source says it.
    pub(super) digest: Option<Digest>,
    /// Its size in bytes, if the source says it.
    pub(super) size: Option<u64>,
    /// If the digest is unknown: the package must match one of these, unless there are none.
    pub(super) hashes: Vec<PackageHash>,
    /// The answer that told the size, not read yet.
    pub(super) opened: Option<Opened>,
}

/// Finds out what the source does not say about the packages of a version.
pub(super) async fn resolve(metas: Vec<PackageMeta>) -> Result<Vec<RemotePackage>, Error> {
    let metas = with_sizes(metas).await?;
    let unknown = |meta: &&PackageMeta| meta.known().is_none();
    let mut left = metas.iter().filter(unknown).count();
    let Some(first) = metas.iter().find(unknown) else {
        return Ok(metas.iter().filter_map(PackageMeta::remote).collect());
    };
    let permit = Arc::new(first.location.access.temp_files.acquire(left).await);
    let abreast = ABREAST.min(permit.files());
    let found = metas.into_iter().map(|meta| {
        // The last of them keep their files. Results come in order: the downloads under way, and those that wait for an earlier one,
        // are never more than there is room for; a file is kept only after all downloads that do not keep theirs.
        let keeps = left <= permit.files();
        left -= usize::from(unknown(&&meta));
        meta.into_remote(Arc::clone(&permit), keeps)
    });
    futures_util::stream::iter(found)
        .buffered(abreast)
        .try_collect()
        .await
}

/// Asks for sizes that the source does not say.
async fn with_sizes(metas: Vec<PackageMeta>) -> Result<Vec<PackageMeta>, Error> {
    let count = metas.iter().filter(|meta| meta.lacks_size()).count();
    let mut permits = match metas.iter().find(|meta| meta.lacks_size()) {
        Some(first) => {
            let answers = &first.location.access.open_answers;
            answers.permits(count).await.into_iter()
        }
        None => return Ok(metas),
    };
    let asked = metas.into_iter().map(|meta| {
        let permit = match meta.lacks_size() {
            true => permits.next(),
            false => None,
        };
        meta.with_size(permit)
    });
    let asked = futures_util::stream::iter(asked).buffered(ABREAST);
    asked.try_collect().await
}

impl PackageMeta {
    /// Whether its size has to be asked for. It would not help where the digest is unknown too.
    fn lacks_size(&self) -> bool {
        self.digest.is_some() && self.size.is_none()
    }

    /// Asks for the size if the source does not say it: with a permit by opening the answer that the upload will read.
    async fn with_size(mut self, permit: Option<OwnedSemaphorePermit>) -> Result<Self, Error> {
        if !self.lacks_size() {
            return Ok(self);
        }
        match permit {
            Some(permit) => {
                let answer = self.location.ask(0, None).await?;
                self.size = answer.content_length();
                self.opened = Some(Opened::new(answer, permit));
            }
            None => self.size = self.location.size().await?,
        }
        Ok(self)
    }

    fn known(&self) -> Option<Expected> {
        let (digest, size) = (self.digest?, self.size?);
        Some(Expected { digest, size })
    }

    fn remote(&self) -> Option<RemotePackage> {
        self.known().map(|expected| RemotePackage {
            bytes: PackageBytes::Remote {
                location: Box::new(self.location.clone()),
                opened: self.opened.clone(),
            },
            expected,
        })
    }

    /// The package, downloaded if its size or digest is still unknown. If the file cannot be kept, the upload downloads it again.
    async fn into_remote(self, permit: Arc<Permit>, keeps: bool) -> Result<RemotePackage, Error> {
        if let Some(package) = self.remote() {
            return Ok(package);
        }
        let (file, found) = Fetching::new(&self)?.run().await?;
        if self.digest.is_none() {
            self.check(&file, &found.digest, &permit).await?;
        }
        // A digest that differs from the promised one is reported when the package is published.
        let digest = self.digest.unwrap_or(found.digest);
        Ok(RemotePackage {
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

    /// Compares the downloaded package with the hashes.
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

/// Computes the `h1` of a zip on a thread of its own, and stops when the result is not needed any more.
async fn h1(file: &TempFile, permit: &Arc<Permit>) -> Result<PackageHash, archive::Error> {
    let (reader, permit) = (file.reader(0), Arc::clone(permit));
    let wanted = Arc::new(());
    let is_wanted = Arc::downgrade(&wanted);
    let inflating = tokio::task::spawn_blocking(move || {
        // The permit lasts as long as the file is open.
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
    inflated.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
}

fn list(hashes: &[PackageHash]) -> String {
    let texts: Vec<String> = hashes.iter().map(PackageHash::to_string).collect();
    texts.join(", ")
}

/// A package that is downloaded into a temporary file.
struct Fetching<'a> {
    meta: &'a PackageMeta,
    file: TempFileWriter,
    hasher: Hasher,
    size: u64,
    /// The strong `ETag` of what was received so far.
    tag: Option<String>,
}

impl<'a> Fetching<'a> {
    fn new(meta: &'a PackageMeta) -> Result<Self, Error> {
        Ok(Self {
            meta,
            file: TempFileWriter::new()?,
            hasher: Hasher::new(Algorithm::Sha256),
            size: 0,
            tag: None,
        })
    }

    /// Downloads the package, and resumes where the network cuts it.
    async fn run(mut self) -> Result<(TempFile, Expected), Error> {
        let PackageLocation { access, url, .. } = &self.meta.location;
        let mut retry = Retry::new(access.patience.packages);
        let (mut furthest, mut resumptions) = (0, 0);
        while let Err(error) = self.attempt().await {
            if self.size >= furthest + LEAST_FLOW {
                furthest = self.size;
                retry.progressed();
            }
            resumptions += 1;
            let is_worth_it = error.is_passing() && resumptions <= MOST_RESUMPTIONS;
            let failure = Transient::because(error.in_short());
            if !is_worth_it || !retry.wait(&access.http, url, failure).await {
                return Err(error);
            }
        }
        let (digest, size) = (self.hasher.finish(), self.size);
        Ok((self.file.finish(), Expected { digest, size }))
    }

    /// Downloads what is missing.
    async fn attempt(&mut self) -> Result<(), Error> {
        // Without a tag or a digest, nobody would notice that the rest belongs to another package.
        if self.tag.is_none() && self.meta.digest.is_none() {
            self.start_over()?;
        }
        let PackageMeta {
            location, opened, ..
        } = self.meta;
        let opened = match opened {
            Some(opened) => opened.take(&location.access.http).await,
            None => None,
        };
        let answer = match opened {
            Some(answer) => answer,
            None => location.ask(self.size, self.tag.as_deref()).await?,
        };
        if answer.status() != StatusCode::PARTIAL_CONTENT {
            self.start_over()?;
        }
        if self.announced(&answer).is_some_and(|size| size > LARGEST) {
            return Err(self.too_large());
        }
        self.tag = answer.header(ETAG).filter(|tag| !tag.starts_with("W/"));
        let mut chunks = pin!(answer.chunks());
        while let Some(chunk) = chunks.try_next().await? {
            self.size += chunk.len() as u64;
            if self.size > LARGEST {
                return Err(self.too_large());
            }
            self.hasher.update(&chunk);
            self.file.write(&chunk)?;
        }
        Ok(())
    }

    fn start_over(&mut self) -> Result<(), Error> {
        if self.size > 0 {
            self.file.clear()?;
            self.hasher = Hasher::new(Algorithm::Sha256);
            self.size = 0;
        }
        Ok(())
    }

    /// The announced size of the whole package.
    fn announced(&self, answer: &Answer) -> Option<u64> {
        let rest = answer.content_length()?;
        self.size.checked_add(rest)
    }

    fn too_large(&self) -> Error {
        Error::Http(http::Error::Large {
            url: self.meta.location.url.clone().into(),
            limit: LARGEST,
        })
    }
}
