//! Who may ask, and the files that say so: certificate, tokens and keys of links. Each is read again when it changes.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

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
use super::tls::ServerCertificate;
use super::tokens::{self, ClientToken, ClientTokens};
use super::watched_files::{self, WatchedFiles};
use crate::text;

/// Who may ask.
pub(super) struct AccessControl {
    pub(super) tokens: ArcSwap<ClientTokens>,
    pub(super) links: ArcSwap<Links>,
}

/// The answer to a request that may not ask. It repeats nothing of what the request contained.
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

/// Why a request without a link may not ask; `None` if it may. A missing token is told before a missing file.
pub(super) fn refusal(
    route: Option<&Route>,
    token: Option<&ClientToken>,
    is_bearer: bool,
) -> Option<Denied> {
    let needs_none = matches!(
        route,
        Some(Route::Home | Route::Health | Route::Ready | Route::Metrics | Route::Discovery)
    );
    if needs_none {
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
        | Route::ProviderPage(provider) => Some(provider),
        _ => None,
    };
    let is_for = provider.is_none_or(|provider| token.opens(provider));
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
    let wrong = |source| Error::Tls {
        path: paths.certificate.clone(),
        source,
    };
    let contents = [
        watched_files::read(&paths.certificate)?,
        watched_files::read(&paths.key)?,
    ];
    let [chain, key] = &contents;
    let certificate = ServerCertificate::new(chain, key).map_err(wrong)?;
    let config = certificate.config().map_err(wrong)?;
    let (path, observer) = (paths.certificate.clone(), observer.clone());
    let look_at_names = move |certificate: &ServerCertificate| {
        if let Some(host) = &host
            && !certificate.is_for(host)
        {
            let path = &path;
            observer.notice(&Notice::OtherNames { path, host });
        }
    };
    look_at_names(&certificate);
    let watched = vec![paths.certificate.clone(), paths.key.clone()];
    files.push(WatchedFiles::new(watched, &contents, move |contents| {
        let [chain, key] = contents else {
            return Ok(());
        };
        certificate
            .replace(chain, key)
            .map_err(|error| error.to_string())?;
        look_at_names(&certificate);
        Ok(())
    }));
    Ok(TlsAcceptor::from(config))
}

/// The tokens and the keys of links, which are read again when their files change.
///
/// # Errors
/// A file cannot be used.
pub(super) fn access(
    paths: &AccessFiles,
    files: &mut Vec<WatchedFiles>,
) -> Result<Arc<AccessControl>, Error> {
    let content = watched_files::read(&paths.tokens)?;
    let tokens = tokens_of(&content)
        .and_then(|tokens| match tokens.is_empty() {
            true => Err(tokens::Error::Empty),
            false => Ok(tokens),
        })
        .map_err(|source| Error::Tokens {
            path: paths.tokens.clone(),
            source,
        })?;
    let links = match &paths.signing_key {
        None => Links::of_this_process(paths.lifetime),
        Some(path) => keys_of(&watched_files::read(path)?, paths.lifetime),
    };
    let shown = paths
        .signing_key
        .as_deref()
        .unwrap_or(Path::new("the system"));
    let links = links.map_err(|source| Error::Keys {
        path: shown.to_owned(),
        source,
    })?;
    let access = Arc::new(AccessControl {
        tokens: ArcSwap::from_pointee(tokens),
        links: ArcSwap::from_pointee(links),
    });
    let shared = access.clone();
    files.push(WatchedFiles::new(
        vec![paths.tokens.clone()],
        &[content],
        move |contents| {
            let Some(content) = contents.first() else {
                return Ok(());
            };
            // Who removes the last token revokes it.
            let tokens = tokens_of(content).map_err(|error| error.to_string())?;
            shared.tokens.store(Arc::new(tokens));
            Ok(())
        },
    ));
    if let Some(path) = &paths.signing_key {
        let (shared, lifetime) = (access.clone(), paths.lifetime);
        let content = watched_files::read(path)?;
        files.push(WatchedFiles::new(
            vec![path.clone()],
            &[content],
            move |contents| {
                let Some(content) = contents.first() else {
                    return Ok(());
                };
                let links = keys_of(content, lifetime).map_err(|error| error.to_string())?;
                shared.links.store(Arc::new(links));
                Ok(())
            },
        ));
    }
    Ok(access)
}

fn tokens_of(content: &Zeroizing<Vec<u8>>) -> Result<ClientTokens, tokens::Error> {
    ClientTokens::parse(text::decode(content).map_err(tokens::Error::Text)?)
}

fn keys_of(content: &Zeroizing<Vec<u8>>, lifetime: Duration) -> Result<Links, links::KeyError> {
    Links::parse(&String::from_utf8_lossy(content), lifetime)
}
