//! How a server works.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use super::cached::Ages;
use super::fill::FillSettings;
use crate::address::Hostname;
use crate::examine::TrustOptions;

/// How a server works.
pub struct ServerSettings {
    /// The address to listen on.
    pub listen: SocketAddr,
    /// The certificate; `None` for plain HTTP behind a proxy.
    pub tls: Option<TlsFiles>,
    /// The public URL, without a slash at its end.
    pub url: Option<String>,
    /// The host of the registry's providers; `None` for the host that the client asked.
    pub registry_host: Option<Hostname>,
    /// The only host whose providers the store has; `None` for any.
    pub only_host: Option<Hostname>,
    /// Who may ask; `None` for everybody.
    pub access: Option<AccessFiles>,
    /// Whether clients are sent to the place where the registry keeps a package, if it has one.
    pub redirects: bool,
    /// How long lists are used.
    pub ages: Ages,
    /// The most connections at once. With TLS, one client has at most half of them; a proxy sends all clients from its address.
    pub connections: usize,
    /// The most requests of a client in a second; `None` for no limit.
    pub rate: Option<NonZeroU32>,
    /// How long downloads may go on when the server ends.
    pub grace: Duration,
    /// The verification of versions.
    pub trust: TrustOptions,
    /// What is mirrored when a client asks for it; `None` for nothing.
    pub fill: Option<FillSettings>,
}

/// The files of a certificate, in PEM.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The chain of certificates.
    pub certificate: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

/// The files that decide who may ask.
#[derive(Clone, Debug)]
pub struct AccessFiles {
    /// The tokens.
    pub tokens: PathBuf,
    /// The keys of links; `None` for a key that only this process knows.
    pub signing_key: Option<PathBuf>,
    /// How long a link is valid.
    pub lifetime: Duration,
}
