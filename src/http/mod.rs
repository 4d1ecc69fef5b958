//! The HTTP client. It sends every request of tfoci.
//!
//! Servers send tfoci to URLs of their choice: redirects, upload locations, token realms, packages. This module therefore decides where a
//! request may go and which credentials it carries:
//!
//! - **https**, unless the user allowed plain http for the host. Redirects from https to http are never followed.
//! - At most ten redirects, or fewer where `tofu` and `terraform` follow fewer.
//! - An [`Authorization`] is for one scheme, host and port. It is dropped when a redirect changes any of them, and never printed.
//! - **Secrets** of a request are hidden in the text and the URLs of its answer when they are shown ([`Answer::hide`], [`Answer::shown`]).
//! - **Timeouts**: a server may be silent for `--timeout`. A document, including redirects, may take five times as long. A transfer has
//!   stalled if less than 64 KiB pass within `--timeout`, in either direction.
//! - **Private addresses**: the client does not connect to a private address of a host that a server named, unless all addresses of the
//!   host that the user named are private, or the user allowed the host. A host that only a configuration names counts as named by a
//!   server. Link-local addresses and addresses of metadata services are refused even then, unless the user named the host itself. The client
//!   checks addresses when it connects. A proxy resolves names itself, so through a proxy the client checks only literal addresses.
//! - **Transient failures** are retried ([`Retry`]).
//!
//! The client uses HTTP/1.1 with keep-alive. Against registries written in Go, HTTP/2 took 14 to 39 % more time (measured).

mod answer;
mod authorization;
mod clients;
mod connection;
mod connection_error;
mod error;
mod guard;
mod journal;
mod limits;
mod message;
mod range;
mod resolver;
mod retry;
mod settings;
mod upload;

pub use answer::Answer;
pub use authorization::{Authorization, basic_pair};
pub use connection_error::Reason;
pub use error::{Error, Silence};
pub(crate) use error::{OUTER_ADDRESS, perhaps_tls};
pub use limits::{Permit, SMALL};
pub use message::{Payload, Request};
pub use retry::{Retry, Transient, retry_after};
pub use settings::{Pem, Settings, Timeouts};

pub use crate::shown::Shown;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, select};
use hyper_util::client::proxy::matcher::Matcher;
use reqwest::header::{AUTHORIZATION, CONTENT_LENGTH};
use reqwest::{Method, Response};
use tokio::time::{Instant, timeout};
use url::Url;

use crate::address::HostPort;
use crate::event::{Event, Reporter};
use answer::Incoming;
use clients::{Clients, ConnectionKind, Trust};
use guard::Strangers;
use journal::{Journal, JournalEntry};
use limits::{Limits, RequestClass};
use message::BodyUse;
use resolver::Resolved;
use retry::Reached;
use upload::Progress;

/// The most redirects that the client follows. Go's HTTP client, which clients use, follows the same number.
const MOST_REDIRECTS: usize = 10;

/// The bytes that must pass within the silence timeout, unless the body ends before. With the default of a minute this is 1 KiB/s, less than
/// any usable connection.
pub const LEAST_FLOW: u64 = 64 << 10;

/// The most bytes of an error response that are read. Messages quote only a few hundred.
const LARGEST_REFUSAL: u64 = 64 << 10;

/// The client. Clones share connections, limits and counts.
#[derive(Clone, Debug)]
pub struct Http {
    shared: Arc<Shared>,
    /// The host and port that the user named for the requests of this handle, and of its clones.
    named: Option<(String, u16)>,
}

#[derive(Debug)]
struct Shared {
    settings: Settings,
    clients: Clients,
    limits: Limits,
    resolved: Arc<Resolved>,
    strangers: Strangers,
    reached: Reached,
    journal: Journal,
    /// The proxies of the environment, which the HTTP library finds in the same way.
    proxies: Matcher,
}

impl Http {
    /// Creates a client that reports nothing. It opens no connection or file before the first request.
    pub fn new(settings: Settings) -> Self {
        Self::reporting(settings, Arc::new(()))
    }

    /// Creates a client that reports every request and every retry.
    pub fn reporting(settings: Settings, reporter: Arc<dyn Reporter>) -> Self {
        let resolved = Arc::<Resolved>::default();
        let shared = Arc::new(Shared {
            clients: Clients::new(Arc::clone(&resolved)),
            limits: Limits::new(settings.transfers),
            resolved,
            strangers: Strangers::new(settings.every_host_is_a_stranger),
            reached: Reached::default(),
            journal: Journal::new(reporter),
            proxies: Matcher::from_system(),
            settings,
        });
        Self {
            shared,
            named: None,
        }
    }

    /// The number of requests sent, including redirects and retries, without requests for tokens.
    pub fn requests(&self) -> u64 {
        self.shared.journal.requests()
    }

    /// Reports another event to the reporter of requests.
    pub fn report(&self, event: Event) {
        self.shared.journal.report(event);
    }

    /// Waits for a permit to upload a blob of `size` bytes. The caller takes it before it opens the blob, and holds it until the upload
    /// ends. A small blob needs none.
    pub async fn upload_permit(&self, url: &Url, size: u64) -> Option<Permit> {
        match size {
            0..=SMALL => None,
            _ => self.shared.limits.permit(url, RequestClass::Upload).await,
        }
    }

    /// The base URL of a host that the user named.
    ///
    /// # Errors
    /// The text is not a host.
    pub fn base(&self, host: &str) -> Result<Url, Error> {
        let plain = &self.shared.settings.plain;
        let bare = HostPort::parse(host).map_or(host, |parsed| parsed.host);
        let scheme = match plain.contains(host) || plain.contains(bare) {
            true => "http",
            false => "https",
        };
        let url = Url::parse(&format!("{scheme}://{host}/")).ok();
        url.filter(|url| url.path() == "/" && url.username().is_empty())
            .ok_or_else(|| Error::Address {
                text: host.into(),
                expected: "a host: HOST or HOST:PORT",
            })
    }

    /// Whether clients of a server, and not its user, name the hosts.
    pub fn every_host_is_a_stranger(&self) -> bool {
        self.shared.settings.every_host_is_a_stranger
    }

    /// Whether only a client of a server named the host of a URL. Credentials are not for such hosts.
    pub fn is_unnamed(&self, url: &Url) -> bool {
        self.every_host_is_a_stranger() && self.shared.strangers.has(url)
    }

    /// Treats a host as one that the user did not name: the client connects to it at public addresses only, unless an option names it.
    ///
    /// # Errors
    /// The text is not a host.
    pub fn distrust(&self, host: &str) -> Result<(), Error> {
        self.shared.strangers.set(&self.base(host)?, true);
        Ok(())
    }

    /// Treats the host of a URL as one that the user named.
    pub fn trust(&self, url: &Url) {
        self.shared.strangers.set(url, false);
    }

    /// A handle whose requests may go to the host of this URL as if the user had named it. Other handles are not affected.
    pub fn naming(&self, url: &Url) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            named: guard::endpoint(url),
        }
    }

    /// Sends a request once, and follows the redirects of `GET` and `HEAD`.
    ///
    /// # Errors
    /// The server did not respond, or a rule of this module forbids the URL. A response of any status is `Ok`.
    pub async fn send(&self, mut request: Request) -> Result<Answer, Error> {
        let is_read = request.method == Method::GET || request.method == Method::HEAD;
        let follows = is_read && !request.is_unfollowed;
        let limit = request.redirects;
        let mut left = limit;
        let mut deadline = Deadline::new(self.shared.settings.timeouts.document);
        let (mut is_verified, mut is_elsewhere) = (true, false);
        loop {
            let kind = self
                .connection(&request.url, request.shown(), &request.named)
                .await?;
            is_verified &= kind.trust == Trust::Authorities;
            let mut answer = self.once(&mut request, &kind, &mut deadline).await?;
            let Some(target) = answer.redirect().filter(|_| follows) else {
                (answer.is_verified, answer.is_elsewhere) = (is_verified, is_elsewhere);
                return Ok(answer);
            };
            let (url, target) = (&request.url, target?);
            if url.scheme() == "https" && target.scheme() == "http" {
                return Err(Error::Downgrade {
                    from: request.shown(),
                    url: answer.shown_reference(target.as_str()),
                });
            }
            let exhausted = || Error::Redirects {
                url: request.shown(),
                limit,
            };
            left = left.checked_sub(1).ok_or_else(exhausted)?;
            is_elsewhere |= url.origin() != target.origin();
            request.redirect(target);
        }
    }

    async fn once(
        &self,
        request: &mut Request,
        kind: &ConnectionKind,
        deadline: &mut Deadline,
    ) -> Result<Answer, Error> {
        let Shared {
            settings, journal, ..
        } = &*self.shared;
        let url = request.url.clone();
        let is_upload = request.payload.as_ref().map_or(0, Payload::size) > SMALL;
        let class = match request.body_use {
            BodyUse::Stream => RequestClass::Download,
            BodyUse::Whole(_) | BodyUse::Nothing => RequestClass::Small,
        };
        let permit = match is_upload {
            // One permit covers all requests of an upload.
            true => None,
            false => self.shared.limits.permit(&url, class).await,
        };
        let (mut entry, shown) = (journal.begin(request), request.shown());
        let exchange = self.exchange(request, kind, &mut entry);
        // An upload has no deadline: the stall timeout applies instead.
        let response = match is_upload {
            true => exchange.await?,
            false => deadline.hold(shown, exchange).await?,
        };
        entry.exchange.status = Some(response.status().as_u16());
        self.shared.reached.insert(&url);
        let incoming = Incoming {
            response,
            entry,
            stall: settings.timeouts.stall,
            _permit: permit,
        };
        let mut answer = Answer::new(incoming, request.secrets.clone());
        match request.body_use {
            BodyUse::Whole(limit) if answer.status().is_success() => {
                let shown = answer.shown();
                deadline.hold(shown, answer.read(limit)).await?;
            }
            BodyUse::Stream if answer.status().is_success() => {}
            _ => {
                // The start suffices for a message. A shorter body is read to its end, so that the connection can be used again.
                let _read = answer.read(LARGEST_REFUSAL).await;
            }
        }
        Ok(answer)
    }

    /// Sends a request and waits for the headers of the response.
    async fn exchange(
        &self,
        request: &mut Request,
        kind: &ConnectionKind,
        entry: &mut JournalEntry,
    ) -> Result<Response, Error> {
        let Shared {
            settings, clients, ..
        } = &*self.shared;
        let timeouts = &settings.timeouts;
        let payload = request.payload.take();
        let (url, shown) = (&request.url, request.shown());
        let mut builder = clients
            .get(kind, settings)?
            .request(request.method.clone(), url.clone())
            .headers(request.headers.clone());
        if let Some(authorization) = &request.authorization {
            let unsendable = || Error::Secret { url: shown.clone() };
            let header = authorization.header().ok_or_else(unsendable)?;
            builder = builder.header(AUTHORIZATION, header);
        }
        if let Some(payload) = &payload {
            builder = builder.header(CONTENT_LENGTH, payload.size());
        }
        let (progress, body) = Progress::of(payload);
        if let Some(body) = body {
            builder = builder.body(body);
        }
        let silent = |(silence, limit)| Error::Silent {
            url: shown.clone(),
            silence,
            limit,
        };
        let (answer, silence) = (pin!(builder.send()), pin!(progress.silence(timeouts)));
        let ended = select(answer, silence).await;
        entry.exchange.sent = progress.sent();
        match ended {
            Either::Left((Ok(response), _)) => Ok(response),
            Either::Left((Err(source), _)) if source.is_connect() && source.is_timeout() => {
                Err(silent((Silence::Connection, timeouts.connect)))
            }
            Either::Left((Err(source), _)) => {
                Err(Error::transport(shown, &source, self.proxy(url).as_ref()))
            }
            Either::Right((silence, _)) => Err(silent(silence)),
        }
    }

    /// The proxy that requests to a URL go through.
    fn proxy(&self, url: &Url) -> Option<Url> {
        let uri = url.as_str().parse().ok()?;
        let proxy = self.shared.proxies.intercept(&uri)?;
        Url::parse(&proxy.uri().to_string()).ok()
    }
}

/// The host of a URL, with its port where that is not the scheme's own.
pub fn authority(url: &Url) -> Option<String> {
    let host = url.host_str()?;
    Some(
        url.port()
            .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")),
    )
}

/// The time that is left for one response, with its redirects and headers. Waiting for a permit does not count.
struct Deadline {
    left: Duration,
    limit: Duration,
}

impl Deadline {
    fn new(limit: Duration) -> Self {
        Self { left: limit, limit }
    }

    /// Waits for work on a URL, and fails when the deadline has passed.
    async fn hold<T>(
        &mut self,
        url: Shown,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let began = Instant::now();
        let done = timeout(self.left, work).await;
        self.left = self.left.saturating_sub(began.elapsed());
        done.unwrap_or_else(|_| {
            Err(Error::Silent {
                url,
                silence: Silence::Document,
                limit: self.limit,
            })
        })
    }
}
