//! Sessions: one repository of a registry, spoken to with the credential that is meant for it.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use reqwest::{Method, StatusCode};
use url::Url;

use super::auth::{self, Auth, Scope};
use super::known::Known;
use super::{Error, Registry, answer};
use crate::credentials::Credential;
use crate::digest::Digest;
use crate::http::{Answer, Request, retrying};
use crate::oci::Repository;

/// Three are enough: to learn what is wanted, to renew a token that was withdrawn, and to be told.
const TURNS: u32 = 3;

/// What all repositories of a registry share.
#[derive(Clone, Default)]
pub(super) struct Host {
    pub(super) scheme: auth::Learnt,
    pub(super) seen: Arc<Mutex<Seen>>,
}

/// What was learnt of a registry in this run.
#[derive(Default)]
pub(super) struct Seen {
    /// In which repositories blobs are: there they need not be looked for, and from there they can be mounted.
    pub(super) blobs: HashMap<Digest, BTreeSet<String>>,
    /// Repositories that had no tag, in which nothing needs to be looked for.
    pub(super) empty: BTreeSet<String>,
    /// The length of chunks that got through, where one piece did not.
    pub(super) chunk: Option<usize>,
}

/// One repository of a registry, with the credential that is meant for it.
pub(super) struct Session {
    pub(super) known: Known,
    pub(super) base: Url,
    pub(super) auth: Auth,
    pub(super) seen: Arc<Mutex<Seen>>,
}

impl Registry {
    /// Asks a registry whether it accepts a credential.
    ///
    /// # Errors
    /// It does not, or cannot be reached, or is no registry.
    pub async fn check(&self, host: &str, credential: &Credential) -> Result<(), Error> {
        let known = Known::of(host);
        let base = self.http.base(known.api_host(host))?;
        let shared = Host::default();
        let auth = Auth::new(
            self.http.clone(),
            base.clone(),
            Some(credential.clone()),
            shared.scheme,
        );
        let host = Session {
            known,
            base,
            auth,
            seen: shared.seen,
        };
        let url = host.base.join("v2/").map_err(|_| crate::http::Error::Url {
            url: host.base.clone().into(),
        })?;
        let request = || host.request(Method::GET, url.clone());
        let mut answer = self.send(&host, &Scope::none(), request).await?;
        // A registry that lets everybody read has not looked at the credential yet.
        if answer.status().is_success()
            && !host.auth.was_challenged()
            && let Some(basic) = credential.basic()
        {
            let send = || {
                self.http
                    .send(request().secret(Some(basic.clone()), &host.base))
            };
            answer = retrying(send).await?;
        }
        if answer.status().is_success() {
            return Ok(());
        }
        Err(self.refusal(&host, "registry's version", answer).await)
    }

    /// The session for a repository, and the name that it has in its registry.
    pub(super) async fn locate<'a>(
        &self,
        repository: &'a Repository,
    ) -> Result<(Arc<Session>, &'a str), Error> {
        let text = repository.as_str();
        let (host, name) = text.split_once('/').unwrap_or((text, ""));
        // Held while credentials are looked for, so that a helper program is asked once.
        let mut sessions = self.sessions.lock().await;
        if let Some(session) = sessions.get(text) {
            return Ok((Arc::clone(session), name));
        }
        let known = Known::of(host);
        let base = self.http.base(known.api_host(host))?;
        let credential = self.credentials.find(host, name).await?;
        let Host { scheme, seen } = self
            .hosts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(host.to_owned())
            .or_default()
            .clone();
        let auth = Auth::new(self.http.clone(), base.clone(), credential, scheme);
        let session = Arc::new(Session {
            known,
            base,
            auth,
            seen,
        });
        sessions.insert(text.to_owned(), Arc::clone(&session));
        Ok((session, name))
    }

    /// Sends a request with whatever the registry wants to see, and asks again when it wants something else, and as often as
    /// patience goes when it does not come through.
    pub(super) async fn send(
        &self,
        host: &Session,
        scope: &Scope,
        request: impl Fn() -> Request,
    ) -> Result<Answer, Error> {
        self.admitted(host, scope, request, true).await
    }

    /// As [`Registry::send`], for a request of which has to be seen what became of it before it is sent again.
    pub(super) async fn send_once(
        &self,
        host: &Session,
        scope: &Scope,
        request: impl Fn() -> Request,
    ) -> Result<Answer, Error> {
        self.admitted(host, scope, request, false).await
    }

    async fn admitted(
        &self,
        host: &Session,
        scope: &Scope,
        request: impl Fn() -> Request,
        is_repeatable: bool,
    ) -> Result<Answer, Error> {
        let mut turn = 1;
        loop {
            let secret = host.auth.secret(scope).await?;
            let send = || self.http.send(request().secret(secret.clone(), &host.base));
            let answer = match is_repeatable {
                true => retrying(send).await?,
                false => send().await?,
            };
            if answer.status() != StatusCode::UNAUTHORIZED
                || turn == TURNS
                || !host.auth.learn(&answer, scope, secret.as_ref()).await?
            {
                return Ok(answer);
            }
            turn += 1;
        }
    }

    pub(super) async fn refusal(
        &self,
        host: &Session,
        what: &'static str,
        answer: Answer,
    ) -> Error {
        let status = answer.status();
        if status == StatusCode::UNAUTHORIZED || status == StatusCode::FORBIDDEN {
            let body = answer
                .bytes(answer::LARGEST_ERROR)
                .await
                .unwrap_or_default();
            return host.auth.refused(status.as_u16(), &body);
        }
        answer::failure(what, answer).await
    }
}

impl Session {
    pub(super) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn remember(&self, digest: Digest, name: &str) {
        self.seen()
            .blobs
            .entry(digest)
            .or_default()
            .insert(name.to_owned());
    }

    /// Whether a repository has a blob, as far as that is known without asking.
    pub(super) fn knows(&self, digest: &Digest, name: &str) -> Option<bool> {
        let seen = self.seen();
        let is_there = seen
            .blobs
            .get(digest)
            .is_some_and(|names| names.contains(name));
        if is_there {
            Some(true)
        } else {
            seen.empty.contains(name).then_some(false)
        }
    }

    /// Another repository that has a blob.
    pub(super) fn elsewhere(&self, digest: &Digest, name: &str) -> Option<String> {
        let seen = self.seen();
        seen.blobs
            .get(digest)?
            .iter()
            .find(|other| *other != name)
            .cloned()
    }

    pub(super) fn url(&self, name: &str, rest: &str) -> Result<Url, Error> {
        let path = format!("v2/{name}/{rest}");
        self.base.join(&path).map_err(|_| {
            crate::http::Error::Url {
                url: path.as_str().into(),
            }
            .into()
        })
    }

    pub(super) fn request(&self, method: Method, url: Url) -> Request {
        Request::new(method, url, &self.base)
    }
}
