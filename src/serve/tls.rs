//! TLS: the certificate, which is read again when its files change.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::{ClientHello, ParsedCertificate, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{CertificateError, RootCertStore, ServerConfig};
use tokio::sync::watch;

/// A certificate or private key that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Certificates in DER are not read, and a single damaged one makes the file unusable.
    #[error("the file has no certificate in PEM")]
    NoCertificate,
    /// Keys in DER and encrypted keys are not read.
    #[error("the file has no private key in PEM")]
    NoKey,
    /// The certificate is for another key, or the kind of key is not supported.
    #[error("the certificate and the private key do not fit together")]
    NoPair,
    /// TLS cannot be configured.
    #[error("TLS cannot be used")]
    Unusable,
}

/// The current certificate; `None` before it is read.
#[derive(Debug)]
pub(super) struct ServerCertificate(watch::Sender<Option<Arc<CertifiedKey>>>);

impl ServerCertificate {
    /// No certificate.
    pub(super) fn none() -> Arc<Self> {
        Arc::new(Self(watch::Sender::new(None)))
    }

    /// Reads a chain of certificates and a private key, each in PEM, and uses them for new connections.
    ///
    /// # Errors
    /// One of them is missing, or they do not belong together. The old certificate then stays in use.
    pub(super) fn replace(&self, chain: &[u8], key: &[u8]) -> Result<(), Error> {
        self.0.send_replace(Some(Arc::new(pair(chain, key)?)));
        Ok(())
    }

    /// Whether the certificate names a host. This is also true for a text that is not a host.
    pub(super) fn is_for(&self, host: &str) -> bool {
        let pair = self.0.borrow().clone();
        let own = pair.as_ref().and_then(|pair| pair.cert.first());
        let (Some(own), Ok(name)) = (own, ServerName::try_from(host)) else {
            return true;
        };
        let parsed = ParsedCertificate::try_from(own);
        parsed.is_ok_and(|parsed| verify_server_name(&parsed, &name).is_ok())
    }

    /// When the certificate expires, if that is before `time`.
    pub(super) fn expires_before(&self, time: SystemTime) -> Option<SystemTime> {
        let pair = self.0.borrow().clone()?;
        let parsed = ParsedCertificate::try_from(pair.cert.first()?).ok()?;
        let time = UnixTime::since_unix_epoch(time.duration_since(UNIX_EPOCH).ok()?);
        // rustls compares the dates before it looks for an authority, so none is needed.
        let (roots, intermediates) = (RootCertStore::empty(), []);
        let verified =
            verify_server_cert_signed_by_trust_anchor(&parsed, &roots, &intermediates, time, &[]);
        match verified {
            Err(rustls::Error::InvalidCertificate(CertificateError::ExpiredContext {
                not_after,
                ..
            })) => Some(UNIX_EPOCH + Duration::from_secs(not_after.as_secs())),
            _ => None,
        }
    }

    /// The configuration of TLS for HTTP/1.1.
    ///
    /// # Errors
    /// rustls refuses its own defaults.
    pub(super) fn config(self: &Arc<Self>) -> Result<Arc<ServerConfig>, Error> {
        let provider = Arc::new(ring::default_provider());
        let config =
            ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.map_err(|_| Error::Unusable)?;
        let mut config = config
            .with_no_client_auth()
            .with_cert_resolver(self.clone());
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}

impl ResolvesServerCert for ServerCertificate {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.0.borrow().clone()
    }
}

fn pair(chain: &[u8], key: &[u8]) -> Result<CertifiedKey, Error> {
    let chain = CertificateDer::pem_slice_iter(chain).collect::<Result<Vec<_>, _>>();
    let chain = chain
        .ok()
        .filter(|chain| !chain.is_empty())
        .ok_or(Error::NoCertificate)?;
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| Error::NoKey)?;
    let key = ring::sign::any_supported_type(&key).map_err(|_| Error::NoPair)?;
    let pair = CertifiedKey::new(chain, key);
    // rustls cannot compare keys of every kind. Such a pair is accepted, as rustls itself does.
    match pair.keys_match() {
        Ok(()) | Err(rustls::Error::InconsistentKeys(rustls::InconsistentKeys::Unknown)) => {
            Ok(pair)
        }
        Err(_) => Err(Error::NoPair),
    }
}
