//! Uploading a blob: one POST, one PUT of known length.

use reqwest::header::{CONTENT_TYPE, LOCATION};
use reqwest::{Method, StatusCode};
use url::Url;

use super::auth::Scope;
use super::{Error, Host, Registry, with_digest};
use crate::blob::{BlobSource, hold_back};
use crate::http::{Patience, Payload};
use crate::oci::Part;
use crate::store::Put;

/// How often a whole upload is begun again.
const ATTEMPTS: u32 = 4;

/// Uploads a blob that the repository does not have.
pub(super) async fn put<B: BlobSource>(
    registry: &Registry,
    host: &Host,
    name: &str,
    blob: &B,
) -> Result<Put, Error> {
    let mut attempt = 1;
    loop {
        match once(registry, host, name, blob).await {
            Err(Error::Http(error)) if error.is_passing() && attempt < ATTEMPTS => attempt += 1,
            Err(Error::Registry {
                status: 500..=504, ..
            }) if attempt < ATTEMPTS => attempt += 1,
            done => return done.map(|()| Put::Stored),
        }
    }
}

async fn once<B: BlobSource>(
    registry: &Registry,
    host: &Host,
    name: &str,
    blob: &B,
) -> Result<(), Error> {
    let expected = blob.expected();
    let scope = Scope::push(name);
    let location = begin(registry, host, name, &scope).await?;
    let url = with_digest(location, &expected.digest);
    let unusable = |source| Error::reading(Part::Blob, expected.digest, source);
    // The body cannot be sent twice: a refused token would need a new upload, so the token is fetched before.
    let secret = host.auth.secret(&scope).await?;
    let body = hold_back(blob.open(0).await.map_err(unusable)?, expected);
    let payload = Payload::Stream {
        body: reqwest::Body::wrap_stream(body),
        size: expected.size,
    };
    let request = host
        .request(Method::PUT, url)
        .header(CONTENT_TYPE, "application/octet-stream")
        .secret(secret, &host.base)
        .payload(payload);
    let answer = registry.http.send(request).await?;
    if answer.status().is_success() {
        Ok(())
    } else {
        Err(registry.refusal(host, "upload", answer).await)
    }
}

async fn begin(registry: &Registry, host: &Host, name: &str, scope: &Scope) -> Result<Url, Error> {
    let url = host.url(name, "blobs/uploads/")?;
    let request = || {
        host.request(Method::POST, url.clone())
            .payload(Payload::Bytes(bytes::Bytes::new()))
    };
    let answer = registry
        .send(host, scope, Patience::Repeatable, request)
        .await?;
    if answer.status() != StatusCode::ACCEPTED {
        return Err(registry.refusal(host, "upload", answer).await);
    }
    let location = answer.header(LOCATION).unwrap_or_default();
    let target = answer
        .url()
        .join(&location)
        .ok()
        .filter(|_| !location.is_empty());
    target.ok_or_else(|| Error::NoLocation { url: url.into() })
}
