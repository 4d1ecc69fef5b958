//! `provider_installation`: where clients install providers from.

use crate::address::pattern::ProviderPattern;
use crate::address::{Hostname, ProviderAddr};
use crate::config::Error;
use crate::syntax::{Block, Section};

/// `dev_overrides`: directories that clients use in place of the packages of providers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DevOverrides {
    /// The addresses of the providers, as written.
    pub providers: Vec<String>,
    /// The line of the block, from 1; unknown in JSON.
    pub line: Option<usize>,
}

/// A block of `provider_installation`, which names one place to install providers from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstallationMethod {
    /// Where it finds the providers.
    pub kind: MethodKind,
    /// The providers that it installs; `None` means all.
    pub include: Option<Vec<ProviderPattern>>,
    /// The providers that it does not install, even if `include` matches them.
    pub exclude: Vec<ProviderPattern>,
    /// The line of the block, from 1; unknown in JSON.
    pub line: Option<usize>,
}

/// Where an installation method finds providers, with the arguments of its block as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MethodKind {
    /// `oci_mirror`: an OCI registry, which only OpenTofu reads.
    OciMirror {
        /// The template, as written.
        repository_template: String,
    },
    /// `direct`: the provider's origin.
    Direct,
    /// `filesystem_mirror`: a directory of zips, or of unpacked providers.
    FilesystemMirror {
        /// The directory, if the block names one.
        path: Option<String>,
    },
    /// `network_mirror`: a server that answers with lists of versions and zips.
    NetworkMirror {
        /// The URL, if the block names one.
        url: Option<String>,
    },
    /// A method that clients do not know, by its name. They ignore its block.
    Other(String),
}

impl InstallationMethod {
    /// What `include` names.
    pub fn included(&self) -> &[ProviderPattern] {
        self.include.as_deref().unwrap_or_default()
    }

    /// Whether clients use the method for a provider. `exclude` overrides `include`
    /// ([clients: patterns](crate::clients#patterns)).
    pub fn is_for(&self, provider: &ProviderAddr) -> bool {
        let matches = |pattern: &ProviderPattern| pattern.matches(provider);
        let is_included = self
            .include
            .as_ref()
            .is_none_or(|all| all.iter().any(matches));
        is_included && !self.exclude.iter().any(matches)
    }
}

/// The methods. Patterns without a host are on `default_host`.
pub(super) fn methods(
    body: &Section<'_>,
    default_host: &Hostname,
) -> Result<Vec<InstallationMethod>, Error> {
    let mut methods = Vec::new();
    for block in body.all_blocks() {
        if block.name != "dev_overrides" {
            let method = InstallationMethod::read(&block, default_host);
            methods.push(method.map_err(|error| error.at(block.line))?);
        }
    }
    Ok(methods)
}

impl DevOverrides {
    pub(super) fn read(body: &Section<'_>) -> Option<Self> {
        let blocks = body.all_blocks().into_iter();
        let mut blocks = blocks.filter(|block| block.name == "dev_overrides");
        let block = blocks.next()?;
        let names = block.body.all_texts().map(|(name, _)| name.to_owned());
        let providers: Vec<String> = names.collect();
        let line = block.line;
        (!providers.is_empty()).then_some(Self { providers, line })
    }
}

impl MethodKind {
    /// The name of the block.
    pub fn name(&self) -> &str {
        match self {
            Self::OciMirror { .. } => "oci_mirror",
            Self::Direct => "direct",
            Self::FilesystemMirror { .. } => "filesystem_mirror",
            Self::NetworkMirror { .. } => "network_mirror",
            Self::Other(name) => name,
        }
    }
}

impl InstallationMethod {
    fn read(block: &Block<'_>, default_host: &Hostname) -> Result<Self, Error> {
        let body = block.body;
        let kind = match block.name {
            "oci_mirror" => {
                let template = body.text("repository_template")?;
                let missing = "an `oci_mirror` block has no `repository_template`".to_owned();
                MethodKind::OciMirror {
                    repository_template: template.ok_or(Error::Block(missing))?,
                }
            }
            "direct" => MethodKind::Direct,
            "filesystem_mirror" => MethodKind::FilesystemMirror {
                path: body.text("path")?,
            },
            "network_mirror" => MethodKind::NetworkMirror {
                url: body.text("url")?,
            },
            other => MethodKind::Other(other.to_owned()),
        };
        Ok(Self {
            kind,
            include: patterns(block, "include", default_host)?,
            exclude: patterns(block, "exclude", default_host)?.unwrap_or_default(),
            line: block.line,
        })
    }
}

fn patterns(
    block: &Block<'_>,
    name: &'static str,
    default_host: &Hostname,
) -> Result<Option<Vec<ProviderPattern>>, Error> {
    let pattern = |text: String| {
        let parsed = ProviderPattern::parse(&text, default_host);
        parsed.map_err(|error| Error::from(error).at(block.body.line_of(name)))
    };
    // Clients treat an empty list as none.
    let texts = block.body.texts(name)?.filter(|texts| !texts.is_empty());
    texts
        .map(|texts| texts.into_iter().map(pattern).collect())
        .transpose()
}
