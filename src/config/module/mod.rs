//! Modules of `tofu` and `terraform`: which providers they require, and which modules they call.
//!
//! A module is a directory of files in HCL 2 or JSON. For clients, these parts of it require a provider:
//!
//! | in the module | provider | constraint |
//! | --- | --- | --- |
//! | `required_providers { NAME = { source, version } }` | `source`, else NAME's | `version` |
//! | `required_providers { NAME = "VERSION" }`, as of Terraform 0.12 | NAME's | the text |
//! | `provider "NAME" { version }` | NAME's | `version`, deprecated |
//! | `resource`, `data`, `ephemeral`, `action` `"NAME_…"`, or any with `provider = NAME.ALIAS` | NAME's | none |
//! | in test files: `provider "NAME"`, for OpenTofu alone | NAME's | `version` |
//! | `import { to = NAME_….x }`, or with `provider = NAME.ALIAS` | NAME's | none |
//!
//! The provider of NAME is the one in `required_providers`, otherwise `hashicorp/NAME` on the client's default host. `terraform` is part of
//! the client, so that `terraform_data` and `terraform_remote_state` require nothing.

mod assembly;
mod error;
mod files;
mod read;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

pub use error::{Error, FileError};
pub use files::{SourceFile, is_configuration, is_test_file};

use crate::address::{Hostname, ProviderAddr};
use crate::constraint::VersionConstraints;
use crate::error::printable_path;
use crate::lockfile::Client;
use crate::syntax::Expression;

/// The largest accepted file, in bytes. Generated ones have some hundred KiB.
pub const LARGEST: usize = 4 << 20;

/// The providers that a module requires, and the modules that it calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module {
    /// The providers, by the names that they have in this module.
    pub requirements: BTreeMap<String, Requirement>,
    /// The modules that it calls, by the names of the calls. Those of test files have names as in `modules.json`.
    pub calls: BTreeMap<String, ModuleCall>,
    /// The name of the backend that has its state, if it says so; `cloud` for a block of this name.
    pub backend: Option<String>,
}

/// A text as clients have it, who normalise every text of a configuration.
fn in_nfc(text: &str) -> String {
    let nfc = icu_normalizer::ComposingNormalizerBorrowed::new_nfc();
    nfc.normalize(text).into_owned()
}

/// A `module` block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleCall {
    /// Where the module is.
    pub source: ModuleSource,
    /// The constraints on its versions, as written; an expression that the client computes is an `Err`.
    pub version: Option<Result<String, String>>,
    /// The block that has the source.
    pub position: Position,
}

/// A provider that a module requires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// Its `source`, completed with the default host and namespace.
    pub source: ProviderAddr,
    /// The statements that constrain its versions, and that which first names it.
    pub stated: Vec<Stated>,
}

/// Where a file states something, for messages: `versions.tf:7`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The path of the file. In a [`Module`], it is relative to the module's directory.
    pub path: PathBuf,
    /// The line, from 1; `None` in JSON.
    pub line: Option<usize>,
}

/// A statement that requires a provider, for messages: `versions.tf:7 (>= 1.0)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stated {
    /// Where it is.
    pub position: Position,
    /// The versions that it admits.
    pub constraints: VersionConstraints,
}

impl Position {
    /// The same place, with a path that begins with this directory.
    pub(crate) fn below(&self, directory: &Path) -> Self {
        let path = directory.join(&self.path);
        Self { path, ..*self }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.strip_prefix(".").unwrap_or(&self.path);
        write!(f, "{}", printable_path(path))?;
        match self.line {
            Some(line) => write!(f, ":{line}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Stated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.position)?;
        match self.constraints.is_any() {
            true => Ok(()),
            false => write!(f, " ({})", self.constraints),
        }
    }
}

/// The source of a called module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ModuleSource {
    /// A directory, relative to that of the calling module. It begins with `./` or `../`.
    Local(String),
    /// Any other source, which clients would download, as written.
    Elsewhere(String),
    /// An expression that OpenTofu computes, as written.
    Computed(String),
}

impl Module {
    /// Reads the files of one directory, in any order. Files that clients do not read are skipped: by their names, and
    /// `x.tf` beside `x.tofu` (see [`is_configuration`]).
    ///
    /// `default_host` is the host of sources without one. Without a client, what either client requires counts.
    ///
    /// # Errors
    /// A file is too large or is neither HCL nor JSON, or clients would refuse what it states about providers.
    pub fn read(
        files: &[SourceFile<'_>],
        client: Option<Client>,
        default_host: &Hostname,
    ) -> Result<Self, Error> {
        let mut assembly = assembly::Assembly::new(client, default_host);
        for file in files::in_order(files) {
            assembly.add(file).map_err(|(line, mistake)| Error {
                position: file.at(line),
                mistake,
            })?;
        }
        assembly.finish()
    }
}

impl ModuleSource {
    fn of(text: String) -> Self {
        // Clients accept the separator of Windows on every system.
        let path = text.replace('\\', "/");
        if path.starts_with("./") || path.starts_with("../") {
            Self::Local(path)
        } else {
            Self::Elsewhere(text)
        }
    }
}

/// The resource that an `import` block is about.
#[derive(Clone, Debug)]
struct Target {
    is_in_module: bool,
    type_name: String,
    name: String,
}

impl Target {
    /// Parses `[module.CALL.]…[KIND.]TYPE.NAME`, with indexes anywhere; `None` if it is no such address, which clients refuse. The kind is `resource` for
    /// Terraform, and `data` or `ephemeral` for OpenTofu.
    fn of(address: &Expression<'_>) -> Option<Self> {
        let names = address.as_names();
        let mut names = names.as_slice();
        let mut is_in_module = false;
        while let ["module", _, inner @ ..] = names {
            names = inner;
            is_in_module = true;
        }
        if let ["resource" | "data" | "ephemeral", inner @ ..] = names
            && inner.len() > 1
        {
            names = inner;
        }
        let [type_name, name, ..] = names else {
            return None;
        };
        Some(Self {
            is_in_module,
            type_name: (*type_name).to_owned(),
            name: (*name).to_owned(),
        })
    }
}

/// The first name of a reference such as `aws.west` that is written as text, as in JSON and for Terraform 0.11.
fn first_name(reference: &str) -> String {
    let reference = reference.strip_prefix("${").unwrap_or(reference);
    let name = reference.split(['.', '[', '}']).next();
    name.unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod call_tests;
#[cfg(test)]
mod import_tests;
#[cfg(test)]
mod tests;
