//! Where packages lie, and asking there.

use std::pin::pin;
use std::sync::Arc;

use futures_util::TryStreamExt as _;
use reqwest::header::RANGE;
use reqwest::{Method, StatusCode};
use url::Url;

use super::error::{Document, Error};
use super::fetch::{self, Access, Kind};
use super::identity::Identity;
use super::renewal::{Renewal, is_expired};
use super::zip::{Location, Zip, list};
use crate::archive::{Archive, Limits};
use crate::digest::{Algorithm, Digest, Hasher};
use crate::disk::{self, spool::Spool};
use crate::event::Event;
use crate::hash::PackageHash;
use crate::http::{self, Answer, Request};
use crate::platform::Platform;
use crate::release::Expected;

/// The largest package of unknown length that is taken, in bytes: what a provider may have unpacked.
const LARGEST_UNKNOWN: u64 = 8 << 30;

/// A URL at which a package lies.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) access: Access,
    pub(super) url: Url,
    /// The host that the user named, by whose answers this URL was found.
    pub(super) named: Url,
    /// Whose package it is.
    pub(super) platform: Platform,
    /// What helps when the URL is good no more.
    pub(super) renewal: Option<Renewal>,
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
                location: Location::Remote(Box::new(self)),
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
        let identity = self.access.identity_at(&self.url);
        let all = || self.request(&self.url, &identity);
        let first = || all().header(RANGE, "bytes=0-0");
        let mut answer = self.access.send(Kind::Package, first).await?;
        if answer.status() == StatusCode::RANGE_NOT_SATISFIABLE {
            // What is empty has no first byte.
            answer = self.access.send(Kind::Package, all).await?;
        }
        if answer.status() == StatusCode::PARTIAL_CONTENT {
            return Ok(answer.range().and_then(|range| range.total));
        }
        let answer = fetch::successful(&self.what(), answer, &identity).await?;
        Ok(answer.content_length())
    }

    /// The package that lies here, fetched since its digest is not known. It must match one of the hashes, if there are any.
    pub(super) async fn spooled(self, hashes: &[PackageHash]) -> Result<Zip, Error> {
        let zip = self.spool().await?;
        let Location::Spooled(path) = &zip.location else {
            return Ok(zip);
        };
        let zh = PackageHash::of_zip(&zip.expected.digest);
        if hashes.is_empty() || zh.as_ref().is_some_and(|zh| hashes.contains(zh)) {
            return Ok(zip);
        }
        let unusable = |source| Error::Archive {
            what: self.what(),
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
            what: self.what(),
            field: "hash",
            url: self.url.into(),
            expected: list(hashes),
            received: list(&Vec::from_iter(zh.into_iter().chain([computed.zip]))),
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

    pub(super) fn what(&self) -> Document {
        Document::Package(self.platform.clone())
    }

    fn request(&self, url: &Url, identity: &Identity) -> Request {
        Request::new(Method::GET, url.clone(), &self.named).secret(identity.secret.clone(), url)
    }

    /// Asks for all from an offset on, where the package is by now.
    pub(super) async fn ask(&self, from: u64) -> Result<Answer, Error> {
        let mut url = self.url.clone();
        if let Some(renewal) = &self.renewal {
            url = renewal.latest().unwrap_or(url);
        }
        if from > 0 {
            let url = url.clone().into();
            self.access.http.report(Event::Resuming { url, from });
        }
        loop {
            let identity = self.access.identity_at(&url);
            let answer = self.ask_at(&url, &identity, from).await?;
            if is_expired(answer.status())
                && let Some(renewal) = &self.renewal
                && let Some(other) = renewal.after(&url).await?
            {
                url = other;
                continue;
            }
            if answer.status() == StatusCode::PARTIAL_CONTENT {
                return Ok(answer);
            }
            return fetch::successful(&self.what(), answer, &identity).await;
        }
    }

    async fn ask_at(&self, url: &Url, identity: &Identity, from: u64) -> Result<Answer, Error> {
        let all = || self.request(url, identity).flowing();
        let request = || match from {
            0 => all(),
            _ => all().header(RANGE, &format!("bytes={from}-")),
        };
        let answer = self.access.send(Kind::Package, request).await?;
        let is_rest = answer.range().is_some_and(|range| range.start == from);
        match answer.status() {
            // Not the bytes that were asked for: all of them, then.
            StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE
                if from > 0 && !is_rest =>
            {
                // Not while this answer holds a place.
                drop(answer);
                self.access.send(Kind::Package, all).await
            }
            _ => Ok(answer),
        }
    }
}
