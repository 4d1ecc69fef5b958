//! Doctor: walks the way that `init` goes on this machine, and tells where it ends.
//!
//! 1. `machine` looks at what the client reads before it sends anything: its CLI configuration, the plugin cache, proxies and authorities.
//! 2. Each **host** is asked, over TLS with the client's own authorities (`host`).
//! 3. For each provider, `way` goes on: method, repository, credentials, list of versions, version, package, signature, lock file, plugin
//!    cache. It stops at the first step that fails, as the client does ([clients: version selection](crate::clients#version-selection)).
//!
//! It walks as if nothing was installed yet. It writes nothing, and no step shows a secret.

mod host;
mod machine;
mod way;

use std::path::PathBuf;
use std::sync::Mutex;

use futures_util::{StreamExt as _, stream};

use crate::address::ProviderAddr;
use crate::config::cli::CliConfig;
use crate::constraint::VersionConstraints;
use crate::credentials::{self, Credentials};
use crate::finding::{Code, Finding, Severity};
use crate::jobs::PROVIDERS;
use crate::lockfile::{Client, LockedProvider};
use crate::source;
use crate::store::Registry;

/// What a client has on this machine.
pub struct Machine {
    /// The client.
    pub client: Client,
    /// The CLI configuration that it reads, with its path; `None` if there is none.
    pub config: Result<Option<(PathBuf, CliConfig)>, credentials::Error>,
    /// The plugin cache that it uses.
    pub plugin_cache: Option<PathBuf>,
    /// All credentials that tfoci has. The client may not read some of them.
    pub every_credential: Credentials,
    /// The client's credentials, and an HTTP client with its authorities.
    pub access: source::Access,
    /// What variables of the environment say about proxies and authorities.
    pub variables: Vec<Step>,
}

impl Machine {
    fn configured(&self) -> Option<&CliConfig> {
        let config = self.config.as_ref().ok()?.as_ref();
        config.map(|(_, config)| config)
    }
}

/// A provider that a project requires, or that the user named.
#[derive(Clone, Debug)]
pub struct Required {
    /// The provider.
    pub provider: ProviderAddr,
    /// The versions that the project admits.
    pub constraints: VersionConstraints,
    /// Its entry in the lock file.
    pub locked: Option<LockedProvider>,
}

/// A step of the way, and how it ended.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its name, such as `tags`.
    pub name: &'static str,
    /// What is well, or what is wrong.
    pub outcome: Result<String, Finding>,
}

impl Step {
    /// A step that is well.
    pub fn good(name: &'static str, text: impl Into<String>) -> Self {
        let outcome = Ok(text.into());
        Self { name, outcome }
    }

    /// A step that is not.
    pub fn bad(name: &'static str, finding: Finding) -> Self {
        let outcome = Err(finding);
        Self { name, outcome }
    }

    /// Whether the client goes no further.
    pub fn has_failed(&self) -> bool {
        let found = self.outcome.as_ref();
        found.is_err_and(|finding| finding.severity == Severity::Error)
    }
}

/// What is known while ways are walked.
pub struct Doctor {
    machine: Machine,
    registry: Registry,
    clock: Mutex<Option<Step>>,
}

impl Doctor {
    /// A doctor of a machine.
    pub fn new(machine: Machine) -> Self {
        let Machine { access, .. } = &machine;
        Self {
            registry: Registry::new(access.http.clone(), access.credentials.clone()),
            machine,
            clock: Mutex::default(),
        }
    }

    /// Walks the ways of several providers. Returns the steps of each, in their order.
    pub async fn walk(&self, required: &[Required]) -> Vec<Vec<Step>> {
        let ways = required.iter().map(|required| self.way(required));
        stream::iter(ways).buffered(PROVIDERS).collect().await
    }

    /// The clock of this machine, compared with the clocks of the hosts that were asked.
    pub fn clock(&self) -> Option<Step> {
        crate::jobs::locked(&self.clock).clone()
    }
}
