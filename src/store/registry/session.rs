//! Sessions: access to one repository of a registry, with the credential for it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use reqwest::{Method, StatusCode};
use url::Url;

use super::cache::{RegistryCache, SingleFlight};
use super::headers::AuthScheme;
use super::scope::{Scope, Token};
use super::{Error, Registry, answer};
use crate::credentials::{Credential, Credentials};
use crate::digest::Digest;
use crate::http::{self, Answer, Http, Request, Retry, authority};
use crate::jobs::locked;
use crate::oci::Repository;
use crate::store::{Declined, Requested};

/// The most times that a request is sent until its authentication is accepted: the first answer names the scheme, the second
/// one may reject a token that was revoked, the third one is final.
const AUTH_ATTEMPTS: u32 = 3;

/// A repository that no registry has.
const PROBED: &str = "tfoci/login";

/// State that all repositories of one registry share.
#[derive(Default)]
pub(in crate::store) struct Host {
    /// The scheme that the last challenge named; `None` before the first one.
    pub(super) scheme: Mutex<Option<AuthScheme>>,
    pub(super) cache: Mutex<RegistryCache>,
    pub(super) uploads: SingleFlight,
}

/// Access to one repository of a registry, with the credential for it.
pub(in crate::store) struct Session {
    /// The repository, with its host.
    pub(super) repository: Repository,
    /// The root of the registry's API.
    pub(super) base: Url,
    pub(super) http: Http,
    pub(super) credential: Mutex<Option<Arc<Credential>>>,
    /// Where a credential is read again that the registry refuses, if it is.
    pub(super) renewal: Option<Credentials>,
    pub(super) tokens: tokio::sync::Mutex<HashMap<Scope, Token>>,
    pub(super) host: Arc<Host>,
}

impl Registry {
    /// Asks a registry whether it accepts a credential. `false` if the registry asked for none, so that it may not have checked this one.
    ///
    /// # Errors
    /// The registry refuses the credential or cannot be reached, or the host is not a registry.
    pub async fn check(&self, host: &str, credential: &Credential) -> Result<bool, Error> {
        let repository = Repository::of_registry(host);
        let session = self.unshared(repository, self.api(host)?, Some(credential.clone()));
        let accepts = |answer: &Answer| answer.status().is_success() && !answer::is_page(answer);
        let mut answer = session.ask_root().await?;
        // A registry that allows anonymous reading has not seen the credential yet.
        if accepts(&answer) && !session.was_challenged() {
            // zot answers everybody for `/v2/` if anonymous users may read any of its repositories.
            let probed = session.join(&format!("v2/{PROBED}/tags/list"))?;
            let probe = session.get(&Scope::pull(PROBED), &probed).await?;
            if session.was_challenged() {
                // A registry with tokens may refuse any repository that does not exist. Its token server has checked the password before.
                if !session.has_tokens() && probe.status() == StatusCode::UNAUTHORIZED {
                    answer = probe;
                }
            } else if let Some(basic) = credential.basic() {
                let root = session.root()?;
                let request = || {
                    let request = Request::new(Method::GET, root.clone(), &session.base);
                    request.authorization(Some(basic.clone()), &session.base)
                };
                answer = self.http.retrying(Retry::default(), request).await?;
            }
        }
        if accepts(&answer) {
            return Ok(session.was_challenged());
        }
        Err(session.unwelcome(&answer))
    }
}

impl Session {
    /// Asks the registry whether it answers and accepts the credential that belongs to the repository.
    ///
    /// # Errors
    /// The registry cannot be reached, refuses the credential or requires one, or the host is not a registry.
    pub(in crate::store) async fn ping(&self) -> Result<(), Error> {
        let answer = self.ask_root().await?;
        // Registries with public repositories may still refuse this path to anonymous users.
        let is_unknown =
            self.credential().is_none() && self.has_tokens() && answer::is_refusal(&answer);
        if answer.status().is_success() || is_unknown {
            return Ok(());
        }
        Err(self.unwelcome(&answer))
    }

    /// As [`Session::ping`], but the registry has to answer with success even to anonymous users.
    pub(in crate::store) async fn check_root(&self) -> Result<(), Error> {
        let answer = self.ask_root().await?;
        let is_success = answer.status().is_success();
        is_success
            .then_some(())
            .ok_or_else(|| self.unwelcome(&answer))
    }

    async fn ask_root(&self) -> Result<Answer, Error> {
        self.get(&Scope::none(), &self.root()?).await
    }

    /// Reads a small answer, see [`Session::send`].
    pub(super) async fn get(&self, scope: &Scope, url: &Url) -> Result<Answer, Error> {
        let request = || Request::new(Method::GET, url.clone(), &self.base);
        self.send(scope, request).await
    }

    /// Sends a request about a part of the repository, see [`Session::send`].
    pub(super) async fn ask(
        &self,
        method: Method,
        part: &str,
        scope: Scope,
        with: impl Fn(Request) -> Request,
    ) -> Result<Answer, Error> {
        let url = self.url(part)?;
        let request = || with(Request::new(method.clone(), url.clone(), &self.base));
        self.send(&scope, request).await
    }

    /// The answer to a request; `None` if the registry has no such thing.
    pub(super) fn found(&self, what: Requested, answer: Answer) -> Result<Option<Answer>, Error> {
        match answer.status() {
            StatusCode::NOT_FOUND => Ok(None),
            status if status.is_success() => Ok(Some(answer)),
            _ => Err(self.refusal(what, &answer)),
        }
    }

    /// Sends a request with the current credentials; authenticates again on 401 and retries transient failures. If the registry refuses a
    /// credential, it is [read again](Registry::renewing).
    pub(super) async fn send(
        &self,
        scope: &Scope,
        request: impl Fn() -> Request,
    ) -> Result<Answer, Error> {
        let used = self.credential();
        let answer = self.authenticated(scope, &request).await;
        let is_refused = match &answer {
            // ECR answers 403 to a credential that has expired.
            Ok(answer) => answer::is_refusal(answer) && self.is_own(answer.url()),
            Err(error) => matches!(error, Error::Unauthorized { .. }),
        };
        if is_refused
            && let Some(used) = used
            && let Some(found) = self.other_credential(&used).await
        {
            self.renew(found).await;
            return self.authenticated(scope, request).await;
        }
        answer
    }

    /// The credential for the repository, if it is another one than what the registry has refused.
    async fn other_credential(&self, refused: &Credential) -> Option<Arc<Credential>> {
        let (host, name) = self.repository.host_and_name();
        let renewal = self.renewal.as_ref()?;
        let found = renewal.again_for_repository(host, name).await?;
        (found != *refused).then(|| Arc::new(found))
    }

    async fn authenticated(
        &self,
        scope: &Scope,
        request: impl Fn() -> Request,
    ) -> Result<Answer, Error> {
        let mut attempt = 1;
        loop {
            let secret = self.secret(scope).await?;
            let request = || request().authorization(secret.clone(), &self.base);
            let answer = self.http.retrying(Retry::default(), request).await?;
            if answer.status() != StatusCode::UNAUTHORIZED
                || attempt == AUTH_ATTEMPTS
                || !self.learn(&answer, scope, secret.as_ref()).await?
            {
                return Ok(answer);
            }
            attempt += 1;
        }
    }

    /// Fails if the host has no API of registries. A 404 of a registry has an error list, so that only other servers are asked again.
    pub(super) async fn check_registry(&self, body: &[u8]) -> Result<(), Error> {
        if answer::is_error_list(body) {
            return Ok(());
        }
        let answer = self.ask_root().await.ok();
        let no_registry = answer.and_then(|answer| self.no_registry(&answer));
        no_registry.map_or(Ok(()), Err)
    }

    /// The repository's name in its registry.
    pub(super) fn name(&self) -> &str {
        self.repository.host_and_name().1
    }

    /// The URL that tells whether the host is a registry.
    pub(super) fn root(&self) -> Result<Url, Error> {
        self.join("v2/")
    }

    /// The URL of a part of the repository.
    pub(super) fn url(&self, part: &str) -> Result<Url, Error> {
        self.join(&format!("v2/{}/{part}", self.name()))
    }

    /// The URL of a path below the root of the registry's API.
    pub(super) fn join(&self, path: &str) -> Result<Url, Error> {
        let url = self.base.join(path);
        Ok(url.map_err(|_| http::Error::Url { url: path.into() })?)
    }

    /// The registry's host with its port, where its API is.
    pub(super) fn host(&self) -> String {
        authority(&self.base).unwrap_or_default()
    }

    /// The error of a host that does not answer as a registry does.
    fn unwelcome(&self, answer: &Answer) -> Error {
        let refusal = || self.refusal(Requested::Version, answer);
        self.no_registry(answer).unwrap_or_else(refusal)
    }

    /// The error of a host whose answer to the request for its version is not that of a registry.
    fn no_registry(&self, answer: &Answer) -> Option<Error> {
        let status = answer.status();
        let is_unknown_path = matches!(
            status,
            StatusCode::NOT_FOUND | StatusCode::BAD_REQUEST | StatusCode::METHOD_NOT_ALLOWED
        );
        // Proxies in front of registries send pages, too, to tell that they refuse the credentials, or that the registry is away.
        let answered = match answer::is_page(answer) {
            true if is_unknown_path || status.is_success() => answer::PAGE.to_owned(),
            false if is_unknown_path => format!("/v2/ answered {}", status.as_u16()),
            _ => return None,
        };
        let host = self.host();
        Some(Error::NoRegistry { host, answered })
    }

    pub(super) fn cache(&self) -> MutexGuard<'_, RegistryCache> {
        locked(&self.host.cache)
    }

    /// Whether the repository has a blob, `None` if only the registry knows; and a repository to mount it from. An earlier run may have uploaded the
    /// blob and stopped before its first tag: in a repository without tags, a mount from the repository itself finds it without an additional
    /// request.
    pub(super) fn known(&self, digest: &Digest) -> (Option<bool>, Option<String>) {
        let (cache, name) = (self.cache(), self.name());
        let is_empty = cache.empty.contains(name);
        let is_here = cache.blobs.of(digest).any(|known| known == name);
        let has_it = (is_here || is_empty).then_some(is_here);
        let itself = (is_empty && !cache.refuses_mounts).then_some(name);
        let source = cache.blobs.of(digest).find(|known| *known != name);
        (has_it, source.or(itself).map(str::to_owned))
    }

    /// The error for an answer of the registry that is not a success, or of another host that it redirected to.
    pub(super) fn refusal(&self, what: Requested, answer: &Answer) -> Error {
        if !answer::is_refusal(answer) || !self.is_own(answer.url()) {
            return answer::declined(Declined::Request(what), answer);
        }
        self.refused(answer.url(), answer.status(), answer::text(answer))
    }
}
