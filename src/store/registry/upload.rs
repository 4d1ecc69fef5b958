//! Uploading a blob: one POST, one PUT of known length.

use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, LOCATION};
use reqwest::{Method, StatusCode};
use url::Url;

use super::auth::Scope;
use super::{Error, Registry, Session, with_digest};
use crate::blob::{BlobSource, proven};
use crate::http::{Patience, Payload, pause, wish};
use crate::oci::Part;
use crate::store::Put;

/// How often a whole upload is begun again.
const ATTEMPTS: u32 = 4;

/// Uploads a blob that the repository does not have; `from` is another repository of the registry that has it.
pub(super) async fn put<B: BlobSource>(
    registry: &Registry,
    host: &Session,
    name: &str,
    blob: &B,
    from: Option<&str>,
) -> Result<Put, Error> {
    let mut attempt = 0;
    loop {
        let (wish, error) = match once(registry, host, name, blob, from).await? {
            Turn::Done(put) => return Ok(put),
            Turn::Again { wish, error } => (wish, error),
        };
        attempt += 1;
        if attempt >= ATTEMPTS || !pause(attempt, wish).await {
            return Err(*error);
        }
    }
}

/// What came of one upload.
enum Turn {
    Done(Put),
    /// It is worth beginning again: an upload cannot be continued by whoever lost it.
    Again {
        wish: Duration,
        error: Box<Error>,
    },
}

async fn once<B: BlobSource>(
    registry: &Registry,
    host: &Session,
    name: &str,
    blob: &B,
    from: Option<&str>,
) -> Result<Turn, Error> {
    let expected = blob.expected();
    let scope = from.map_or_else(
        || Scope::push(name),
        |from| Scope::push(name).and_pull(from),
    );
    let mut url = host.url(name, "blobs/uploads/")?;
    if let Some(from) = from {
        let digest = expected.digest.to_string();
        url.query_pairs_mut()
            .append_pair("mount", &digest)
            .append_pair("from", from);
    }
    let location = match begin(registry, host, &url, &scope).await {
        Ok(Some(location)) => location,
        Ok(None) => return Ok(Turn::Done(Put::Mounted)),
        // Who may not read the other repository may still write to this one.
        Err(Error::Unauthorized { .. }) if from.is_some() => {
            return Box::pin(once(registry, host, name, blob, None)).await;
        }
        Err(error) => return Err(error),
    };
    // The body cannot be sent twice: a refused token would need a new upload, so the token is fetched before.
    let secret = host.auth.secret(&scope).await?;
    let body = proven(blob)
        .await
        .map_err(|source| Error::reading(Part::Blob, expected.digest, source))?;
    let payload = Payload::Stream {
        body: reqwest::Body::wrap_stream(body),
        size: expected.size,
    };
    let request = host
        .request(Method::PUT, with_digest(location, &expected.digest))
        .header(CONTENT_TYPE, "application/octet-stream")
        .secret(secret.clone(), &host.base)
        .payload(payload);
    let again = |wish, error| {
        let error = Box::new(error);
        Ok(Turn::Again { wish, error })
    };
    let answer = match registry.http.send(request).await {
        Ok(answer) => answer,
        Err(error) if error.is_passing() => return again(Duration::ZERO, error.into()),
        Err(error) => return Err(error.into()),
    };
    let wish = wish(&answer, Patience::Repeatable);
    match answer.status() {
        status if status.is_success() => Ok(Turn::Done(Put::Stored)),
        StatusCode::UNAUTHORIZED if host.auth.learn(&answer, &scope, secret.as_ref()).await? => {
            again(
                Duration::ZERO,
                registry.refusal(host, "upload", answer).await,
            )
        }
        // The registry has forgotten the upload.
        StatusCode::NOT_FOUND => again(
            Duration::ZERO,
            registry.refusal(host, "upload", answer).await,
        ),
        _ => {
            let error = registry.refusal(host, "upload", answer).await;
            match wish {
                Some(wish) => again(wish, error),
                None => Err(error),
            }
        }
    }
}

/// Opens an upload, and tells where it goes on; `None` if the registry mounted the blob instead.
async fn begin(
    registry: &Registry,
    host: &Session,
    url: &Url,
    scope: &Scope,
) -> Result<Option<Url>, Error> {
    let request = || {
        host.request(Method::POST, url.clone())
            .payload(Payload::Bytes(bytes::Bytes::new()))
    };
    let answer = registry
        .send(host, scope, Patience::Repeatable, request)
        .await?;
    match answer.status() {
        StatusCode::CREATED if url.query().is_some() => return Ok(None),
        StatusCode::ACCEPTED => {}
        _ => return Err(registry.refusal(host, "upload", answer).await),
    }
    let location = answer.header(LOCATION).unwrap_or_default();
    let target = answer
        .url()
        .join(&location)
        .ok()
        .filter(|_| !location.is_empty());
    target.map(Some).ok_or_else(|| Error::NoLocation {
        url: url.clone().into(),
    })
}
