//! Connections, by what may be done with them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::{Certificate, Client, redirect};

use super::guard::Guard;
use super::{Error, Settings};

/// How long a connection may take to open.
const CONNECT: Duration = Duration::from_secs(15);
/// How long an idle connection is kept.
const IDLE: Duration = Duration::from_secs(60);

/// What a connection may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Kind {
    /// Certificates are not checked.
    pub(super) insecure: bool,
    /// Private addresses are not reached.
    pub(super) guarded: bool,
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
        let client = build(*kind, settings)?;
        clients.insert(*kind, client.clone());
        Ok(client)
    }
}

fn build(kind: Kind, settings: &Settings) -> Result<Client, Error> {
    let mut builder = Client::builder()
        .user_agent(concat!("tfoci/", env!("CARGO_PKG_VERSION")))
        .http1_only()
        .connect_timeout(CONNECT)
        .pool_idle_timeout(IDLE)
        .redirect(redirect::Policy::none())
        .tls_certs_only(certificates(settings)?);
    if kind.insecure {
        builder = builder.danger_accept_invalid_certs(true);
    }
    if kind.guarded {
        builder = builder.dns_resolver(Arc::new(Guard));
    }
    builder.build().map_err(|source| Error::Client { source })
}

/// The system's authorities, or those of `SSL_CERT_FILE` and `SSL_CERT_DIR`, and what the user gave.
fn certificates(settings: &Settings) -> Result<Vec<Certificate>, Error> {
    let mut certificates = Vec::new();
    for pem in &settings.authorities {
        let read =
            Certificate::from_pem_bundle(pem).map_err(|source| Error::Authority { source })?;
        certificates.extend(read);
    }
    // One certificate of the system that cannot be read must not take the others with it.
    let native = rustls_native_certs::load_native_certs().certs;
    certificates.extend(
        native
            .iter()
            .filter_map(|der| Certificate::from_der(der).ok()),
    );
    if certificates.is_empty() {
        Err(Error::NoAuthorities)
    } else {
        Ok(certificates)
    }
}
