//! Authorizes requests, by files that are read again when they change: the certificate, the tokens and the signing keys of links.
//!
//! A file of tokens has one on each line: a name, the SHA-256 of the token, and optionally patterns of the providers that the token is for.
//!
//! ```text
//! ci    sha256:5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8
//! team  sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08  registry.acme.test/platform/*
//! ```

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use hyper::StatusCode;
use hyper::header::WWW_AUTHENTICATE;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use subtle::ConstantTimeEq as _;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use super::answer::{self, Response};
use super::error::{Error, FileError, MOST_TOKENS};
use super::links::Links;
use super::notice::Denied;
use super::path::{File, Route, Target, What};
use super::settings::{AccessFiles, TlsFiles};
use super::watched_files::{Reader, WatchedFiles, lines};
use crate::address::{ProviderAddr, ProviderPattern};
use crate::digest::Digest;
use crate::error::printable;

/// The tokens and signing keys in use.
pub(super) struct AccessControl {
    tokens: watch::Receiver<Arc<Vec<ClientToken>>>,
    links: watch::Receiver<Arc<Links>>,
}

/// TLS with the certificate that was read last; `None` before one is read.
pub(super) type Tls = watch::Receiver<Option<TlsAcceptor>>;

/// The answer to a request that is not authorized. It repeats no part of the request.
pub(super) fn denied(reason: Denied) -> Response {
    let status = StatusCode::UNAUTHORIZED;
    let unauthorized = |message| answer::with(status, message, WWW_AUTHENTICATE, "Bearer");
    let forbidden = |message| answer::text(StatusCode::FORBIDDEN, message);
    match reason {
        Denied::NoToken => {
            unauthorized("this server needs a token\n  expected Authorization: Bearer TOKEN")
        }
        Denied::UnknownToken => {
            unauthorized("the token of this request is not known to this server")
        }
        Denied::OtherProvider => forbidden("the token is not for this provider"),
        Denied::Link => forbidden("this link has expired, or was not made by this server"),
    }
}

/// TLS with a certificate that is read again when its files change.
///
/// # Errors
/// A file cannot be used.
pub(super) fn tls(paths: &TlsFiles, files: &mut Vec<WatchedFiles>) -> Result<Tls, Error> {
    let (current, tls) = watch::channel(None);
    let TlsFiles { certificate, key } = paths.clone();
    let read = move |reader: &mut Reader| {
        let (chain, secret) = (reader.read(&certificate)?, reader.read(&key)?);
        let unusable = |what, path: &Path| FileError::Unusable { what }.of(path);
        let chain = CertificateDer::pem_slice_iter(&chain).collect::<Result<Vec<_>, _>>();
        let chain = chain.ok().filter(|chain| !chain.is_empty());
        let chain = chain.ok_or_else(|| unusable("certificate", &certificate))?;
        config(chain, &secret).ok_or_else(|| unusable("private key of the certificate", &key))
    };
    let apply = move |config: ServerConfig| {
        current.send_replace(Some(TlsAcceptor::from(Arc::new(config))));
    };
    files.push(WatchedFiles::start(&paths.certificate, read, apply)?);
    Ok(tls)
}

impl AccessControl {
    /// Reads the tokens and signing keys, which are read again when their files change.
    ///
    /// # Errors
    /// A file cannot be used.
    pub(super) fn open(paths: &AccessFiles, files: &mut Vec<WatchedFiles>) -> Result<Self, Error> {
        let AccessFiles {
            tokens: path,
            signing_key,
            lifetime,
        } = paths.clone();
        let (current, tokens) = watch::channel(Arc::<Vec<ClientToken>>::default());
        let read = move |reader: &mut Reader| reader.parse(&path, ClientToken::parse);
        let apply = move |new| _ = current.send_replace(Arc::new(new));
        files.push(WatchedFiles::start(&paths.tokens, read, apply)?);
        if tokens.borrow().is_empty() {
            return Err(FileError::tokens(1).of(&paths.tokens));
        }
        let own = Links::of_this_process(lifetime).ok_or(Error::NoRandom)?;
        let (current, links) = watch::channel(Arc::new(own));
        if let Some(path) = signing_key {
            let of_keys = path.clone();
            let read = move |reader: &mut Reader| {
                reader.parse(&of_keys, |text| Links::parse(text, lifetime))
            };
            let apply = move |new| _ = current.send_replace(Arc::new(new));
            files.push(WatchedFiles::start(&path, read, apply)?);
        }
        Ok(Self { tokens, links })
    }

    pub(super) fn tokens(&self) -> Arc<Vec<ClientToken>> {
        self.tokens.borrow().clone()
    }

    pub(super) fn links(&self) -> Arc<Links> {
        self.links.borrow().clone()
    }

    /// Authorizes a request by its link or token. Returns the remaining lifetime of the link, if it has one. A missing token is reported before
    /// an unknown path, so that the answer does not reveal what the server has.
    pub(super) fn authorize(
        &self,
        target: &Target<'_>,
        token: Option<&ClientToken>,
        header: &str,
    ) -> Result<Option<Duration>, Denied> {
        let route = target.route.as_ref();
        if let Some(signature) = target.signature {
            // A link is for a file. It covers the host of the provider, if the path does not name it.
            let host = match route {
                Some(Route::Provider(provider, What::Version(_, File::Named(_)))) => {
                    Some(provider.hostname().as_ascii())
                }
                Some(Route::Provider(_, What::Version(_, File::MirrorPackage(_)))) => Some(""),
                _ => None,
            };
            let (links, now) = (self.links(), SystemTime::now());
            let left = host.and_then(|host| links.remaining(signature, host, target.path, now));
            return left.map(Some).ok_or(Denied::Link);
        }
        match (route, token) {
            (Some(Route::Provider(provider, _)), Some(token)) if !token.is_for(provider) => {
                Err(Denied::OtherProvider)
            }
            (Some(Route::Provider(..)) | None, None) => Err(match secret(header) {
                Some("") | None => Denied::NoToken,
                Some(_) => Denied::UnknownToken,
            }),
            // A known token, or a path that names no provider. Clients and probes send no token for such a path, and the page about the server then
            // lists no provider.
            _ => Ok(None),
        }
    }
}

/// The configuration of TLS with a certificate and its key; `None` if the key cannot be used with it.
fn config(chain: Vec<CertificateDer<'static>>, key: &[u8]) -> Option<ServerConfig> {
    let key = PrivateKeyDer::from_pem_slice(key).ok()?;
    let provider = Arc::new(ring::default_provider());
    let config =
        ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.ok()?.with_no_client_auth();
    let mut config = config.with_single_cert(chain, key).ok()?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Some(config)
}

/// The longest token that is hashed, in bytes. It bounds the work for a request.
const LONGEST: usize = 4 << 10;

/// A token. Only its hash is known.
#[derive(Debug)]
pub struct ClientToken {
    /// The name of the client, for the log.
    pub name: String,
    digest: Digest,
    /// The providers that the token is for; empty for all.
    patterns: Vec<ProviderPattern>,
}

impl ClientToken {
    /// Reads a file of tokens. Blank lines and lines that begin with `#` are skipped.
    ///
    /// # Errors
    /// A line is not a token, or there are too many.
    pub(super) fn parse(text: &str) -> Result<Vec<Self>, FileError> {
        let tokens = lines(text).map(|(line, text)| {
            let mut words = text.split_whitespace();
            let name = printable(words.next().unwrap_or_default());
            let digest = words.next().and_then(|text| text.parse::<Digest>().ok());
            let digest = digest.ok_or(FileError::tokens(line))?;
            let patterns = words.map(str::parse).collect::<Result<_, _>>();
            let patterns = patterns.map_err(|source| FileError::Pattern { line, source })?;
            Ok(ClientToken {
                name,
                digest,
                patterns,
            })
        });
        let tokens: Vec<_> = tokens.collect::<Result<_, FileError>>()?;
        match tokens.len() {
            ..=MOST_TOKENS => Ok(tokens),
            _ => Err(FileError::tokens(1)),
        }
    }

    /// Finds the token of an `Authorization` header. Every token is compared, in constant time.
    pub(super) fn find<'t>(tokens: &'t [Self], header: &str) -> Option<&'t Self> {
        let secret = secret(header).filter(|secret| secret.len() <= LONGEST)?;
        let given = Digest::of(secret.as_bytes());
        let mut found = None;
        for token in tokens {
            let is_same = token.digest.hex().as_bytes().ct_eq(given.hex().as_bytes());
            if bool::from(is_same) {
                found = found.or(Some(token));
            }
        }
        found
    }

    /// A token without patterns is for every provider.
    pub(super) fn is_for(&self, provider: &ProviderAddr) -> bool {
        let mut patterns = self.patterns.iter();
        self.patterns.is_empty() || patterns.any(|pattern| pattern.matches(provider))
    }
}

/// The token of an `Authorization` header.
fn secret(header: &str) -> Option<&str> {
    let (scheme, secret) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_for_the_providers_of_its_line() {
        let hex = Digest::of(b"secret").hex().to_owned();
        let text = format!("# people\n\nci sha256:{hex}  registry.acme.test/acme/*\n");
        let tokens = ClientToken::parse(&text).unwrap();
        let token = ClientToken::find(&tokens, "Bearer secret").unwrap();
        assert_eq!(token.name, "ci");
        assert!(token.is_for(&"registry.acme.test/acme/demo".parse().unwrap()));
        assert!(!token.is_for(&"registry.acme.test/other/demo".parse().unwrap()));
        assert!(ClientToken::find(&tokens, "bearer secret").is_some());
        // The hash of a token is not a token.
        for other in [
            "Bearer other",
            "Basic secret",
            "secret",
            "",
            &format!("Bearer {hex}"),
            &format!("Bearer sha256:{hex}"),
        ] {
            assert!(ClientToken::find(&tokens, other).is_none(), "{other}");
        }
    }

    #[test]
    fn a_wrong_line_is_named() {
        for text in [
            "x\nci",
            "x\nci secret",
            "x\nci sha512:00",
            "x\nci sha256:00",
        ] {
            let text = text.replacen('x', "# comment", 1);
            let error = ClientToken::parse(&text).err();
            assert_eq!(error, Some(FileError::tokens(2)), "{text}");
        }
        let text = format!("ci sha256:{} a/b/c/d", Digest::of(b"").hex());
        assert!(matches!(
            ClientToken::parse(&text),
            Err(FileError::Pattern { line: 1, .. })
        ));
    }
}
