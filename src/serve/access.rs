//! Authorizes requests, by files that are read again when they change: the certificate, the tokens and the signing keys of links.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use hyper::StatusCode;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use zeroize::Zeroizing;

use super::answer::{self, Response};
use super::error::Error;
use super::links::{self, Links};
use super::notice::{Denied, Notice, Observer};
use super::path::Route;
use super::settings::{AccessFiles, TlsFiles};
use super::tls::{self, ServerCertificate};
use super::tokens::{self, ClientToken, ClientTokens};
use super::watched_files::{Reader, WatchedFiles};
use crate::error::printable_path;
use crate::text;

/// The log warns of a certificate that expires within this time. Programs that renew certificates of 90 days do so earlier.
const EXPIRES_SOON: Duration = Duration::from_secs(14 * 24 * 60 * 60);

/// The tokens and signing keys in use.
pub(super) struct AccessControl {
    tokens: watch::Sender<Arc<ClientTokens>>,
    links: watch::Sender<Arc<Links>>,
}

/// The answer to a request that is not authorized. It repeats no part of the request.
pub(super) fn denied(reason: Denied) -> Response {
    match reason {
        Denied::NoToken => answer::unauthorized(
            "this server needs a token\n  expected Authorization: Bearer TOKEN",
        ),
        Denied::UnknownToken => {
            answer::unauthorized("the token of this request is not known to this server")
        }
        Denied::OtherProvider => {
            answer::text(StatusCode::FORBIDDEN, "the token is not for this provider")
        }
        Denied::Link => answer::text(
            StatusCode::FORBIDDEN,
            "this link has expired, or was not made by this server",
        ),
    }
}

/// The reason why a request without a link is not authorized; `None` if it is. A missing token is reported before an unknown path, so that
/// the answer does not reveal what the server has.
pub(super) fn refusal(
    route: Option<&Route>,
    token: Option<&ClientToken>,
    is_bearer: bool,
) -> Option<Denied> {
    let is_open = matches!(
        route,
        Some(Route::Home | Route::Health | Route::Ready | Route::Metrics | Route::Discovery)
    );
    if is_open {
        return None;
    }
    let Some(token) = token else {
        return Some(match is_bearer {
            true => Denied::UnknownToken,
            false => Denied::NoToken,
        });
    };
    let provider = route?.provider();
    let is_for = provider.is_none_or(|provider| token.is_for(provider));
    (!is_for).then_some(Denied::OtherProvider)
}

/// TLS with a certificate that is read again when its files change.
///
/// # Errors
/// A file cannot be used.
pub(super) fn acceptor(
    paths: &TlsFiles,
    host: Option<String>,
    observer: &Arc<dyn Observer>,
    files: &mut Vec<WatchedFiles>,
) -> Result<TlsAcceptor, Error> {
    let TlsFiles { certificate, key } = paths.clone();
    let (pair, observer) = (ServerCertificate::none(), observer.clone());
    let failed = move |source| match source {
        tls::Error::NoKey | tls::Error::NoPair => Error::Tls {
            path: key.clone(),
            source,
        },
        _ => Error::Tls {
            path: certificate.clone(),
            source,
        },
    };
    let config = pair.config().map_err(&failed)?;
    let TlsFiles { certificate, key } = paths.clone();
    let path = certificate.clone();
    let read = move |reader: &mut Reader| Ok((reader.read(&certificate)?, reader.read(&key)?));
    let watched = WatchedFiles::start(path.clone(), false, read, move |(chain, key)| {
        pair.replace(&chain, &key).map_err(&failed)?;
        let path = printable_path(&path);
        if let Some(host) = &host
            && !pair.is_for(host)
        {
            let text = format!(
                "{path} does not name {host}, the host of --url: clients will refuse to connect"
            );
            observer.notice(Notice::warning("certificate-names", "Warning", text));
        }
        let now = SystemTime::now();
        if let Some(end) = pair.expires_before(now + EXPIRES_SOON) {
            let end_text = httpdate::fmt_http_date(end);
            let text = match end < now {
                true => format!(
                    "the certificate in {path} expired on {end_text}: clients refuse to connect"
                ),
                false => format!(
                    "the certificate in {path} expires on {end_text}: clients will then refuse to connect"
                ),
            };
            observer.notice(Notice::warning("certificate-expires", "Warning", text));
        }
        Ok(())
    });
    files.push(watched?);
    Ok(TlsAcceptor::from(config))
}

impl AccessControl {
    /// Reads the tokens and signing keys, which are read again when their files change.
    ///
    /// # Errors
    /// A file cannot be used.
    pub(super) fn open(
        paths: &AccessFiles,
        observer: &Arc<dyn Observer>,
        files: &mut Vec<WatchedFiles>,
    ) -> Result<Arc<Self>, Error> {
        let lifetime = paths.lifetime;
        let access = Arc::new(Self {
            tokens: watch::Sender::new(Arc::default()),
            links: watch::Sender::new(Arc::new(
                Links::of_this_process(lifetime).ok_or(Error::Random)?,
            )),
        });
        let (shared, observer) = (access.clone(), observer.clone());
        let (path, of_file) = (paths.tokens.clone(), paths.tokens.clone());
        let read = move |reader: &mut Reader| tokens_of(&path, &reader.read(&path)?);
        let watched = WatchedFiles::start(of_file.clone(), false, read, move |tokens| {
            // An empty file is valid later: the operator has revoked the last token. But perhaps it was emptied by mistake.
            if tokens.is_empty() && shared.tokens().is_empty() {
                let (path, source) = (of_file.clone(), tokens::Error::Empty);
                return Err(Error::Tokens { path, source });
            }
            if tokens.is_empty() {
                let path = printable_path(&of_file);
                let text = format!("{path} has no token: every client is refused");
                observer.notice(Notice::warning("no-tokens", "Warning", text));
            }
            shared.tokens.send_replace(Arc::new(tokens));
            Ok(())
        });
        files.push(watched?);
        if let Some(path) = paths.signing_key.clone() {
            let (shared, of_file) = (access.clone(), path.clone());
            let read = move |reader: &mut Reader| keys_of(&path, &reader.read(&path)?, lifetime);
            let watched = WatchedFiles::start(of_file, false, read, move |links| {
                shared.links.send_replace(Arc::new(links));
                Ok(())
            });
            files.push(watched?);
        }
        Ok(access)
    }

    pub(super) fn tokens(&self) -> Arc<ClientTokens> {
        self.tokens.borrow().clone()
    }

    pub(super) fn links(&self) -> Arc<Links> {
        self.links.borrow().clone()
    }
}

fn tokens_of(path: &Path, content: &Zeroizing<Vec<u8>>) -> Result<ClientTokens, Error> {
    let text = text::decode(content).map_err(tokens::Error::Text);
    text.and_then(ClientTokens::parse)
        .map_err(|source| Error::Tokens {
            path: path.to_owned(),
            source,
        })
}

fn keys_of(path: &Path, content: &Zeroizing<Vec<u8>>, lifetime: Duration) -> Result<Links, Error> {
    let links = Links::parse(&String::from_utf8_lossy(content), lifetime);
    links.map_err(|source: links::KeyError| Error::Keys {
        path: path.to_owned(),
        source,
    })
}
