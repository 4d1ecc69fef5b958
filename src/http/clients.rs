//! Connections, by what may be done with them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::{Certificate, Client, Identity, redirect};
use rustls::RootCertStore;

use super::guard::Guard;
use super::{Error, Pem, Settings};

/// How long an idle connection is kept.
const IDLE: Duration = Duration::from_secs(60);

/// What a connection may do, and to whom.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Kind {
    /// How far the server is believed to be who it says it is.
    pub(super) trust: Trust,
    /// Private addresses are not reached.
    pub(super) guarded: bool,
    /// The host that is shown a client certificate. Nobody else gets such a connection.
    pub(super) identity: Option<String>,
}

/// How far a server is believed to be who it says it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Trust {
    /// Its certificate is by somebody whom this machine, or the user, trusts.
    Authorities,
    /// Certificates are not checked.
    Anybody,
    /// There is no TLS.
    Plain,
}

/// One client for each kind, built on first use: reading the system's certificates takes time.
#[derive(Debug, Default)]
pub(super) struct Clients(Mutex<HashMap<Kind, Client>>);

impl Clients {
    pub(super) fn get(&self, kind: &Kind, settings: &Settings) -> Result<Client, Error> {
        let mut clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(kind) {
            return Ok(client.clone());
        }
        let client = build(kind, settings)?;
        clients.insert(kind.clone(), client.clone());
        Ok(client)
    }
}

fn build(kind: &Kind, settings: &Settings) -> Result<Client, Error> {
    let certificates = match kind.trust {
        Trust::Authorities => certificates(settings)?,
        Trust::Anybody | Trust::Plain => Vec::new(),
    };
    let mut builder = Client::builder()
        .user_agent(concat!("tfoci/", env!("CARGO_PKG_VERSION")))
        .http1_only()
        .connect_timeout(settings.timeouts.connect)
        .pool_idle_timeout(IDLE)
        .redirect(redirect::Policy::none())
        .tls_certs_only(certificates);
    if kind.trust == Trust::Anybody {
        builder = builder.danger_accept_invalid_certs(true);
    }
    if kind.guarded {
        let proxies = settings.proxies.clone();
        builder = builder.dns_resolver(Arc::new(Guard { proxies }));
    }
    let shown = kind.identity.as_ref();
    let Some(pem) = shown.and_then(|host| settings.identities.get(host)) else {
        return builder.build().map_err(|source| Error::Client { source });
    };
    let failed = |source| Error::Identity {
        name: pem.name.clone(),
        source,
    };
    let identity = Identity::from_pem(&pem.bytes).map_err(failed)?;
    // Whether the key is that of the certificate is found here.
    builder.identity(identity).build().map_err(failed)
}

/// The system's authorities, or those of `SSL_CERT_FILE` and `SSL_CERT_DIR`, and what the user gave.
fn certificates(settings: &Settings) -> Result<Vec<Certificate>, Error> {
    let mut certificates = Vec::new();
    for authority in &settings.authorities {
        certificates.extend(read(authority)?);
    }
    let native = rustls_native_certs::load_native_certs();
    // One certificate of the system that cannot be read must not take the others with it.
    let sound = native
        .certs
        .into_iter()
        .filter(|der| RootCertStore::empty().add(der.clone()).is_ok());
    certificates.extend(sound.filter_map(|der| Certificate::from_der(&der).ok()));
    if certificates.is_empty() {
        return Err(Error::NoAuthorities {
            source: native.errors.into_iter().next(),
        });
    }
    Ok(certificates)
}

fn read(authority: &Pem) -> Result<Vec<Certificate>, Error> {
    let name = || authority.name.clone();
    let failed = |source| Error::Authority {
        name: name(),
        source,
    };
    let read = Certificate::from_pem_bundle(&authority.bytes).map_err(failed)?;
    if read.is_empty() {
        return Err(Error::NoCertificates { name: name() });
    }
    // What is in the PEM is looked at only when a client is made of it.
    Client::builder()
        .tls_certs_only(read.iter().cloned())
        .build()
        .map_err(failed)?;
    Ok(read)
}
