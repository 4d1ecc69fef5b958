//! Authentication to one registry: challenges, and tokens for scopes.
//!
//! The first request goes out as it is; the registry's challenge tells what it wants. From then on tokens are fetched
//! before they are needed, one fetch for all who wait for the same scope, and renewed shortly before they expire.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use url::Url;

use super::super::Error;
use super::headers::{self, Scheme};
use super::wire::TokenAnswer;
use crate::credentials::Credential;
use crate::http::{Answer, Http, Payload, Request, Secret, authority};

/// What a token server may answer with at most ([clients: authentication flow](crate::clients#authentication-flow)).
const LARGEST_TOKEN: u64 = 128 << 10;
/// How long a token holds when its server does not say.
const DEFAULT_LIFE: u64 = 60;
/// How long before its end a token is renewed: a request must not outlive it.
const MARGIN: Duration = Duration::from_secs(10);

/// What a request wants to do with a repository.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Scope(Vec<String>);

impl Scope {
    /// Nothing in particular.
    pub(super) fn none() -> Self {
        Self(Vec::new())
    }

    pub(super) fn pull(name: &str) -> Self {
        Self(vec![format!("repository:{name}:pull")])
    }

    pub(super) fn push(name: &str) -> Self {
        Self(vec![format!("repository:{name}:pull,push")])
    }

    /// Also to read another repository, as a mount does.
    pub(super) fn and_pull(mut self, name: &str) -> Self {
        self.0.push(format!("repository:{name}:pull"));
        self
    }
}

/// What a registry was found to want, shared by all of its repositories.
pub(super) type Learnt = Arc<Mutex<Option<Scheme>>>;

struct Token {
    secret: Secret,
    until: Instant,
}

/// The state of authentication to one registry.
pub(super) struct Auth {
    http: Http,
    base: Url,
    credential: Option<Credential>,
    scheme: Learnt,
    tokens: tokio::sync::Mutex<HashMap<Scope, Token>>,
}

impl Auth {
    pub(super) fn new(
        http: Http,
        base: Url,
        credential: Option<Credential>,
        scheme: Learnt,
    ) -> Self {
        Self {
            http,
            base,
            credential,
            scheme,
            tokens: tokio::sync::Mutex::default(),
        }
    }

    /// The secret for a scope, as far as it is known what the registry wants.
    pub(super) async fn secret(&self, scope: &Scope) -> Result<Option<Secret>, Error> {
        let scheme = self
            .scheme
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        match scheme {
            None => Ok(None),
            Some(Scheme::Basic) => Ok(self.credential.as_ref().and_then(Credential::basic)),
            Some(Scheme::Bearer { realm, service }) => self
                .token(scope, &realm, service.as_deref())
                .await
                .map(Some),
        }
    }

    /// Whether the registry has asked who we are.
    pub(super) fn was_challenged(&self) -> bool {
        self.scheme
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_some()
    }

    /// Whether an answer came from the registry's own scheme, host and port. Only such an answer says how the registry wants to
    /// be authenticated to: a redirect, or the `Location` of an upload, may lead to a host that would ask for the password itself.
    pub(super) fn is_own(&self, answer: &Url) -> bool {
        answer.origin() == self.base.origin()
    }

    /// Learns from a refusal. `false`: there is nothing to learn, and asking again would change nothing.
    pub(super) async fn learn(
        &self,
        answer: &Answer,
        scope: &Scope,
        used: Option<&Secret>,
    ) -> Result<bool, Error> {
        if !self.is_own(answer.url()) || answer.is_elsewhere() {
            return Ok(false);
        }
        let challenges = answer.headers(WWW_AUTHENTICATE);
        let wanted = headers::scheme(challenges.iter().map(String::as_str), &self.base);
        let wanted = wanted.map_err(|_| Error::Realm { host: self.host() })?;
        self.scheme
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone_from(&wanted);
        match wanted {
            None => Ok(false),
            // Of several who asked before that was known, each has to ask again.
            Some(Scheme::Basic) => {
                let basic = self.credential.as_ref().and_then(Credential::basic);
                Ok(basic.is_some() && basic.as_ref() != used)
            }
            Some(Scheme::Bearer { .. }) => {
                // A token may end before its time. One that is not known any more was renewed by somebody else meanwhile.
                let mut tokens = self.tokens.lock().await;
                if tokens
                    .get(scope)
                    .is_some_and(|token| Some(&token.secret) == used)
                {
                    tokens.remove(scope);
                }
                Ok(true)
            }
        }
    }

    async fn token(
        &self,
        scope: &Scope,
        realm: &Url,
        service: Option<&str>,
    ) -> Result<Secret, Error> {
        if let Some(access) = self.credential.as_ref().and_then(Credential::access) {
            return Ok(access);
        }
        // Held while fetching, so that all who wait share one fetch.
        let mut tokens = self.tokens.lock().await;
        if let Some(token) = tokens
            .get(scope)
            .filter(|token| token.until > Instant::now())
        {
            return Ok(token.secret.clone());
        }
        let request = || self.token_request(scope, realm, service);
        let answer = self.http.retrying(request).await?;
        let (status, url) = (answer.status(), answer.url().clone());
        let body = answer.bytes(LARGEST_TOKEN).await?;
        if !status.is_success() {
            return Err(self.refused(&url, status.as_u16(), &body));
        }
        let refused = || self.refused(&url, status.as_u16(), b"");
        let answer = TokenAnswer::read(&body).map_err(|_| refused())?;
        let text = answer
            .access_token
            .or(answer.token)
            .filter(|text| !text.is_empty())
            .ok_or_else(refused)?;
        let life = Duration::from_secs(answer.expires_in.unwrap_or(DEFAULT_LIFE).min(24 * 3600));
        let secret = Secret::bearer(&text);
        let until = Instant::now() + life.saturating_sub(MARGIN).max(life / 2);
        tokens.insert(
            scope.clone(),
            Token {
                secret: secret.clone(),
                until,
            },
        );
        Ok(secret)
    }

    fn token_request(&self, scope: &Scope, realm: &Url, service: Option<&str>) -> Request {
        if let Some(Credential::Identity { token, .. }) = &self.credential {
            let mut form = url::form_urlencoded::Serializer::new(String::new());
            form.append_pair("grant_type", "refresh_token")
                .append_pair("refresh_token", token);
            form.append_pair("client_id", "tfoci")
                .append_pair("scope", &scope.0.join(" "));
            form.extend_pairs(service.map(|service| ("service", service)));
            return Request::new(Method::POST, realm.clone(), &self.base)
                .whole(LARGEST_TOKEN)
                .for_token()
                .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
                .payload(Payload::Bytes(form.finish().into_bytes().into()));
        }
        let mut url = realm.clone();
        url.query_pairs_mut()
            .extend_pairs(service.map(|service| ("service", service)))
            .extend_pairs(scope.0.iter().map(|scope| ("scope", scope.as_str())));
        let basic = self.credential.as_ref().and_then(Credential::basic);
        Request::new(Method::GET, url, &self.base)
            .whole(LARGEST_TOKEN)
            .for_token()
            .secret(basic, realm)
    }

    /// The registry, or its token server, refused the credentials; `by` is who answered.
    pub(super) fn refused(&self, by: &Url, status: u16, body: &[u8]) -> Error {
        Error::Unauthorized {
            host: self.host(),
            token_server: authority(by).filter(|_| !self.is_own(by)),
            tried: self
                .credential
                .as_ref()
                .map(|credential| credential.origin().to_owned()),
            status,
            answer: super::answer::text(body),
        }
    }

    fn host(&self) -> String {
        authority(&self.base).unwrap_or_default()
    }
}
