//! Sessions: one repository of a registry, spoken to with the credential that is meant for it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use reqwest::{Method, StatusCode};
use url::Url;

use super::auth::{self, Auth, Scope};
use super::known::Known;
use super::seen::{Flight, Flights, Seen};
use super::{Error, Registry, answer};
use crate::credentials::Credential;
use crate::digest::Digest;
use crate::event::Event;
use crate::http::{Answer, Request, authority};
use crate::oci::Repository;

/// Three are enough: to learn what is wanted, to renew a token that was withdrawn, and to be told.
const TURNS: u32 = 3;

/// How many repositories are known by their tokens, more than are worked on at once. Whoever comes back to one that was forgotten
/// needs another token.
const MOST_SESSIONS: usize = 64;

/// The repositories that were spoken to for the first time last, by name.
pub(super) type Sessions = VecDeque<(String, Arc<Session>)>;

/// What all repositories of a registry share.
#[derive(Clone, Default)]
pub(super) struct Host {
    pub(super) scheme: auth::Learnt,
    pub(super) seen: Arc<Mutex<Seen>>,
    pub(super) flights: Arc<Flights>,
}

/// One repository of a registry, with the credential that is meant for it.
pub(super) struct Session {
    pub(super) known: Known,
    pub(super) base: Url,
    pub(super) auth: Auth,
    seen: Arc<Mutex<Seen>>,
    flights: Arc<Flights>,
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
            flights: shared.flights,
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
            let request = || request().secret(Some(basic.clone()), &host.base);
            answer = self.http.retrying(request).await?;
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
        if let Some((_, session)) = sessions.iter().find(|(other, _)| other == text) {
            return Ok((Arc::clone(session), name));
        }
        let known = Known::of(host);
        let base = self.http.base(known.api_host(host))?;
        let found = self.credentials.find(host, name).await;
        self.tell(host, found.as_ref().ok().and_then(Option::as_ref));
        let credential = found?;
        let Host {
            scheme,
            seen,
            flights,
        } = self
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
            flights,
        });
        if sessions.len() == MOST_SESSIONS {
            sessions.pop_front();
        }
        sessions.push_back((text.to_owned(), Arc::clone(&session)));
        Ok((session, name))
    }

    /// Tells where credentials were looked for, once, and which were chosen for a host, once for each choice.
    fn tell(&self, host: &str, chosen: Option<&Credential>) {
        let origin = chosen.map(|credential| credential.origin().to_owned());
        let choice = (host.to_owned(), origin.clone());
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.is_empty() {
            for source in self.credentials.considered() {
                let source = source.to_string();
                self.http.report(Event::Considered { source });
            }
        }
        if told.insert(choice) {
            let host = host.to_owned();
            self.http.report(Event::Introduced { host, origin });
        }
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
            let request = || request().secret(secret.clone(), &host.base);
            let answer = match is_repeatable {
                true => self.http.retrying(request).await?,
                false => self.http.send(request()).await?,
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
        let (status, url) = (answer.status(), answer.url().clone());
        if status == StatusCode::UNAUTHORIZED || status == StatusCode::FORBIDDEN {
            let body = answer
                .bytes(answer::LARGEST_ERROR)
                .await
                .unwrap_or_default();
            return host.refused(what, &url, status.as_u16(), &body);
        }
        answer::failure(what, answer).await
    }
}

impl Session {
    pub(super) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn remember(&self, digest: Digest, name: &str) {
        self.seen().blobs.note(digest, name);
    }

    /// The right to send a blob, which nobody else has while it is locked.
    pub(super) fn flight(&self, digest: Digest) -> Arc<Flight> {
        self.flights.of(digest)
    }

    /// Whether a repository has a blob, as far as that is known without asking.
    pub(super) fn knows(&self, digest: &Digest, name: &str) -> Option<bool> {
        let seen = self.seen();
        if seen.blobs.has(digest, name) {
            Some(true)
        } else {
            seen.empty.contains(name).then_some(false)
        }
    }

    /// Another repository that has a blob.
    pub(super) fn elsewhere(&self, digest: &Digest, name: &str) -> Option<String> {
        let seen = self.seen();
        seen.blobs.other(digest, name).map(str::to_owned)
    }

    /// Whether blobs of a repository that has no tag may be looked for by mounting them from itself.
    pub(super) fn may_have_all(&self, name: &str) -> bool {
        let seen = self.seen();
        seen.empty.contains(name) && !seen.refuses_mounts
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

    /// A refusal of the registry, or of another host to which it has led.
    pub(super) fn refused(&self, what: &'static str, url: &Url, status: u16, body: &[u8]) -> Error {
        if self.auth.is_own(url) {
            return self.auth.refused(url, status, body);
        }
        Error::RefusedElsewhere {
            what,
            registry: authority(&self.base).unwrap_or_default(),
            url: url.clone().into(),
            status,
            answer: answer::text(body),
        }
    }

    pub(super) fn request(&self, method: Method, url: Url) -> Request {
        Request::new(method, url, &self.base)
    }
}
