//! `.terraform.lock.hcl`: which version of each provider a configuration uses, and the hashes of its packages.
//!
//! ```text
//! # This file is maintained automatically by "tofu init".
//! # Manual edits may be lost in future updates.
//!
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
//! Clients refuse a lock file in any form that they would not write themselves, and rewrite the whole file in one canonical form. tfoci
//! reads as strictly, and writes the same bytes as clients ([clients: lock file format](crate::clients#lock-file-format)).

mod error;
mod parse;

use std::collections::BTreeSet;
use std::collections::btree_map::{self, BTreeMap};
use std::fmt;

pub use error::{Error, LockFileErrorKind};

use crate::address::{Hostname, ProviderAddr};
use crate::constraint::VersionConstraints;
use crate::hash::PackageHash;
use crate::version::Version;

/// The file's name, in the directory of the root module.
pub const FILE_NAME: &str = ".terraform.lock.hcl";

/// The largest lock file that is read, in bytes: room for 3000 providers with 30 hashes each.
pub const LARGEST: usize = 8 << 20;

/// The most providers that are read, and the most hashes of each. Real files have at most some dozens of either.
pub const MOST: usize = 10_000;

/// A lock file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockFile {
    /// The client that its header names. tfoci writes the file as that client does; without one, as OpenTofu does.
    pub written_by: Option<Client>,
    /// The providers, in the order of the file.
    pub entries: BTreeMap<ProviderAddr, LockedProvider>,
    /// The number of `module` blocks. Clients reserve the name: they warn about such blocks and drop them when they write the file.
    pub modules: usize,
}

/// A program that maintains lock files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Client {
    /// `tofu`.
    OpenTofu,
    /// `terraform`.
    Terraform,
}

/// What is locked of one provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockedProvider {
    /// The selected version.
    pub version: Version,
    /// The constraints of the configuration when the version was selected.
    pub constraints: VersionConstraints,
    /// The accepted package hashes, for all platforms. If there are none, any package is accepted.
    pub hashes: BTreeSet<PackageHash>,
}

/// What [`LockFile::merge`] did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merged {
    /// The provider had no entry.
    Added,
    /// The entry for this version has got hashes or other constraints.
    Updated,
    /// All of it was there.
    Present,
    /// The entry was for this other version, whose hashes are gone.
    Replaced(Version),
}

impl Client {
    /// The name of its program.
    pub fn program(self) -> &'static str {
        match self {
            Self::OpenTofu => "tofu",
            Self::Terraform => "terraform",
        }
    }

    /// The first line of its lock files.
    fn header(self) -> String {
        let program = self.program();
        format!("# This file is maintained automatically by \"{program} init\".")
    }

    /// The host of the addresses that its configurations write in two parts. In a lock file every address has its host.
    pub fn default_host(self) -> Hostname {
        match self {
            Self::OpenTofu => Hostname::default_registry(),
            Self::Terraform => Hostname::predecessor_registry(),
        }
    }
}

impl LockFile {
    /// Adds or updates the entry of one provider.
    ///
    /// If the version is already locked, hashes are only added, and constraints are kept unless new ones are given. If another version is
    /// locked, its hashes are removed.
    pub fn merge(&mut self, provider: ProviderAddr, entry: LockedProvider) -> Merged {
        let mut place = match self.entries.entry(provider) {
            btree_map::Entry::Vacant(place) => {
                place.insert(entry);
                return Merged::Added;
            }
            btree_map::Entry::Occupied(place) => place,
        };
        let known = place.get_mut();
        if known.version != entry.version {
            return Merged::Replaced(std::mem::replace(known, entry).version);
        }
        let before = known.clone();
        if !entry.constraints.is_any() {
            known.constraints = entry.constraints;
        }
        known.hashes.extend(entry.hashes);
        if *known == before {
            Merged::Present
        } else {
            Merged::Updated
        }
    }
}

impl fmt::Display for LockFile {
    /// Writes the file as clients do. Like clients, it drops `module` blocks and comments.
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
    /// The inside of a `provider` block.
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
            writeln!(f, "    \"{}\",", escape(&hash.to_string()))?;
        }
        writeln!(f, "  ]")
    }
}

/// Text as it is written between quotes. Only hashes of unknown schemes need it.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '\\' => escaped.extend(['\\', c]),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            c if c.is_control() => escaped.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => escaped.push(c),
        }
    }
    escaped.replace("${", "$${").replace("%{", "%%{")
}

#[cfg(test)]
mod tests;
