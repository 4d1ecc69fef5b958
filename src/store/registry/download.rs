//! Blobs of a registry, which can be read from any byte.

use futures_util::TryStreamExt as _;
use reqwest::header::{CONTENT_RANGE, RANGE};
use reqwest::{Method, StatusCode};

use super::auth::Scope;
use super::{Error, Registry};
use crate::blob::{self, BlobSource, Body, Kept};
use crate::http::Answer;
use crate::oci::{Part, Repository};
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
        // A server that ignores the range sends everything; what came before is skipped.
        let skip = if answer.status() == StatusCode::PARTIAL_CONTENT {
            0
        } else {
            from
        };
        Ok(blob::skipping(
            Body::new(answer.chunks().map_err(blob::Error::Http)),
            skip,
        ))
    }
}

impl RegistryBlob {
    async fn ask(&self, from: u64) -> Result<Answer, Error> {
        let (host, name) = self.registry.locate(&self.repository).await?;
        let url = host.url(name, &format!("blobs/{}", self.expected.digest))?;
        let request = || {
            let request = host.request(Method::GET, url.clone());
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
        let elsewhere =
            answer.status() == StatusCode::PARTIAL_CONTENT && begins_at(&answer) != Some(from);
        if from > 0 && (elsewhere || answer.status() == StatusCode::RANGE_NOT_SATISFIABLE) {
            // Not the bytes that were asked for: all of them, then.
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

/// Where the bytes of a partial answer begin.
fn begins_at(answer: &Answer) -> Option<u64> {
    let range = answer.header(CONTENT_RANGE)?;
    range
        .trim()
        .strip_prefix("bytes")?
        .trim()
        .split('-')
        .next()?
        .parse()
        .ok()
}
