//! Authorizes requests, by files that are read again when they change: the certificate, the tokens and the signing keys of links.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwap;
use axum::http::StatusCode;
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
use super::watched_files::{self, WatchedFiles};
use crate::text;

/// The log warns of a certificate that expires within this time. Programs that renew certificates of 90 days do so earlier.
const EXPIRES_SOON: Duration = Duration::from_secs(14 * 24 * 60 * 60);

/// The tokens and signing keys in use.
pub(super) struct AccessControl {
    pub(super) tokens: ArcSwap<ClientTokens>,
    pub(super) links: ArcSwap<Links>,
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
    let provider = match route? {
        Route::NetworkMirrorIndex(provider)
        | Route::NetworkMirrorVersion(provider, _)
        | Route::NetworkMirrorPackage(provider, _)
        | Route::ProviderPage(provider)
        | Route::ProviderPageDirectory(provider) => Some(provider),
        _ => None,
    };
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
    let failed = move |source: tls::Error| match source {
        tls::Error::NoKey | tls::Error::NoPair => Error::TlsKey {
            key: key.clone(),
            certificate: certificate.clone(),
            source,
        },
        tls::Error::NoCertificate | tls::Error::Unusable => Error::Tls {
            path: certificate.clone(),
            source,
        },
    };
    let contents = [
        watched_files::read(&paths.certificate)?,
        watched_files::read(&paths.key)?,
    ];
    let [chain, key] = &contents;
    let certificate = ServerCertificate::new(chain, key).map_err(&failed)?;
    let config = certificate.config().map_err(&failed)?;
    let (path, observer) = (paths.certificate.clone(), observer.clone());
    let check = move |certificate: &ServerCertificate| {
        let path = &path;
        if let Some(host) = &host
            && !certificate.is_for(host)
        {
            observer.notice(&Notice::OtherNames { path, host });
        }
        let now = SystemTime::now();
        if let Some(end) = certificate.expires_before(now + EXPIRES_SOON) {
            let is_past = end < now;
            observer.notice(&Notice::Expires { path, end, is_past });
        }
    };
    check(&certificate);
    let watched = vec![paths.certificate.clone(), paths.key.clone()];
    files.push(WatchedFiles::new(watched, &contents, move |contents| {
        let [chain, key] = contents else {
            return Ok(());
        };
        certificate.replace(chain, key).map_err(&failed)?;
        check(&certificate);
        Ok(())
    }));
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
        let token_file = watched_files::read(&paths.tokens)?;
        let tokens = tokens_of(&paths.tokens, &token_file)?;
        if tokens.is_empty() {
            return Err(Error::Tokens {
                path: paths.tokens.clone(),
                source: tokens::Error::Empty,
            });
        }
        let key_file = paths.signing_key.as_deref();
        let key_file = key_file
            .map(|path| watched_files::read(path).map(|content| (path.to_owned(), content)))
            .transpose()?;
        let links = match &key_file {
            Some((path, content)) => keys_of(path, content, paths.lifetime)?,
            None => Links::of_this_process(paths.lifetime).ok_or(Error::Random)?,
        };
        let access = Arc::new(Self {
            tokens: ArcSwap::from_pointee(tokens),
            links: ArcSwap::from_pointee(links),
        });
        let (shared, path, observer) = (access.clone(), paths.tokens.clone(), observer.clone());
        files.push(WatchedFiles::single(
            path.clone(),
            token_file,
            move |content| {
                // A file without tokens is valid now: the operator has revoked the last one. But perhaps it was emptied by mistake.
                let tokens = tokens_of(&path, content)?;
                if tokens.is_empty() {
                    observer.notice(&Notice::NoTokens { path: &path });
                }
                shared.tokens.store(Arc::new(tokens));
                Ok(())
            },
        ));
        if let Some((path, content)) = key_file {
            let (shared, lifetime) = (access.clone(), paths.lifetime);
            files.push(WatchedFiles::single(
                path.clone(),
                content,
                move |content| {
                    let links = keys_of(&path, content, lifetime)?;
                    shared.links.store(Arc::new(links));
                    Ok(())
                },
            ));
        }
        Ok(access)
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
