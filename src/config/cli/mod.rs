//! The CLI configuration of `tofu` and `terraform`: its blocks about credentials and provider installation.
//!
//! It is HCL or JSON. Other blocks are ignored, so that files for every version of both clients can be read.

use crate::address::pattern::ProviderPattern;
use crate::address::{Hostname, ProviderAddr};
use crate::config::{Error, HelperName, RepositoryPrefix};
use crate::secret::Secret;
use crate::syntax::{self, Block, Section};

mod host;
mod traps;

pub use host::{CredentialsHelper, HostServices, HostToken};
pub use traps::{Trap, TrapKind, traps};

/// The largest accepted configuration, in bytes. Real ones have some hundred bytes.
pub const LARGEST: usize = 1 << 20;

/// A CLI configuration.
#[derive(Clone, Debug, Default)]
pub struct CliConfig {
    /// The `oci_credentials` blocks, in order.
    pub oci_credentials: Vec<OciCredentials>,
    /// The `oci_default_credentials` block, or its defaults.
    pub oci_defaults: OciDefaults,
    /// The `credentials` blocks: tokens for provider registries, in order.
    pub tokens: Vec<HostToken>,
    /// The `credentials_helper` block.
    pub token_helper: Option<CredentialsHelper>,
    /// The `host` blocks, in order.
    pub hosts: Vec<HostServices>,
    /// The `dev_overrides` block, unless it is empty.
    pub overrides: Option<DevOverrides>,
    /// The methods of `provider_installation`, in order; `None` without such a block.
    pub installation: Option<Vec<InstallationMethod>>,
    /// The line of `provider_installation`, from 1; unknown in JSON.
    pub installation_line: Option<usize>,
    /// The top-level blocks that neither client knows, in order.
    pub unknown: Vec<UnknownBlock>,
}

/// The blocks and settings that one of the clients knows.
const KNOWN: [&str; 13] = [
    "credentials",
    "credentials_helper",
    "disable_checkpoint",
    "disable_checkpoint_signature",
    "host",
    "oci_credentials",
    "oci_default_credentials",
    "plugin_cache_dir",
    "plugin_cache_may_break_dependency_lock_file",
    "provider_installation",
    "providers",
    "provisioners",
    "registry_protocols",
];

/// A top-level block that neither client knows. Clients ignore it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownBlock {
    /// Its name.
    pub name: String,
    /// Its line, from 1; unknown in JSON.
    pub line: Option<usize>,
}

/// `oci_credentials "DOMAIN[/PATH]"` ([clients: credential blocks](crate::clients#credential-blocks)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OciCredentials {
    /// The registry, or the part of one, that the credentials are for.
    pub prefix: RepositoryPrefix,
    /// The credentials, or the helper that provides them.
    pub kind: OciCredentialKind,
}

/// The content of an `oci_credentials` block: exactly one of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OciCredentialKind {
    /// `username` and `password`.
    Password {
        /// The user name. For clients, an empty one means no credentials.
        username: String,
        /// The password for basic authentication or a token server.
        password: Secret,
    },
    /// `access_token` and `refresh_token`.
    Tokens {
        /// The access token, sent unchanged.
        access: Secret,
        /// The refresh token, for which a token server issues an access token. Clients use it only if there is no access token
        /// ([clients: authentication flow](crate::clients#authentication-flow)).
        refresh: Secret,
    },
    /// `docker_credentials_helper`.
    Helper(HelperName),
}

/// `oci_default_credentials` ([clients: credential blocks](crate::clients#credential-blocks)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OciDefaults {
    /// Whether the credential files of other tools are searched.
    pub discover: bool,
    /// The files to read instead of those of docker and podman. Relative paths are relative to the configuration's directory.
    pub files: Option<Vec<String>>,
    /// The helper for repositories that no other credentials match.
    pub helper: Option<HelperName>,
}

impl Default for OciDefaults {
    fn default() -> Self {
        Self {
            discover: true,
            files: None,
            helper: None,
        }
    }
}

/// `dev_overrides`: directories that clients use in place of the packages of providers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DevOverrides {
    /// The addresses of the providers, as written.
    pub providers: Vec<String>,
    /// The line of the block, from 1; unknown in JSON.
    pub line: Option<usize>,
}

/// An installation method of `provider_installation`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstallationMethod {
    /// The kind of source.
    pub kind: MethodKind,
    /// The providers that it installs; `None` means all.
    pub include: Option<Vec<ProviderPattern>>,
    /// The providers that it does not install, even if `include` matches them.
    pub exclude: Vec<ProviderPattern>,
    /// The line of the block, from 1; unknown in JSON.
    pub line: Option<usize>,
}

/// The kind of an installation method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MethodKind {
    /// `oci_mirror`.
    OciMirror {
        /// The template, as written.
        repository_template: String,
    },
    /// `direct`: the provider's own registry.
    Direct,
    /// `filesystem_mirror`.
    FilesystemMirror {
        /// The directory, if the block names one.
        path: Option<String>,
    },
    /// `network_mirror`.
    NetworkMirror {
        /// The URL, if the block names one.
        url: Option<String>,
    },
    /// Another kind, by its name.
    Other(String),
}

impl InstallationMethod {
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

impl CliConfig {
    /// Parses a configuration.
    ///
    /// # Errors
    /// Clients would refuse the blocks about [credentials](crate::clients#credential-blocks) or
    /// [mirrors](crate::clients#cli-configuration), each with its own message.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        if bytes.len() > LARGEST {
            return Err(Error::Large { limit: LARGEST });
        }
        let root = syntax::parse(bytes)?;
        let mut oci_credentials: Vec<OciCredentials> = Vec::new();
        for block in root.blocks("oci_credentials", 1)? {
            let read = OciCredentials::read(&block)?;
            if oci_credentials.iter().any(|one| one.prefix == read.prefix) {
                return Err(Error::Duplicate {
                    label: read.prefix.to_string(),
                });
            }
            oci_credentials.push(read);
        }
        let mut tokens = Vec::new();
        for block in root.blocks("credentials", 1)? {
            tokens.extend(HostToken::read(&block)?);
        }
        let hosts = root.blocks("host", 1)?;
        let defaults = only(&root, "oci_default_credentials")?;
        let installation = only(&root, "provider_installation")?;
        let mut blocks = root.names_of_blocks();
        let installation_line = blocks.find(|(name, _)| *name == "provider_installation");
        let unknown = root.names_of_blocks();
        let unknown = unknown.filter(|(name, _)| !KNOWN.contains(name));
        let overrides = installation.and_then(DevOverrides::read);
        Ok(Self {
            oci_credentials,
            oci_defaults: defaults
                .map(OciDefaults::read)
                .transpose()?
                .unwrap_or_default(),
            tokens,
            token_helper: token_helper(&root)?,
            hosts: hosts
                .iter()
                .map(HostServices::read)
                .collect::<Result<_, _>>()?,
            overrides,
            installation: installation.map(methods).transpose()?,
            installation_line: installation_line.and_then(|(_, line)| line),
            unknown: unknown
                .map(|(name, line)| UnknownBlock {
                    name: name.to_owned(),
                    line,
                })
                .collect(),
        })
    }
}

fn only<'a>(root: &'a Section, name: &'static str) -> Result<Option<&'a Section>, Error> {
    let blocks = root.blocks(name, 0)?;
    match blocks.as_slice() {
        [] => Ok(None),
        [block] => Ok(Some(block.body)),
        _ => Err(Error::Several { name }),
    }
}

fn token_helper(root: &Section) -> Result<Option<CredentialsHelper>, Error> {
    let name = "credentials_helper";
    match root.blocks(name, 1)?.as_slice() {
        [] => Ok(None),
        [block] => CredentialsHelper::read(block).map(Some),
        _ => Err(Error::Several { name }),
    }
}

impl OciCredentials {
    fn read(block: &Block<'_>) -> Result<Self, Error> {
        let label = block.labels.first().copied().unwrap_or_default();
        let prefix = RepositoryPrefix::parse(label)?;
        let label = || label.to_owned();
        let pair = |first: &'static str, second: &'static str| {
            let half = |given, missing| Error::HalfCredential {
                label: label(),
                given,
                missing,
            };
            match (block.body.text(first)?, block.body.text(second)?) {
                (None, None) => Ok(None),
                (Some(a), Some(b)) => Ok(Some((a, b))),
                (Some(_), None) => Err(half(first, second)),
                (None, Some(_)) => Err(half(second, first)),
            }
        };
        let password =
            pair("username", "password")?.map(|(username, password)| OciCredentialKind::Password {
                username,
                password: password.into(),
            });
        let tokens = pair("access_token", "refresh_token")?.map(|(access, refresh)| {
            OciCredentialKind::Tokens {
                access: access.into(),
                refresh: refresh.into(),
            }
        });
        let helper = helper(block.body)?;
        if helper.is_some() && prefix.depth() > 0 {
            return Err(Error::HelperWithPath { label: label() });
        }
        let mut given = [password, tokens, helper.map(OciCredentialKind::Helper)]
            .into_iter()
            .flatten();
        match (given.next(), given.next()) {
            (Some(kind), None) => Ok(Self { prefix, kind }),
            (None, _) => Err(Error::NoCredentials { label: label() }),
            (Some(_), Some(_)) => Err(Error::SeveralKinds { label: label() }),
        }
    }
}

impl OciDefaults {
    fn read(body: &Section) -> Result<Self, Error> {
        let discover = body.flag("discover_ambient_credentials")?.unwrap_or(true);
        let files = body.texts("docker_style_config_files")?;
        if !discover && files.is_some() {
            return Err(Error::FilesWithoutDiscovery);
        }
        Ok(Self {
            discover,
            files,
            helper: helper(body)?,
        })
    }
}

fn helper(body: &Section) -> Result<Option<HelperName>, Error> {
    let name = body.text("docker_credentials_helper")?;
    name.map(|name| HelperName::parse(&name)).transpose()
}

fn methods(body: &Section) -> Result<Vec<InstallationMethod>, Error> {
    let mut methods = Vec::new();
    for block in body.all_blocks() {
        if block.name != "dev_overrides" {
            methods.push(InstallationMethod::read(&block)?);
        } else if !methods.is_empty() {
            return Err(Error::LateOverrides);
        }
    }
    Ok(methods)
}

impl DevOverrides {
    fn read(body: &Section) -> Option<Self> {
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
    fn read(block: &Block<'_>) -> Result<Self, Error> {
        let body = block.body;
        let kind = match block.name {
            "oci_mirror" => MethodKind::OciMirror {
                repository_template: body.text("repository_template")?.ok_or(Error::NoTemplate)?,
            },
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
            include: patterns(block, "include")?,
            exclude: patterns(block, "exclude")?.unwrap_or_default(),
            line: block.line,
        })
    }
}

fn patterns(block: &Block<'_>, name: &'static str) -> Result<Option<Vec<ProviderPattern>>, Error> {
    let host = Hostname::default_origin();
    let pattern = |text: String| {
        ProviderPattern::parse(&text, &host).map_err(|source| Error::Pattern {
            name,
            method: block.name.to_owned(),
            source,
        })
    };
    let texts = block.body.texts(name)?;
    texts
        .map(|texts| texts.into_iter().map(pattern).collect())
        .transpose()
}

#[cfg(test)]
mod tests;
