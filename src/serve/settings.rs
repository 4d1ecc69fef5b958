//! The settings of a server.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::cached::Ages;
use super::clients::Clients;
use super::metrics::Metrics;
use super::notice::Observer;
use super::watched_files::TrustFiles;
use crate::address::{Hostname, ProviderPattern};
use crate::error::Hint as _;
use crate::event::Reporter;
use crate::examine::TrustOptions;
use crate::outcome::Failure;
use crate::platform::Platforms;
use crate::selection::Exclusion;
use crate::source::Source;
use crate::store::{Endpoint, Registry};

/// What `tfoci serve` was told on its command line.
pub struct ServerSettings {
    /// Where the store is.
    pub endpoint: Endpoint,
    /// The client for OCI registries.
    pub registry: Registry,
    /// A port of 0 stands for any free one.
    pub listen: SocketAddr,
    /// The certificate; `None` for plain HTTP behind a proxy.
    pub tls: Option<TlsFiles>,
    /// The public URL, without a slash at its end.
    pub url: Option<String>,
    /// The host of the provider registry; `None` for the host that the client requests.
    pub provider_host: Option<Hostname>,
    /// The only host whose providers the store has; `None` for any.
    pub only_host: Option<Hostname>,
    /// The files of tokens and signing keys; `None` for a server that is open to every client.
    pub access: Option<AccessFiles>,
    /// Whether clients are redirected to the storage behind the OCI registry for packages.
    pub redirects: bool,
    /// How long lists are used.
    pub ages: Ages,
    /// The most concurrent connections. With TLS, one client has at most half of them. Behind a proxy all clients share its address, so a client
    /// may have all.
    pub connections: usize,
    /// The most requests of a client in a second; `None` for no limit.
    pub rate: Option<NonZeroU32>,
    /// How long downloads may go on when the server ends.
    pub grace: Duration,
    /// How versions are verified.
    pub trust: TrustOptions,
    /// The files that the policy comes from. They are read again when they change.
    pub trust_files: TrustFiles,
    /// The providers that are mirrored when a client requests them; `None` for none.
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

/// The files that decide which requests are authorized.
#[derive(Clone, Debug)]
pub struct AccessFiles {
    /// The file with one client on each line: its name, the hash of its token, and its providers.
    pub tokens: PathBuf,
    /// The file of signing keys; `None` for a key that only this process knows.
    pub signing_key: Option<PathBuf>,
    /// How long a link is valid.
    pub lifetime: Duration,
}

/// The providers that may be mirrored, and their origins.
pub struct FillSettings {
    /// The origins. Clients name the hosts, so the HTTP client has to treat each host as one that the operator did not name.
    pub source: Source,
    /// The providers that may be mirrored.
    pub include: Vec<ProviderPattern>,
    /// The versions that may not be mirrored.
    pub exclude: Vec<Exclusion>,
    /// The host of this server, which must not mirror from itself.
    pub own_host: Option<Hostname>,
    /// Only this many versions of each provider, the newest; `None` for all.
    pub newest: Option<usize>,
    /// The least age of a version.
    pub min_age: Duration,
    /// The platforms to mirror.
    pub platforms: Platforms,
    /// Receives the events of mirroring.
    pub reporter: Arc<dyn Reporter>,
}

/// What all parts of a server share.
pub(super) struct Context {
    pub(super) settings: ServerSettings,
    /// The trust options that apply now. They are replaced when one of their files changes.
    pub(super) trust: watch::Sender<Arc<TrustOptions>>,
    pub(super) clients: Clients,
    pub(super) metrics: Metrics,
    pub(super) observer: Arc<dyn Observer>,
}

impl Context {
    /// The trust options that apply now. One listing is read with the same options from beginning to end.
    pub(super) fn trust(&self) -> Arc<TrustOptions> {
        self.trust.borrow().clone()
    }

    /// Whether these options, which applied before, apply now.
    pub(super) fn still_trusts(&self, before: &Arc<TrustOptions>) -> bool {
        Arc::ptr_eq(&self.trust(), before)
    }

    /// Logs a failed request to the store, or a version that could not be mirrored.
    pub(super) fn fail(&self, name: &'static str, failure: &Failure) {
        let (text, hint) = (String::new(), failure.hint());
        self.observer.fail(name, "Failed", text, failure, hint);
    }
}
