//! HTTP clients, one for each kind of connection.

use crate::jobs::locked;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::{Certificate, Client, Identity, redirect};
use rustls::RootCertStore;
use rustls::crypto::ring;

use super::guard::Guard;
use super::resolver::{Resolved, Resolver};
use super::{Error, Pem, Settings};

/// The time for which an idle connection is kept. Many servers close theirs after about this time, so a longer one would reuse dead
/// connections.
const IDLE: Duration = Duration::from_secs(60);

/// A kind of connection. Requests of different kinds share none.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ConnectionKind {
    /// How the server's certificate is checked.
    pub(super) trust: Trust,
    /// The addresses that are accepted.
    pub(super) guard: Guard,
    /// The host that receives a client certificate; `None` if the user configured none for it.
    pub(super) identity: Option<String>,
}

/// How a server's certificate is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Trust {
    /// Against the authorities that the system or the user trusts.
    Authorities,
    /// Not at all.
    Unchecked,
    /// Plain http, without certificates.
    Plain,
}

/// One client for each kind, built on first use: reading the system's certificates takes time.
#[derive(Debug)]
pub(super) struct Clients {
    all: Mutex<HashMap<ConnectionKind, Client>>,
    resolved: Arc<Resolved>,
}

impl Clients {
    /// No clients yet. `resolved` learns the addresses of the names that they resolve.
    pub(super) fn new(resolved: Arc<Resolved>) -> Self {
        Self {
            all: Mutex::default(),
            resolved,
        }
    }

    pub(super) fn get(&self, kind: &ConnectionKind, settings: &Settings) -> Result<Client, Error> {
        let mut clients = locked(&self.all);
        if let Some(client) = clients.get(kind) {
            return Ok(client.clone());
        }
        let client = build(kind, settings, &self.resolved)?;
        clients.insert(kind.clone(), client.clone());
        Ok(client)
    }
}

fn build(
    kind: &ConnectionKind,
    settings: &Settings,
    resolved: &Arc<Resolved>,
) -> Result<Client, Error> {
    // A process has one provider of cryptography for TLS: if there is one already, that is fine. The other candidate, AWS-LC, tests itself
    // at the first connection, which takes 40 ms of CPU: four times as much as all the rest of a short command.
    let _installed_before = ring::default_provider().install_default();
    let certificates = match kind.trust {
        Trust::Authorities => certificates(settings)?,
        Trust::Unchecked | Trust::Plain => Vec::new(),
    };
    let mut builder = Client::builder()
        .user_agent(concat!("tfoci/", env!("CARGO_PKG_VERSION")))
        .http1_only()
        .connect_timeout(settings.timeouts.connect)
        .pool_idle_timeout(IDLE)
        .redirect(redirect::Policy::none())
        .tls_certs_only(certificates);
    if kind.trust == Trust::Unchecked {
        builder = builder.danger_accept_invalid_certs(true);
    }
    builder = builder.dns_resolver(Arc::new(Resolver {
        guard: kind.guard,
        proxies: settings.proxies.clone(),
        resolved: Arc::clone(resolved),
    }));
    let identity = kind.identity.as_ref();
    let Some(pem) = identity.and_then(|host| settings.identities.get(host)) else {
        return builder.build().map_err(|source| Error::Client { source });
    };
    // The library says no more than that its builder failed.
    let failed = |_| Error::Identity {
        name: pem.name.clone(),
    };
    let identity = Identity::from_pem(&pem.bytes).map_err(failed)?;
    // This also checks that the key is the certificate's.
    builder.identity(identity).build().map_err(failed)
}

/// The authorities that the user named, and the authorities of the system, or of `SSL_CERT_FILE` and `SSL_CERT_DIR`.
fn certificates(settings: &Settings) -> Result<Vec<Certificate>, Error> {
    let mut certificates = Vec::new();
    for authority in &settings.authorities {
        certificates.extend(read(authority)?);
    }
    let native = rustls_native_certs::load_native_certs();
    // Invalid certificates in the system's store are skipped, so that the others can be used.
    let sound = native
        .certs
        .into_iter()
        .filter(|der| RootCertStore::empty().add(der.clone()).is_ok());
    certificates.extend(sound.filter_map(|der| Certificate::from_der(&der).ok()));
    if certificates.is_empty() {
        return Err(Error::NoAuthorities);
    }
    Ok(certificates)
}

fn read(authority: &Pem) -> Result<Vec<Certificate>, Error> {
    let read = Certificate::from_pem_bundle(&authority.bytes).ok();
    // The certificates are parsed only when a client is built with them.
    let is_sound = |read: &Vec<Certificate>| {
        let client = Client::builder().tls_certs_only(read.iter().cloned());
        !read.is_empty() && client.build().is_ok()
    };
    read.filter(is_sound).ok_or_else(|| Error::Authority {
        name: authority.name.clone(),
        named_by: authority.named_by,
    })
}
