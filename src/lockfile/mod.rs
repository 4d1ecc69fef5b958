//! `.terraform.lock.hcl`: the version of each provider that a configuration uses, and the hashes of its packages.
//!
//! ```text
//! # This file is maintained automatically by "tofu init".
//! # Manual edits may be lost in future updates.
//! provider "registry.opentofu.org/hashicorp/null" {
//!   version     = "3.2.1"
//!   constraints = "~> 3.2"
//!   hashes = [
//!     "h1:…",
//!     "zh:…",
//!   ]
//! }
//! ```
//!
//! Clients refuse a lock file that is not in the form that they write, and always write the whole file. tfoci reads as strictly, and writes
//! the same bytes as clients ([clients: lock file format](crate::clients#lock-file-format)).

mod error;
mod parse;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

pub use error::{Error, LockFileErrorKind};

use crate::address::{Hostname, ProviderAddr};
use crate::constraint::VersionConstraints;
use crate::hash::PackageHash;
use crate::version::Version;

/// The name of the file in the directory of the root module.
pub const FILE_NAME: &str = ".terraform.lock.hcl";

/// The largest accepted lock file in bytes: 3000 providers with 30 hashes each.
pub const LARGEST: usize = 8 << 20;

/// The largest number of providers, and of hashes per provider. Real files have at most some dozens of either.
pub const MOST: usize = 10_000;

/// The entries of a `.terraform.lock.hcl`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockFile {
    /// The client that the header names. tfoci writes the file as that client does; without a header, as OpenTofu does.
    pub written_by: Option<Client>,
    /// The providers, sorted by address.
    pub entries: BTreeMap<ProviderAddr, LockedProvider>,
}

/// A program that maintains lock files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Client {
    /// OpenTofu
    // It writes hashes that its origin reports, and Terraform does not.
    #[cfg_attr(feature = "cli", value(name = "tofu"))]
    OpenTofu,
    /// Terraform
    Terraform,
}

/// The lock file's entry for a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockedProvider {
    /// The selected version.
    pub version: Version,
    /// The configuration's constraints at the time of the selection.
    pub constraints: VersionConstraints,
    /// The accepted package hashes, for all platforms. If there are none, any package is accepted.
    pub hashes: BTreeSet<PackageHash>,
}

impl Client {
    /// The command that users run: `tofu` or `terraform`.
    pub fn program(self) -> &'static str {
        match self {
            Self::OpenTofu => "tofu",
            Self::Terraform => "terraform",
        }
    }

    /// The first line of lock files that this client writes.
    fn header(self) -> String {
        let program = self.program();
        format!("# This file is maintained automatically by \"{program} init\".")
    }

    /// The default host of addresses in its configurations. Lock files always contain the host.
    pub fn default_host(self) -> Hostname {
        match self {
            Self::OpenTofu => Hostname::default_origin(),
            Self::Terraform => Hostname::predecessor_origin(),
        }
    }
}

impl LockFile {
    /// Adds a provider, or updates its entry.
    ///
    /// The constraints become the ones of `entry`. Hashes of the same version stay; hashes of another version are removed.
    pub fn add(&mut self, provider: ProviderAddr, mut entry: LockedProvider) {
        let known = self.entries.remove(&provider);
        if let Some(known) = known.filter(|known| known.version == entry.version) {
            entry.hashes.extend(known.hashes);
        }
        self.entries.insert(provider, entry);
    }
}

impl fmt::Display for LockFile {
    /// Writes the file as clients do. Like clients, this drops `module` blocks and comments.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let client = self.written_by.unwrap_or(Client::OpenTofu);
        writeln!(f, "{}", client.header())?;
        writeln!(f, "# Manual edits may be lost in future updates.")?;
        for (provider, entry) in &self.entries {
            write!(f, "\nprovider \"{provider}\" {{\n{entry}}}\n")?;
        }
        Ok(())
    }
}

impl fmt::Display for LockedProvider {
    /// Writes the content of a `provider` block.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            version,
            constraints,
            hashes,
        } = self;
        if constraints.is_any() {
            writeln!(f, "  version = \"{version}\"")?;
        } else {
            writeln!(f, "  version     = \"{version}\"")?;
            writeln!(f, "  constraints = \"{constraints}\"")?;
        }
        if hashes.is_empty() {
            return Ok(());
        }
        writeln!(f, "  hashes = [")?;
        for hash in hashes {
            writeln!(f, "    \"{hash}\",")?;
        }
        writeln!(f, "  ]")
    }
}

#[cfg(test)]
mod tests;
