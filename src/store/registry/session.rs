//! Sessions: access to one repository of a registry, with the credential for it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use reqwest::{Method, StatusCode};
use url::Url;

use super::auth::{self, Auth, Scope};
use super::cache::{RegistryCache, SingleFlight};
use super::{Error, Registry, answer};
use crate::credentials::Credential;
use crate::digest::Digest;
use crate::http::{self, Answer, Request, Retry, authority};
use crate::jobs::locked;
use crate::oci::Repository;
use crate::store::Requested;
use crate::store::known::KnownRegistry;

/// The most times that a request is sent until its authentication is accepted: the first answer names the scheme, the second
/// one may reject a token that was revoked, the third one is final.
const AUTH_ATTEMPTS: u32 = 3;

/// The most sessions that are kept, more than there are repositories in work at once. A repository whose session was dropped
/// costs another token.
const MOST_SESSIONS: usize = 64;

/// Sessions by repository, the oldest first.
pub(super) type RepositorySessions = VecDeque<Arc<RepositorySession>>;

/// A repository that no registry has.
const PROBED: &str = "tfoci/login";

/// State that all repositories of one registry share.
#[derive(Clone, Default)]
pub(super) struct Host {
    pub(super) scheme: auth::SharedScheme,
    pub(super) cache: Arc<Mutex<RegistryCache>>,
    pub(super) uploads: Arc<SingleFlight>,
}

/// Access to one repository of a registry, with the credential for it.
pub(super) struct RepositorySession {
    /// The repository, with its host; `None` if the credential is the caller's.
    repository: Option<Repository>,
    /// The root of the registry's API.
    pub(super) base: Url,
    pub(super) auth: Auth,
    pub(super) host: Host,
}

impl Registry {
    /// Asks a registry whether it accepts a credential. `false` if the registry asked for none, so that it may not have checked this one.
    ///
    /// # Errors
    /// The registry refuses the credential or cannot be reached, or the host is not a registry.
    pub async fn check(&self, host: &str, credential: &Credential) -> Result<bool, Error> {
        let base = self.api(host)?;
        let session = self.session(base, None, Some(credential.clone()), Host::default());
        let root = session.root()?;
        let mut answer = self.get(&session, &Scope::none(), &root).await?;
        // A registry that allows anonymous reading has not seen the credential yet.
        let is_open = answer.status().is_success()
            && !answer::is_page(&answer)
            && !session.auth.was_challenged();
        if is_open {
            // zot answers everybody for `/v2/` if anonymous users may read any of its repositories.
            let probed = session.url(PROBED, "tags/list")?;
            let probe = self.get(&session, &Scope::pull(PROBED), &probed).await?;
            // A registry with tokens may refuse any repository that does not exist. Its token server has checked the password before.
            let is_basic = session.auth.was_challenged() && !session.auth.has_tokens();
            if is_basic && probe.status() == StatusCode::UNAUTHORIZED {
                answer = probe;
            }
        }
        if is_open
            && !session.auth.was_challenged()
            && let Some(basic) = credential.basic()
        {
            let request = || {
                let request = Request::new(Method::GET, root.clone(), &session.base);
                request.authorization(Some(basic.clone()), &session.base)
            };
            answer = self.http.retrying(Retry::default(), request).await?;
        }
        if answer.status().is_success() && !answer::is_page(&answer) {
            return Ok(session.auth.was_challenged());
        }
        Err(session.unwelcome(&answer))
    }

    /// Asks the registry of a repository whether it answers and accepts the credential that belongs to the repository.
    ///
    /// # Errors
    /// The registry cannot be reached, refuses the credential or requires one, or the host is not a registry.
    pub(in crate::store) async fn ping(&self, repository: &Repository) -> Result<(), Error> {
        let (session, answer) = self.ask_root(repository).await?;
        // Registries with public repositories may still refuse this path to anonymous users.
        let is_unknown = session.auth.credential().is_none()
            && session.auth.has_tokens()
            && matches!(
                answer.status(),
                StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN
            );
        if answer.status().is_success() || is_unknown {
            return Ok(());
        }
        Err(session.unwelcome(&answer))
    }

    /// As [`Registry::ping`], but the registry has to answer with success even to anonymous users.
    pub(in crate::store) async fn check_root(&self, repository: &Repository) -> Result<(), Error> {
        let (session, answer) = self.ask_root(repository).await?;
        match answer.status().is_success() {
            true => Ok(()),
            false => Err(session.unwelcome(&answer)),
        }
    }

    async fn ask_root(
        &self,
        repository: &Repository,
    ) -> Result<(Arc<RepositorySession>, Answer), Error> {
        let (session, _) = self.locate(repository).await?;
        let root = session.root()?;
        let answer = self.get(&session, &Scope::none(), &root).await?;
        Ok((session, answer))
    }

    /// The session for a repository, and the repository's name in its registry.
    pub(super) async fn locate<'a>(
        &self,
        repository: &'a Repository,
    ) -> Result<(Arc<RepositorySession>, &'a str), Error> {
        let (host, name) = repository.host_and_name();
        if let Some(session) = find(&*self.sessions.lock().await, repository) {
            return Ok((session, name));
        }
        let base = self.api(host)?;
        // Not locked while a credential helper runs: others may read repositories whose credentials are known.
        let found = self.credentials.for_repository(host, name).await;
        let chosen = found.as_ref().ok().and_then(Option::as_ref);
        let found_in = chosen.map(|credential| &credential.found_in);
        self.credentials.report_use(host, found_in, &self.http);
        let credential = found?;
        self.credentials.report_ignored(&self.http);
        let shared = locked(&self.hosts)
            .entry(host.to_owned())
            .or_default()
            .clone();
        let session = self.session(base, Some(repository.clone()), credential, shared);
        let session = Arc::new(session);
        let mut sessions = self.sessions.lock().await;
        // Another task may have been faster.
        if let Some(session) = find(&sessions, repository) {
            return Ok((session, name));
        }
        if sessions.len() == MOST_SESSIONS {
            sessions.pop_front();
        }
        sessions.push_back(Arc::clone(&session));
        Ok((session, name))
    }

    /// The root of the API of a registry.
    fn api(&self, host: &str) -> Result<Url, Error> {
        Ok(self.http.base(KnownRegistry::of(host).api_host(host))?)
    }

    fn session(
        &self,
        base: Url,
        repository: Option<Repository>,
        credential: Option<Credential>,
        host: Host,
    ) -> RepositorySession {
        let scheme = Arc::clone(&host.scheme);
        RepositorySession {
            auth: Auth::new(self.http.clone(), base.clone(), credential, scheme),
            repository,
            base,
            host,
        }
    }

    /// Reads a small answer, see [`Registry::send`].
    pub(super) async fn get(
        &self,
        session: &RepositorySession,
        scope: &Scope,
        url: &Url,
    ) -> Result<Answer, Error> {
        let request = || Request::new(Method::GET, url.clone(), &session.base);
        self.send(session, scope, request).await
    }

    /// Sends a request with the current credentials; authenticates again on 401 and retries transient failures. If the registry refuses a
    /// credential, it is [read again](Registry::renewing).
    pub(super) async fn send(
        &self,
        session: &RepositorySession,
        scope: &Scope,
        request: impl Fn() -> Request,
    ) -> Result<Answer, Error> {
        let used = session.auth.credential();
        let answer = self.authenticated(session, scope, &request).await;
        let is_refused = match &answer {
            Ok(answer) => session.refuses(answer),
            Err(error) => matches!(error, Error::Unauthorized { .. }),
        };
        if is_refused
            && let Some(used) = used
            && let Some(found) = self.other_credential(session, &used).await
        {
            session.auth.renew(found).await;
            return self.authenticated(session, scope, request).await;
        }
        answer
    }

    /// The credential for a repository, if it is another one than what the registry has refused.
    async fn other_credential(
        &self,
        session: &RepositorySession,
        refused: &Credential,
    ) -> Option<Arc<Credential>> {
        let repository = session.repository.as_ref().filter(|_| self.renews)?;
        let (host, name) = repository.host_and_name();
        let found = self.credentials.again_for_repository(host, name).await?;
        (found != *refused).then(|| Arc::new(found))
    }

    async fn authenticated(
        &self,
        session: &RepositorySession,
        scope: &Scope,
        request: impl Fn() -> Request,
    ) -> Result<Answer, Error> {
        let mut attempt = 1;
        loop {
            let secret = session.auth.secret(scope).await?;
            let request = || request().authorization(secret.clone(), &session.base);
            let answer = self.http.retrying(Retry::default(), request).await?;
            if answer.status() != StatusCode::UNAUTHORIZED
                || attempt == AUTH_ATTEMPTS
                || !session.auth.learn(&answer, scope, secret.as_ref()).await?
            {
                return Ok(answer);
            }
            attempt += 1;
        }
    }

    /// Fails if the host has no API of registries. A 404 of a registry has an error list, so that only other servers are asked again.
    pub(super) async fn check_registry(
        &self,
        session: &RepositorySession,
        body: &[u8],
    ) -> Result<(), Error> {
        let Ok(url) = session.root() else {
            return Ok(());
        };
        if answer::is_error_list(body) {
            return Ok(());
        }
        let answer = self.get(session, &Scope::none(), &url).await.ok();
        answer
            .and_then(|answer| session.no_registry(&answer))
            .map_or(Ok(()), Err)
    }
}

/// The session for a repository, if there is one.
fn find(sessions: &RepositorySessions, repository: &Repository) -> Option<Arc<RepositorySession>> {
    let mut sessions = sessions.iter();
    let session = sessions.find(|one| one.repository.as_ref() == Some(repository));
    session.cloned()
}

impl RepositorySession {
    /// The URL that tells whether the host is a registry.
    pub(super) fn root(&self) -> Result<Url, Error> {
        self.join("v2/")
    }

    /// The URL of a path below the root of the registry's API.
    pub(super) fn join(&self, path: &str) -> Result<Url, Error> {
        let url = self.base.join(path);
        Ok(url.map_err(|_| http::Error::Url { url: path.into() })?)
    }

    /// Whether an answer of the registry refuses the credential. ECR answers 403 to one that has expired.
    fn refuses(&self, answer: &Answer) -> bool {
        let status = answer.status();
        let is_refusal = status == StatusCode::UNAUTHORIZED || status == StatusCode::FORBIDDEN;
        is_refusal && self.auth.is_own(answer.url())
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
        let host = self.auth.host();
        Some(Error::NoRegistry { host, answered })
    }

    pub(super) fn cache(&self) -> MutexGuard<'_, RegistryCache> {
        locked(&self.host.cache)
    }

    /// Whether a repository has a blob, `None` if only the registry knows; and a repository to mount it from. An earlier run may have uploaded the
    /// blob and stopped before its first tag: in a repository without tags, a mount from the repository itself finds it without an additional
    /// request.
    pub(super) fn known(&self, digest: &Digest, name: &str) -> (Option<bool>, Option<String>) {
        let cache = self.cache();
        let of = cache.blobs.of(digest);
        let (here, others): (Vec<&str>, Vec<&str>) = of.partition(|known| *known == name);
        let is_empty = cache.empty.contains(name);
        let has_it = match here.is_empty() {
            false => Some(true),
            true => is_empty.then_some(false),
        };
        let itself = (is_empty && !cache.refuses_mounts).then_some(name);
        let source = others.first().copied().or(itself);
        (has_it, source.map(str::to_owned))
    }

    pub(super) fn url(&self, name: &str, rest: &str) -> Result<Url, Error> {
        self.join(&format!("v2/{name}/{rest}"))
    }

    /// The error for an answer of the registry that is not a success, or of another host that it redirected to.
    pub(super) fn refusal(&self, what: Requested, answer: &Answer) -> Error {
        let (url, status, text) = (answer.url(), answer.status(), answer::text(answer));
        if status != StatusCode::UNAUTHORIZED && status != StatusCode::FORBIDDEN {
            return answer::failure(what, answer);
        }
        if self.auth.is_own(url) {
            let is_forbidden = status == StatusCode::FORBIDDEN && what.is_in_repository();
            let repository = self.repository.clone().filter(|_| is_forbidden);
            return match (repository, self.auth.credential()) {
                (Some(repository), Some(credential)) => Error::Forbidden {
                    username: credential.username().map(str::to_owned),
                    what,
                    repository,
                    host: self.auth.host(),
                    tried: credential.found_in.clone(),
                    answer: text,
                },
                _ => self.auth.refused(url, status, text),
            };
        }
        Error::RefusedElsewhere {
            what,
            registry: authority(&self.base).unwrap_or_default(),
            url: answer.shown(),
            status: status.as_u16(),
            answer: text,
        }
    }
}
