//! Settings of the client: hosts, certificates, timeouts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use zeroize::Zeroizing;

/// The options about hosts, certificates and timeouts. Hosts are `HOST` or `HOST:PORT`, in lower case.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Hosts for which plain http is used.
    pub plain: BTreeSet<String>,
    /// Hosts whose certificates are not checked.
    pub insecure: BTreeSet<String>,
    /// Hosts that the client may reach at private addresses even if a server refers to them.
    pub private: BTreeSet<String>,
    /// Whether every host counts as one that the user did not name, unless an option names it or [`super::Http::trust`] was called for it. Then
    /// others may name hosts without being led into the user's network.
    pub every_host_is_a_stranger: bool,
    /// Hosts of the proxies that the environment names, without ports. The client may reach them at private addresses.
    pub proxies: BTreeSet<String>,
    /// Certificate authorities in addition to the system's.
    pub authorities: Vec<Pem>,
    /// Client certificates with their keys, by `HOST` or `HOST:PORT`; without a port, 443.
    pub identities: BTreeMap<String, Pem>,
    /// How long servers may be silent.
    pub timeouts: Timeouts,
    /// The most concurrent downloads, and the most concurrent uploads, per host.
    pub transfers: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            plain: BTreeSet::new(),
            insecure: BTreeSet::new(),
            private: BTreeSet::new(),
            every_host_is_a_stranger: false,
            proxies: BTreeSet::new(),
            authorities: Vec::new(),
            identities: BTreeMap::new(),
            timeouts: Timeouts::default(),
            // Two and eight are within 3 % of four (measured).
            transfers: 4,
        }
    }
}

/// Certificates or keys, as PEM. They are never printed, and wiped on drop.
#[derive(Clone)]
pub struct Pem {
    /// The name of the file, for error messages.
    pub name: String,
    /// The option that names the file.
    pub named_by: &'static str,
    /// The content of the file.
    pub bytes: Zeroizing<Vec<u8>>,
}

impl fmt::Debug for Pem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pem(of {})", self.name)
    }
}

/// How long a server may be silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Until the connection is established, including TLS.
    pub connect: Duration,
    /// Until the response begins, after the whole request was sent.
    pub answer: Duration,
    /// Until 64 KiB more of a body have passed in either direction, or its end.
    pub stall: Duration,
    /// Until the response begins, after a whole package was sent. The server may hash it again and copy it to slower storage.
    pub commit: Duration,
    /// Until a document is complete, including redirects.
    pub document: Duration,
}

impl Timeouts {
    /// Derives all timeouts from `silence`, the time for which a server may be silent in the middle of an exchange.
    pub fn of(silence: Duration) -> Self {
        Self {
            connect: silence / 4,
            answer: silence,
            stall: silence,
            commit: silence * 5,
            document: silence * 5,
        }
    }
}

impl Default for Timeouts {
    /// One minute, after which load balancers usually close the connection to a silent backend.
    fn default() -> Self {
        Self::of(Duration::from_secs(60))
    }
}
