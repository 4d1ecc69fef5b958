//! HTTP: the one client through which everything goes.
//!
//! URLs come from strangers: redirects, upload locations, token realms. So the rules about where a request may go, and what it may
//! carry, live here and nowhere else:
//!
//! - **https**, unless the user named the host for plain http. A redirect never leaves https for http.
//! - At most ten redirects.
//! - A **secret** belongs to one scheme, host and port. It is dropped when a redirect changes any of them, and never printed.
//! - A stranger's host is not reached at **private addresses**, judged when the connection is made, unless the host that
//!   the user named is itself private, or the user named the stranger.
//!
//! HTTP/1.1 with kept-alive connections: measured against Go's registries, HTTP/2 costs 14 to 39 % more time.

mod clients;
mod error;
mod guard;
mod message;
mod range;
mod retry;

pub use error::{Error, Shown};
pub use message::{Answer, Payload, Request, Secret};
pub use range::Range;
pub use retry::{pause, retrying, wish};

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, LOCATION};
use reqwest::{Method, StatusCode};
use url::Url;

use clients::{Clients, Kind};

/// How many redirects are followed.
const MOST_REDIRECTS: usize = 10;
/// How long a server may think before it answers, once it has the whole request.
const ANSWER: Duration = Duration::from_secs(60);

/// The longest explanation of a refusal that is read.
const LARGEST_REFUSAL: u64 = 64 << 10;

/// What the user said about hosts and certificates. Hosts are `HOST` or `HOST:PORT`, in lower case.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Hosts that are spoken to without TLS.
    pub plain: BTreeSet<String>,
    /// Hosts whose certificates are not checked.
    pub insecure: BTreeSet<String>,
    /// Hosts that may be reached at private addresses, whoever refers to them.
    pub private: BTreeSet<String>,
    /// Further certificate authorities, in PEM.
    pub authorities: Vec<Vec<u8>>,
}

/// The client. Cloning shares connections.
#[derive(Clone, Debug)]
pub struct Http {
    settings: Arc<Settings>,
    clients: Arc<Clients>,
}

impl Http {
    /// Nothing is opened before the first request.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings: Arc::new(settings),
            clients: Arc::default(),
        }
    }

    /// The base URL of a host that the user named.
    ///
    /// # Errors
    /// Text that is no host.
    pub fn base(&self, host: &str) -> Result<Url, Error> {
        let scheme = if names(&self.settings.plain, host) {
            "http"
        } else {
            "https"
        };
        let url = Url::parse(&format!("{scheme}://{host}/")).ok();
        url.filter(|url| url.path() == "/" && url.username().is_empty())
            .ok_or_else(|| Error::Host {
                host: host.to_owned(),
            })
    }

    /// Sends a request once, and follows redirects of those that only ask.
    ///
    /// # Errors
    /// The network's, or a rule forbids where the request would go. An answer of any status is no error.
    pub async fn send(&self, request: Request) -> Result<Answer, Error> {
        let named = request.named.clone();
        let mut next = Some(request);
        let mut count = 0;
        while let Some(request) = next.take() {
            let kind = self.kind(&request.url, &named).await?;
            let (method, url, again) = (
                request.method.clone(),
                request.url.clone(),
                request.without_body(),
            );
            let answer = self.once(request, &kind).await?;
            let follows = method == Method::GET || method == Method::HEAD;
            let Some(target) = redirect(&answer).filter(|_| follows) else {
                return Ok(answer);
            };
            count += 1;
            if count > MOST_REDIRECTS {
                return Err(Error::Redirects { url: url.into() });
            }
            next = Some(again.towards(&url, target?));
        }
        Err(Error::Redirects { url: named.into() })
    }

    async fn once(&self, request: Request, kind: &Kind) -> Result<Answer, Error> {
        let url = request.url.clone();
        let client = self.clients.get(kind, &self.settings)?;
        let mut builder = client
            .request(request.method.clone(), url.clone())
            .headers(request.headers);
        if let Some(secret) = &request.secret {
            builder = builder.header(AUTHORIZATION, secret.header()?);
        }
        let whole = request.whole;
        let streams = matches!(request.payload, Some(Payload::Stream { .. }));
        if let Some(payload) = request.payload {
            builder = payload.attach(builder);
        }
        let failed = |source| Error::Transport {
            url: url.clone().into(),
            source,
        };
        let response = if streams {
            // How long a body takes is the network's affair; that it flows is watched where it is read.
            builder.send().await.map_err(failed)?
        } else {
            let silent = |_| Error::Silent {
                url: url.clone().into(),
                seconds: ANSWER.as_secs(),
            };
            tokio::time::timeout(ANSWER, builder.send())
                .await
                .map_err(silent)?
                .map_err(failed)?
        };
        let answer = Answer::new(response);
        match whole {
            Some(limit) if answer.status().is_success() => answer.read(limit).await,
            // What a refusal says decides whether it is one for good.
            _ if answer.status() == StatusCode::FORBIDDEN => answer.read(LARGEST_REFUSAL).await,
            _ => Ok(answer),
        }
    }

    /// Which connections a URL may use, given the host that the user named.
    async fn kind(&self, url: &Url, named: &Url) -> Result<Kind, Error> {
        let text = || url.clone().into();
        let host = authority(url).ok_or_else(|| Error::Url { url: text() })?;
        match url.scheme() {
            "https" => {}
            "http" if names(&self.settings.plain, &host) => {}
            _ => return Err(Error::Plain { url: text(), host }),
        }
        let insecure = names(&self.settings.insecure, &host);
        let known = url.host_str() == named.host_str() || names(&self.settings.private, &host);
        let guarded = !known && !guard::is_private_host(named).await;
        if guarded && guard::is_private_literal(url) {
            return Err(Error::Private { url: text(), host });
        }
        Ok(Kind { insecure, guarded })
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

/// Whether a set names a host, with its port or for every port.
fn names(set: &BTreeSet<String>, host: &str) -> bool {
    let bare = match host.rsplit_once(':') {
        Some((bare, port)) if port.bytes().all(|b| b.is_ascii_digit()) => bare,
        _ => host,
    };
    set.contains(host) || set.contains(bare)
}

fn redirect(answer: &Answer) -> Option<Result<Url, Error>> {
    let moved = [
        StatusCode::MOVED_PERMANENTLY,
        StatusCode::FOUND,
        StatusCode::SEE_OTHER,
        StatusCode::TEMPORARY_REDIRECT,
        StatusCode::PERMANENT_REDIRECT,
    ];
    if !moved.contains(&answer.status()) {
        return None;
    }
    let location = answer.header(LOCATION)?;
    Some(answer.url().join(&location).map_err(|_| Error::Url {
        url: location.as_str().into(),
    }))
}
