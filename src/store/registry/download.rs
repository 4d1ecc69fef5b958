//! Blobs of a registry, which can be read from any byte.

use reqwest::header::RANGE;
use reqwest::{Method, StatusCode};

use super::auth::Scope;
use super::{Error, Registry};
use crate::blob::{self, BlobSource, Body, Kept};
use crate::event::Event;
use crate::http::{Answer, SMALL};
use crate::oci::{LARGEST_READ, Part, Repository};
use crate::release::Expected;

/// A blob of a registry.
#[derive(Clone)]
pub struct RegistryBlob {
    pub(super) registry: Registry,
    pub(super) repository: Repository,
    pub(super) expected: Expected,
}

impl BlobSource for RegistryBlob {
    fn expected(&self) -> Expected {
        self.expected
    }

    fn can_be_cut(&self) -> bool {
        true
    }

    fn kept(&self) -> Option<Kept<'_>> {
        Some(Kept::InRegistry(&self.repository))
    }

    async fn open(&self, from: u64) -> Result<Body, blob::Error> {
        let answer = self.ask(from).await.map_err(|error| match error {
            Error::Missing { .. } => blob::Error::Missing,
            Error::Http(error) => blob::Error::Http(error),
            error => blob::Error::NotGiven {
                category: error.category(),
                source: Box::new(error),
            },
        })?;
        Ok(blob::received(answer, from))
    }
}

impl RegistryBlob {
    async fn ask(&self, from: u64) -> Result<Answer, Error> {
        let (host, name) = self.registry.locate(&self.repository).await?;
        let url = host.url(name, &format!("blobs/{}", self.expected.digest))?;
        if from > 0 {
            let url = url.clone().into();
            self.registry.http.report(Event::Resuming { url, from });
        }
        let request = || {
            let request = host.request(Method::GET, url.clone());
            // What is small is read at once: nothing holds a place for it while it is looked at.
            let request = match self.expected.size {
                0..=SMALL => request.whole(LARGEST_READ),
                _ => request.flowing(),
            };
            if from > 0 {
                request.header(RANGE, &format!("bytes={from}-"))
            } else {
                request
            }
        };
        let answer = self
            .registry
            .send(&host, &Scope::pull(name), request)
            .await?;
        let elsewhere = answer.status() == StatusCode::PARTIAL_CONTENT
            && answer.range().map(|range| range.start) != Some(from);
        if from > 0 && (elsewhere || answer.status() == StatusCode::RANGE_NOT_SATISFIABLE) {
            // Not the bytes that were asked for: all of them, then, and not while this answer holds a place.
            drop(answer);
            return Box::pin(self.ask(0)).await;
        }
        match answer.status() {
            StatusCode::NOT_FOUND => Err(Error::Missing {
                what: Part::Blob,
                digest: self.expected.digest,
            }),
            status if status.is_success() => Ok(answer),
            _ => Err(self.registry.refusal(&host, "blob", answer).await),
        }
    }
}
