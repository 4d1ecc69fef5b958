//! Uploading a blob in one request.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Method, StatusCode};

use super::Error;
use super::auth::Scope;
use super::upload::{BYTES, Upload, UploadError, UploadSession, with_digest};
use crate::blob::{BlobSource, proven};
use crate::http::{Answer, Authorization, Payload, retry_after};
use crate::store::{Put, PutError};

impl<B: BlobSource> Upload<'_, B> {
    /// Sends all bytes in one request, which also completes the upload.
    pub(super) async fn put(&self, opened: UploadSession) -> Result<Put, UploadError> {
        let expected = self.blob.expected();
        // The body can be sent only once, so a token is fetched beforehand rather than after a 401.
        let secret = self.session.auth.secret(&opened.scope).await?;
        let body = proven(self.blob).await.map_err(PutError::Source)?;
        let read_error = Arc::new(Mutex::new(None));
        let cell = Arc::clone(&read_error);
        // Kept aside, since the HTTP client would only report that the body failed.
        let body = body.map_err(move |error| {
            let text = error.to_string();
            *cell.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            std::io::Error::other(text)
        });
        let request = self
            .session
            .request(Method::PUT, with_digest(opened.location, &expected.digest))
            .header(CONTENT_TYPE, BYTES)
            .authorization(secret.clone(), &self.session.base)
            .payload(Payload::Stream {
                body: body.boxed(),
                size: expected.size,
            });
        let sent = self.registry.http.send(request).await;
        if let Some(source) = read_error
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
        {
            return Err(PutError::Source(source).into());
        }
        let answer = match sent {
            Ok(answer) => answer,
            Err(error) if error.is_transient() => {
                return self.unanswered(Duration::ZERO, error.into()).await;
            }
            Err(error) => return Err(Error::from(error).into()),
        };
        self.outcome(answer, &opened.scope, secret.as_ref()).await
    }

    /// The outcome of a PUT with all bytes.
    async fn outcome(
        &self,
        answer: Answer,
        scope: &Scope,
        secret: Option<&Authorization>,
    ) -> Result<Put, UploadError> {
        let (status, retry_after) = (answer.status(), retry_after(&answer));
        if status.is_success() {
            return Ok(Put::Stored);
        }
        let renewed = status == StatusCode::UNAUTHORIZED
            && self.session.auth.learn(&answer, scope, secret).await?;
        let error = self.refusal(answer);
        match (status, retry_after) {
            (StatusCode::UNAUTHORIZED, _) if renewed => {
                Err(UploadError::retry(Duration::ZERO, error))
            }
            // The registry has forgotten the upload session.
            (StatusCode::NOT_FOUND, _) => Err(UploadError::retry(Duration::ZERO, error)),
            // A proxy limits the size of requests, or refuses this form of them.
            (StatusCode::PAYLOAD_TOO_LARGE | StatusCode::LENGTH_REQUIRED, _) => {
                Err(UploadError::ModeRefused(error))
            }
            // Throttled: the registry has stored nothing, and chunks would only be more requests.
            (
                StatusCode::TOO_MANY_REQUESTS
                | StatusCode::FORBIDDEN
                | StatusCode::SERVICE_UNAVAILABLE,
                Some(retry_after),
            ) => Err(UploadError::retry(retry_after, error)),
            (_, Some(retry_after)) => self.unanswered(retry_after, error).await,
            (_, None) => Err(error.into()),
        }
    }
}
