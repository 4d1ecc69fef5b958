//! The CLI configuration of `tofu` and `terraform`: its blocks about credentials and provider installation.
//!
//! It is HCL or JSON. Other blocks are ignored, so that files for every version of both clients can be read.

use crate::config::{Error, HelperName, RepositoryPrefix};
use crate::lockfile::Client;
use crate::secret::Secret;
use crate::syntax::{self, Block, Section};

mod cache;
mod host;
mod installation;
mod traps;
mod unknown;

pub use cache::PluginCache;
pub use host::{CredentialsHelper, HostServices, HostToken};
use installation::methods;
pub use installation::{DevOverrides, InstallationMethod, MethodKind};
pub use traps::{Trap, TrapKind, traps};

/// The largest accepted configuration, in bytes. Real ones have some hundred bytes.
pub const LARGEST: usize = 1 << 20;

/// What the `.tofurc` or `.terraformrc` of a user says, as far as tfoci acts on it.
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
    /// The directory of `plugin_cache_dir`, and what clients accept from it.
    pub plugin_cache: PluginCache,
    /// What neither client knows, and credentials without a token: traps that no other field shows.
    pub ignored: Vec<Trap>,
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

impl CliConfig {
    /// Parses a configuration as `client` does: its default host is that of patterns without one.
    ///
    /// # Errors
    /// Clients would refuse the blocks about [credentials](crate::clients#credential-blocks) or
    /// [mirrors](crate::clients#cli-configuration), each with its own message.
    pub fn parse(bytes: &[u8], client: Client) -> Result<Self, Error> {
        if bytes.len() > LARGEST {
            return Err(Error::Large { limit: LARGEST });
        }
        let root = syntax::parse(bytes)?;
        let mut oci_credentials: Vec<OciCredentials> = Vec::new();
        for block in root.blocks("oci_credentials", 1)? {
            let read = OciCredentials::read(&block).map_err(|error| error.at(block.line))?;
            if oci_credentials.iter().any(|one| one.prefix == read.prefix) {
                let label = read.prefix.to_string();
                return Err(Error::Duplicate { label }.at(block.line));
            }
            oci_credentials.push(read);
        }
        let mut tokens = Vec::new();
        for block in root.blocks("credentials", 1)? {
            tokens.extend(HostToken::read(&block).map_err(|error| error.at(block.line))?);
        }
        let hosts = root.blocks("host", 1)?;
        let defaults = only(&root, "oci_default_credentials")?;
        let installation = only(&root, "provider_installation")?;
        let installation = installation.as_ref();
        let overrides = installation.and_then(|block| DevOverrides::read(block.body));
        let defaults = defaults.map(|block| {
            let read = OciDefaults::read(block.body);
            read.map_err(|error| error.at(block.line))
        });
        let hosts = hosts.iter().map(|block| {
            let read = HostServices::read(block);
            read.map_err(|error| error.at(block.line))
        });
        Ok(Self {
            oci_credentials,
            oci_defaults: defaults.transpose()?.unwrap_or_default(),
            tokens,
            token_helper: token_helper(&root)?,
            hosts: hosts.collect::<Result<_, _>>()?,
            overrides,
            installation: installation
                .map(|block| methods(block.body, &client.default_host()))
                .transpose()?,
            installation_line: installation.and_then(|block| block.line),
            plugin_cache: PluginCache::read(&root),
            ignored: unknown::ignored(&root),
        })
    }
}

fn only<'a>(root: &'a Section, name: &'static str) -> Result<Option<Block<'a>>, Error> {
    only_one(root.blocks(name, 0)?, name)
}

fn only_one<'a>(blocks: Vec<Block<'a>>, name: &'static str) -> Result<Option<Block<'a>>, Error> {
    match blocks.get(1) {
        Some(second) => Err(Error::Several { name }.at(second.line)),
        None => Ok(blocks.into_iter().next()),
    }
}

fn token_helper(root: &Section) -> Result<Option<CredentialsHelper>, Error> {
    let name = "credentials_helper";
    let helper = only_one(root.blocks(name, 1)?, name)?;
    let read = helper.map(|block| {
        let read = CredentialsHelper::read(&block);
        read.map_err(|error| error.at(block.line))
    });
    read.transpose()
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

#[cfg(test)]
mod tests;
