//! Packages as sources have them.

use std::pin::pin;
use std::sync::Arc;

use futures_util::TryStreamExt as _;
use reqwest::header::RANGE;
use reqwest::{Method, StatusCode};
use tempfile::TempPath;
use url::Url;

use super::error::{Document, Error};
use super::fetch;
use crate::archive::{Archive, Limits};
use crate::blob::{self, BlobSource, Body, skipping};
use crate::digest::{Algorithm, Digest, Hasher};
use crate::disk::{self, spool::Spool};
use crate::hash::PackageHash;
use crate::http::{self, Answer, Http, Request};
use crate::release::Expected;

/// The largest package of unknown length that is taken, in bytes: what a provider may have unpacked.
const LARGEST_UNKNOWN: u64 = 8 << 30;

/// A package of a source.
#[derive(Clone, Debug)]
pub struct Zip {
    location: Location,
    expected: Expected,
}

#[derive(Clone, Debug)]
enum Location {
    Remote(Place),
    /// Its server does not say how long it is, so it was fetched beforehand.
    Spooled(Arc<TempPath>),
}

/// A URL at which a package lies.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) http: Http,
    pub(super) url: Url,
    /// The host that the user named, by whose answers this URL was found.
    pub(super) named: Url,
}

impl Place {
    /// The package that lies here. A size that nobody has said is asked for.
    pub(super) async fn zip(self, digest: Digest, size: Option<u64>) -> Result<Zip, Error> {
        let size = match size {
            Some(size) => Some(size),
            None => self.size().await?,
        };
        match size {
            Some(size) => Ok(Zip {
                location: Location::Remote(self),
                expected: Expected { digest, size },
            }),
            None => {
                let spooled = self.spool().await?;
                // What lies there is told from what was promised when it is published.
                let Expected { size, .. } = spooled.expected;
                Ok(Zip {
                    expected: Expected { digest, size },
                    ..spooled
                })
            }
        }
    }

    /// How many bytes lie there, by asking for the first one: a URL that is signed for `GET` refuses `HEAD`. `None` if the server
    /// does not say.
    async fn size(&self) -> Result<Option<u64>, Error> {
        let answer = fetch::send(&self.http, || self.request().header(RANGE, "bytes=0-0")).await?;
        if answer.status() == StatusCode::PARTIAL_CONTENT {
            return Ok(answer.range().and_then(|range| range.total));
        }
        let answer = fetch::successful(Document::Package, answer, None).await?;
        Ok(answer.content_length())
    }

    /// The package that lies here, fetched since its digest is not known. It must match one of the hashes, if there are any.
    pub(super) async fn spooled(self, hashes: &[PackageHash]) -> Result<Zip, Error> {
        let zip = self.spool().await?;
        let Location::Spooled(path) = &zip.location else {
            return Ok(zip);
        };
        if hashes.is_empty() {
            return Ok(zip);
        }
        let unusable = |source| Error::Archive {
            url: self.url.clone().into(),
            source,
        };
        let file = disk::open(path)?;
        let mut archive = Archive::open(file, &Limits::default()).map_err(unusable)?;
        let computed = archive.read(|_, _| Ok(())).map_err(unusable)?;
        if hashes.contains(&computed.zip) {
            return Ok(zip);
        }
        Err(Error::Contradiction {
            what: Document::Package,
            field: "hash",
            url: self.url.into(),
            expected: list(hashes),
            received: computed.zip.to_string(),
        })
    }

    /// Fetches the package into a temporary file, and so learns its size and digest.
    async fn spool(&self) -> Result<Zip, Error> {
        let answer = self.ask(0).await?;
        let mut file = Spool::new()?;
        let mut chunks = pin!(answer.chunks());
        let (mut hasher, mut size) = (Hasher::new(Algorithm::Sha256), 0);
        while let Some(chunk) = chunks.try_next().await? {
            hasher.update(&chunk);
            size += chunk.len() as u64;
            if size > LARGEST_UNKNOWN {
                return Err(Error::Http(http::Error::Large {
                    url: self.url.clone().into(),
                    limit: LARGEST_UNKNOWN,
                }));
            }
            file.write(&chunk)?;
        }
        Ok(Zip {
            location: Location::Spooled(Arc::new(file.into_path())),
            expected: Expected {
                digest: hasher.finish(),
                size,
            },
        })
    }

    fn request(&self) -> Request {
        Request::new(Method::GET, self.url.clone(), &self.named)
    }

    async fn ask(&self, from: u64) -> Result<Answer, Error> {
        let request = || match from {
            0 => self.request(),
            _ => self.request().header(RANGE, &format!("bytes={from}-")),
        };
        let answer = fetch::send(&self.http, request).await?;
        match answer.status() {
            StatusCode::PARTIAL_CONTENT
                if answer.range().is_some_and(|range| range.start == from) =>
            {
                Ok(answer)
            }
            // Not the bytes that were asked for: all of them, then.
            StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE if from > 0 => {
                Box::pin(self.ask(0)).await
            }
            _ => fetch::successful(Document::Package, answer, None).await,
        }
    }
}

fn list(hashes: &[PackageHash]) -> String {
    let texts: Vec<String> = hashes.iter().map(PackageHash::to_string).collect();
    texts.join(", ")
}

impl Zip {
    /// What the package must turn out to be.
    pub(super) fn promised(&self) -> Expected {
        self.expected
    }
}

impl BlobSource for Zip {
    fn expected(&self) -> Expected {
        self.expected
    }

    fn can_be_cut(&self) -> bool {
        matches!(self.location, Location::Remote(_))
    }

    async fn open(&self, from: u64) -> Result<Body, blob::Error> {
        let place = match &self.location {
            Location::Remote(place) => place,
            Location::Spooled(path) => {
                let file = blob::File {
                    path: path.to_path_buf(),
                    expected: self.expected,
                };
                return file.open(from).await;
            }
        };
        let answer = place.ask(from).await.map_err(|error| match error {
            Error::Http(error) => blob::Error::Http(error),
            error => blob::Error::NotGiven {
                category: error.category(),
                source: Box::new(error),
            },
        })?;
        // A server that ignores the range sends everything; what came before is skipped.
        let skip = match answer.status() {
            StatusCode::PARTIAL_CONTENT => 0,
            _ => from,
        };
        let body = Body::new(answer.chunks().map_err(blob::Error::Http));
        Ok(skipping(body, skip))
    }
}
