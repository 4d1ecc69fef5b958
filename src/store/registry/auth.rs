//! Authentication to one registry: challenges, and tokens for scopes.
//!
//! The first request goes out without credentials, and the challenge in its answer names the scheme. From then on a token is
//! fetched before the first request of each scope, once for all tasks that wait for it, and renewed shortly before it expires.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use reqwest::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use reqwest::{Method, StatusCode};
use url::Url;
use zeroize::Zeroizing;

use super::headers::{self, AuthScheme};
use super::scope::{Scope, Token};
use super::session::Session;
use super::{Error, answer};
use crate::credentials::Credential;
use crate::http::{Answer, Authorization, Payload, Request, Retry, authority};
use crate::jobs::locked;
use crate::json::{self, Object};
use crate::secret::Secret;
use crate::store::Breach;

/// The largest answer of a token server in bytes ([clients: authentication flow](crate::clients#authentication-flow)).
const LARGEST_TOKEN: u64 = 128 << 10;
/// The length of the rest of a form that asks for a token: two repositories and the name of a service.
const LARGEST_FORM: usize = 4 << 10;
/// The lifetime of a token in seconds if its server does not name one, as the token specification of the registry protocol defines it.
const DEFAULT_LIFE: u64 = 60;
/// How long before its end a token is renewed, so that it does not expire during a request.
const MARGIN: Duration = Duration::from_secs(10);

impl Session {
    pub(super) fn credential(&self) -> Option<Arc<Credential>> {
        locked(&self.credential).clone()
    }

    fn basic(&self) -> Option<Authorization> {
        self.credential()?.basic()
    }

    /// Uses this credential from now on.
    pub(super) async fn renew(&self, found: Arc<Credential>) {
        *locked(&self.credential) = Some(found);
        self.tokens.lock().await.clear();
    }

    /// The secret for a scope; `None` before the first challenge, and where there is no credential.
    pub(super) async fn secret(&self, scope: &Scope) -> Result<Option<Authorization>, Error> {
        let scheme = locked(&self.host.scheme).clone();
        match scheme {
            None => Ok(None),
            Some(AuthScheme::Basic) => Ok(self.basic()),
            Some(AuthScheme::Bearer { realm, service }) => {
                Ok(Some(self.token(scope, &realm, service.as_deref()).await?))
            }
        }
    }

    /// Whether the registry has sent a challenge.
    pub(super) fn was_challenged(&self) -> bool {
        locked(&self.host.scheme).is_some()
    }

    /// Whether an answer came from the registry's own scheme, host and port. Only the challenge in such an answer counts: a
    /// redirect, or the `Location` of an upload, can lead to a host that asks for the password itself.
    pub(super) fn is_own(&self, answer: &Url) -> bool {
        answer.origin() == self.base.origin()
    }

    /// Whether the registry wants a token of its token server.
    pub(super) fn has_tokens(&self) -> bool {
        matches!(*locked(&self.host.scheme), Some(AuthScheme::Bearer { .. }))
    }

    /// Reads the challenge of an answer. `false` if sending the request again would not help.
    pub(super) async fn learn(
        &self,
        answer: &Answer,
        scope: &Scope,
        used: Option<&Authorization>,
    ) -> Result<bool, Error> {
        if !self.is_own(answer.url()) || answer.is_elsewhere() {
            return Ok(false);
        }
        let challenges = answer.headers(WWW_AUTHENTICATE);
        let wanted = headers::scheme(challenges.iter().map(String::as_str), &self.base);
        let wanted = wanted.map_err(|unusable| Error::Protocol {
            breach: Breach::Realm,
            expected: "a token server with an https URL without a user name".to_owned(),
            received: match unusable.0 {
                Some(realm) => answer.shown_reference(&realm).to_string(),
                None => "none".to_owned(),
            },
            url: answer.shown(),
        })?;
        locked(&self.host.scheme).clone_from(&wanted);
        match wanted {
            None => Ok(false),
            // Concurrent requests without credentials may all get a challenge; each of them is sent again.
            Some(AuthScheme::Basic) => {
                let basic = self.basic();
                Ok(basic.is_some() && basic.as_ref() != used)
            }
            Some(AuthScheme::Bearer { .. }) => {
                // A token may be revoked before it expires. If the map has another one, another task has renewed it.
                let is_used =
                    |of: &Scope, token: &Token| of == scope && Some(&token.secret) == used;
                let mut tokens = self.tokens.lock().await;
                tokens.retain(|scope, token| !is_used(scope, token));
                Ok(true)
            }
        }
    }

    async fn token(
        &self,
        scope: &Scope,
        realm: &Url,
        service: Option<&str>,
    ) -> Result<Authorization, Error> {
        if let Some(access) = self.credential().and_then(|one| one.bearer()) {
            return Ok(access);
        }
        // Locked while fetching, so that tasks that wait for the same token share it.
        let mut tokens = self.tokens.lock().await;
        let known = tokens.get(scope);
        if let Some(token) = known.filter(|token| token.until > Instant::now()) {
            return Ok(token.secret.clone());
        }
        let request = || self.token_request(scope, realm, service);
        let answer = self.http.retrying(Retry::default(), request).await?;
        let (status, url) = (answer.status(), answer.url().clone());
        let refused = |text| self.refused(&url, status, text);
        if !status.is_success() {
            return Err(refused(answer::text(&answer)));
        }
        let refused = || refused(String::new());
        let body = Zeroizing::new(answer.into_body());
        let (text, life) = token_and_life(&body).map_err(|_| refused())?;
        let text = text.filter(|text| !text.is_empty()).ok_or_else(refused)?;
        let life = Duration::from_secs(life.unwrap_or(DEFAULT_LIFE).min(24 * 3600));
        let secret = Authorization::bearer(&text);
        let until = Instant::now() + life.saturating_sub(MARGIN).max(life / 2);
        let token = Token {
            secret: secret.clone(),
            until,
        };
        tokens.insert(scope.clone(), token);
        Ok(secret)
    }

    fn token_request(&self, scope: &Scope, realm: &Url, service: Option<&str>) -> Request {
        let credential = self.credential();
        let credential = credential.as_deref();
        if let Some(token) = credential.and_then(Credential::identity_token) {
            // Escaped, the token is at most three times as long. A form that grew would leave copies of it behind.
            let size = 3 * token.reveal().len() + LARGEST_FORM;
            let mut form = url::form_urlencoded::Serializer::new(String::with_capacity(size));
            form.append_pair("grant_type", "refresh_token")
                .append_pair("refresh_token", token.reveal());
            form.append_pair("client_id", "tfoci")
                .append_pair("scope", &scope.0.join(" "));
            form.extend_pairs(service.map(|service| ("service", service)));
            return Request::new(Method::POST, realm.clone(), &self.base)
                .whole(LARGEST_TOKEN)
                .for_token()
                .with_secret(token)
                .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
                .payload(Payload::Bytes(Bytes::from_owner(Zeroizing::new(
                    form.finish().into_bytes(),
                ))));
        }
        let mut url = realm.clone();
        url.query_pairs_mut()
            .extend_pairs(service.map(|service| ("service", service)))
            .extend_pairs(scope.0.iter().map(|scope| ("scope", scope.as_str())));
        let basic = credential.and_then(Credential::basic);
        Request::new(Method::GET, url, &self.base)
            .whole(LARGEST_TOKEN)
            .for_token()
            .authorization(basic, realm)
    }

    /// The error for a refusal by the registry or its token server, whose URL is `by`, with the text of its answer.
    pub(super) fn refused(&self, by: &Url, status: StatusCode, answer: String) -> Error {
        Error::Unauthorized {
            host: self.host(),
            token_server: authority(by).filter(|_| !self.is_own(by)),
            tried: self.credential().map(|one| one.found_in.clone()),
            status: status.as_u16(),
            answer,
        }
    }
}

/// The token in the answer of a token server, and its lifetime in seconds. `access_token` takes precedence over `token`
/// ([clients: authentication flow](crate::clients#authentication-flow)).
fn token_and_life(answer: &[u8]) -> Result<(Option<Secret>, Option<u64>), json::Error> {
    let mut object = Object::parse(answer)?;
    let token: Option<Secret> = object.value("token")?;
    let access_token = object.value("access_token")?;
    Ok((access_token.or(token), object.value("expires_in")?))
}
