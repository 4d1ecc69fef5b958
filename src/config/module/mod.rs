//! Modules of `tofu` and `terraform`: which providers they require, and which modules they call.
//!
//! A module is a directory of files in HCL 2 or JSON. What requires a provider, as clients see it:
//!
//! | in the module | provider | constraint |
//! | --- | --- | --- |
//! | `required_providers { NAME = { source, version } }` | `source`, else NAME's | `version` |
//! | `required_providers { NAME = "VERSION" }`, as of Terraform 0.12 | NAME's | the text |
//! | `provider "NAME" { version }` | NAME's | `version`, deprecated |
//! | `resource`, `data`, `ephemeral` `"NAME_…"`, or any with `provider = NAME.ALIAS` | NAME's | none |
//!
//! NAME's provider is what `required_providers` says, else `hashicorp/NAME` on the client's own host. `terraform` is part of
//! the client, so that `terraform_data` and `terraform_remote_state` require nothing.

mod assembly;
mod error;
mod files;
mod json;
mod native;

use std::collections::BTreeMap;

pub use error::{Error, FileError};
pub use files::{SourceFile, is_configuration};

use crate::address::{Hostname, ProviderAddr};
use crate::constraint::VersionConstraints;

/// The largest file that is read, in bytes. Generated ones have some hundred KiB.
pub const LARGEST: usize = 4 << 20;

/// What a module says about providers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module {
    /// The providers, by the names that they have in this module.
    pub requirements: BTreeMap<String, Requirement>,
    /// The modules that it calls, by the names of the calls.
    pub calls: BTreeMap<String, ModuleSource>,
}

/// A provider that a module requires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// Which provider.
    pub source: ProviderAddr,
    /// Which versions this module can use.
    pub constraints: VersionConstraints,
}

/// Where the module of a call is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ModuleSource {
    /// A directory, relative to that of the calling module. It begins with `./` or `../`.
    Local(String),
    /// Anything that clients would fetch or compute, as it is written.
    Elsewhere(String),
}

impl Module {
    /// Reads the files of one directory, in any order. Those that clients do not read are passed over: by their names, and
    /// `x.tf` beside `x.tofu` (see [`is_configuration`]).
    ///
    /// `default_host` is meant by sources that name none.
    ///
    /// # Errors
    /// A file that is too large or no HCL or JSON; and, in what concerns providers, anything that clients refuse.
    pub fn read(files: &[SourceFile<'_>], default_host: &Hostname) -> Result<Self, Error> {
        let mut assembly = assembly::Assembly::new(default_host);
        for file in files::in_order(files) {
            let refuse = |(line, mistake)| Error {
                file: file.name.to_owned(),
                line,
                mistake,
            };
            for fact in file.facts().map_err(refuse)? {
                assembly.add(file, fact)?;
            }
        }
        assembly.finish()
    }
}

impl ModuleSource {
    fn of(text: String) -> Self {
        if text.starts_with("./") || text.starts_with("../") {
            Self::Local(text)
        } else {
            Self::Elsewhere(text)
        }
    }
}

/// What all modules of a configuration require together: of each provider one version, which all of them can use.
pub fn united<'a>(
    modules: impl IntoIterator<Item = &'a Module>,
) -> BTreeMap<ProviderAddr, VersionConstraints> {
    let mut united: BTreeMap<_, VersionConstraints> = BTreeMap::new();
    for requirement in modules
        .into_iter()
        .flat_map(|module| module.requirements.values())
    {
        let known = united.entry(requirement.source.clone()).or_default();
        *known = std::mem::take(known).and(requirement.constraints.clone());
    }
    united
}

/// Something that a file says about providers.
#[derive(Clone, Debug)]
struct Fact {
    /// The line, from 1; unknown in JSON.
    line: Option<usize>,
    statement: Statement,
}

#[derive(Clone, Debug)]
enum Statement {
    /// A `required_providers` block begins here.
    RequiredProviders,
    /// An entry of it.
    Required {
        name: String,
        source: Option<String>,
        version: Option<String>,
    },
    /// A `provider` block.
    Configured {
        name: String,
        alias: Option<String>,
        version: Option<String>,
    },
    /// Something whose type is a provider's, with the provider that it names.
    Used {
        /// The kind of block, its type and its name: what an override file repeats.
        key: [String; 3],
        provider: Option<String>,
    },
    /// A `module` block.
    Call { name: String, source: ModuleSource },
}

/// The name of a provider in a reference such as `aws.west` that is text, as in JSON and for Terraform 0.11.
fn provider_name(reference: &str) -> String {
    let reference = reference.strip_prefix("${").unwrap_or(reference);
    let name = reference.split(['.', '[', '}']).next();
    name.unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests;
