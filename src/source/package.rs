//! Packages of which not everything is known: what is missing is asked for, or the package is fetched to find out.
//!
//! Those that are fetched wait in temporary files until the store takes them. How many there are at once has a limit, over all
//! versions of all providers; a version that has more of them is fetched twice where there is no room for all.

use std::pin::pin;
use std::sync::Arc;

use futures_util::{StreamExt as _, TryStreamExt as _};
use reqwest::StatusCode;
use reqwest::header::ETAG;

use super::error::Error;
use super::location::PackageLocation;
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

/// What is known of a package before anybody has asked where it lies.
#[derive(Clone, Debug)]
pub struct PackageMeta {
    pub(super) location: PackageLocation,
    /// What it is, where somebody says that.
    pub(super) digest: Option<Digest>,
    /// Its size in bytes, where somebody says that.
    pub(super) size: Option<u64>,
    /// Where nobody says what it is: it must match one of these, if there are any.
    pub(super) hashes: Vec<PackageHash>,
}

/// Finds out about the packages of a version.
pub(super) async fn follow(metas: Vec<PackageMeta>) -> Result<Vec<RemotePackage>, Error> {
    let asked = metas.into_iter().map(PackageMeta::sized);
    let asked = futures_util::stream::iter(asked).buffered(ABREAST);
    let metas: Vec<PackageMeta> = asked.try_collect().await?;
    let unknown = |meta: &&PackageMeta| meta.known().is_none();
    let mut left = metas.iter().filter(unknown).count();
    let Some(first) = metas.iter().find(unknown) else {
        return Ok(metas.iter().filter_map(PackageMeta::remote).collect());
    };
    let permit = Arc::new(first.location.access.temp_files.acquire(left).await);
    let abreast = ABREAST.min(permit.files());
    let found = metas.into_iter().map(|meta| {
        // The last of them keep their files. Results come in order: what is under way, or waits for an earlier one, is never more
        // than there is room for, and what has come keeps a file only when all that gave theirs up are done.
        let keeps = left <= permit.files();
        left -= usize::from(unknown(&&meta));
        meta.resolve(Arc::clone(&permit), keeps)
    });
    futures_util::stream::iter(found)
        .buffered(abreast)
        .try_collect()
        .await
}

impl PackageMeta {
    /// Asks for a size that nobody has said. Where nobody says what the package is, that would not help.
    async fn sized(mut self) -> Result<Self, Error> {
        if self.digest.is_some() && self.size.is_none() {
            self.size = self.location.size().await?;
        }
        Ok(self)
    }

    fn known(&self) -> Option<Expected> {
        let (digest, size) = (self.digest?, self.size?);
        Some(Expected { digest, size })
    }

    fn remote(&self) -> Option<RemotePackage> {
        self.known().map(|expected| RemotePackage {
            bytes: PackageBytes::Remote(Box::new(self.location.clone())),
            expected,
        })
    }

    /// The package, fetched if that is needed to know it. Who may not keep the file fetches it again later.
    async fn resolve(self, permit: Arc<Permit>, keeps: bool) -> Result<RemotePackage, Error> {
        if let Some(package) = self.remote() {
            return Ok(package);
        }
        let (file, found) = Fetching::new(&self)?.run().await?;
        if self.digest.is_none() {
            self.check(&file, &found.digest, &permit).await?;
        }
        // What lies there is told from what was promised when it is published.
        let digest = self.digest.unwrap_or(found.digest);
        Ok(RemotePackage {
            expected: Expected { digest, ..found },
            bytes: match keeps {
                true => PackageBytes::TempFile {
                    file,
                    _permit: permit,
                },
                false => PackageBytes::Remote(Box::new(self.location)),
            },
        })
    }

    /// Holds what came to the hashes.
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

/// Inflates a zip where nobody else has to wait for it, and stops when nobody waits for the result.
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

/// A package on its way into a temporary file.
struct Fetching<'a> {
    meta: &'a PackageMeta,
    file: TempFileWriter,
    hasher: Hasher,
    size: u64,
    /// What tells this content of the URL from any other.
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

    /// Fetches it, again and again where that may help.
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

    /// Fetches what is missing.
    async fn attempt(&mut self) -> Result<(), Error> {
        // Of another package the rest would fit as well, and nobody would notice.
        if self.tag.is_none() && self.meta.digest.is_none() {
            self.start_over()?;
        }
        let answer = self
            .meta
            .location
            .ask(self.size, self.tag.as_deref())
            .await?;
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

    /// How long the whole will be, where the answer says that.
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
