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
    /// Hosts that may be reached at private addresses, whichever server refers to them.
    pub private: BTreeSet<String>,
    /// Hosts of the proxies that the environment names, without ports: they may be reached at private addresses, since the
    /// user chose them.
    pub proxies: BTreeSet<String>,
    /// Further certificate authorities.
    pub authorities: Vec<Pem>,
    /// Client certificates with their keys, by host and port; no port means that of https.
    pub identities: BTreeMap<String, Pem>,
    /// How long servers may be silent.
    pub timeouts: Timeouts,
    /// How many downloads, and how many uploads, one host serves at once.
    pub transfers: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            plain: BTreeSet::new(),
            insecure: BTreeSet::new(),
            private: BTreeSet::new(),
            proxies: BTreeSet::new(),
            authorities: Vec::new(),
            identities: BTreeMap::new(),
            timeouts: Timeouts::default(),
            // More is not faster (measured: two and eight are within 3 % of four).
            transfers: 4,
        }
    }
}

/// Certificates or keys, as PEM. They are never printed, and wiped on drop.
#[derive(Clone)]
pub struct Pem {
    /// The name of the file, for messages.
    pub name: String,
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
    /// Until a connection is open, with TLS.
    pub connect: Duration,
    /// Until an answer begins, once the server has the whole request.
    pub answer: Duration,
    /// Until 64 KiB more of a body are taken or given, in either direction, or its end.
    pub stall: Duration,
    /// Until an answer begins, once the server has a whole package: it may hash it again, and hand it on to slower storage.
    pub commit: Duration,
    /// Until a document is complete, with the redirects before it.
    pub document: Duration,
}

impl Timeouts {
    /// All of them in proportion to one: how long a server may be silent in the middle of an exchange.
    pub fn of(patience: Duration) -> Self {
        Self {
            connect: patience / 4,
            answer: patience,
            stall: patience,
            commit: patience * 5,
            document: patience * 5,
        }
    }
}

impl Default for Timeouts {
    /// One minute: load balancers cut off the servers behind them after that.
    fn default() -> Self {
        Self::of(Duration::from_secs(60))
    }
}
