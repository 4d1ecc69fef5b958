//! The CLI configuration of `tofu` and `terraform`: its blocks about credentials and provider installation.
//!
//! It is HCL or JSON. Other blocks are ignored, so that files for every version of both clients can be read.

use crate::config::{Error, HelperName, RepositoryPrefix};
use crate::lockfile::Client;
use crate::secret::Secret;
use crate::syntax::{self, Block, Section, Value};

mod cache;
mod host;
mod ignored;
mod installation;

pub use cache::expanded;
pub use host::{CredentialsHelper, HostServices, HostToken};
pub use ignored::Ignored;
use installation::methods;
pub use installation::{DevOverrides, InstallationMethod, MethodKind};

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
    /// `plugin_cache_dir`, as written (see [`expanded`]). A value of another type is left out, because no other command needs it.
    pub plugin_cache_dir: Option<String>,
    /// What neither client knows.
    pub ignored: Vec<Ignored>,
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
    /// `username` and `password`, or `access_token` and `refresh_token`.
    Own(CredentialKind),
    /// `docker_credentials_helper`.
    Helper(HelperName),
}

/// A username and password, or a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CredentialKind {
    /// A username and password, for basic authentication or a token server.
    Password {
        /// The username. For clients, an empty one means no credentials.
        username: String,
        /// The password, or a personal access token in its place.
        password: Secret,
    },
    /// A token that is sent unchanged, as `Bearer`.
    AccessToken(Secret),
    /// A refresh token, which docker calls an identity token. A token server exchanges it for access tokens.
    IdentityToken(Secret),
}

/// `oci_default_credentials` ([clients: credential blocks](crate::clients#credential-blocks)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OciDefaults {
    /// Whether the credential files of other tools are searched.
    pub discover: bool,
    /// The files to read instead of the files of docker and podman. Relative paths are relative to the configuration's directory.
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
        let root = syntax::cli(bytes)?;
        let oci_credentials = each(root.blocks("oci_credentials", 1)?, OciCredentials::read)?;
        let tokens = each(root.blocks("credentials", 1)?, HostToken::read)?;
        let defaults = |block: &Block<'_>| OciDefaults::read(block.body);
        let defaults = only(&root, "oci_default_credentials", 0, defaults)?;
        let host = client.default_host();
        let installation = only(&root, "provider_installation", 0, |block| {
            let overrides = DevOverrides::read(block.body);
            Ok((overrides, methods(block.body, &host)?))
        })?;
        let (overrides, installation) = installation.unzip();
        Ok(Self {
            oci_credentials,
            oci_defaults: defaults.unwrap_or_default(),
            tokens: tokens.into_iter().flatten().collect(),
            token_helper: only(&root, "credentials_helper", 1, CredentialsHelper::read)?,
            hosts: each(root.blocks("host", 1)?, HostServices::read)?,
            overrides: overrides.flatten(),
            installation,
            plugin_cache_dir: root
                .value("plugin_cache_dir")
                .and_then(Value::text)
                .filter(|text| !text.is_empty()),
            ignored: ignored::ignored(&root),
        })
    }
}

/// Reads blocks, and adds their lines to errors.
fn each<'a, T>(
    blocks: Vec<Block<'a>>,
    read: impl Fn(&Block<'a>) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    let read = |block: Block<'a>| read(&block).map_err(|error| error.at(block.line));
    blocks.into_iter().map(read).collect()
}

/// Reads a block that may be there once.
fn only<T>(
    root: &Section<'_>,
    name: &str,
    labels: usize,
    read: impl Fn(&Block<'_>) -> Result<T, Error>,
) -> Result<Option<T>, Error> {
    let blocks = root.blocks(name, labels)?;
    if let Some(second) = blocks.get(1) {
        let several = format!("more than one `{name}` block");
        return Err(Error::Block(several).at(second.line));
    }
    Ok(each(blocks, read)?.pop())
}

impl OciCredentials {
    fn read(block: &Block<'_>) -> Result<Self, Error> {
        let label = block.labels.first().copied().unwrap_or_default();
        let prefix = RepositoryPrefix::parse(label)?;
        let refused = || Error::Credentials {
            label: label.to_owned(),
        };
        let pair = |first: &'static str, second: &'static str| match (
            block.body.text(first)?,
            block.body.text(second)?,
        ) {
            (None, None) => Ok(None),
            (Some(a), Some(b)) => Ok(Some((a, b))),
            _ => Err(refused()),
        };
        let password = pair("username", "password")?;
        let password = password.map(|(username, password)| CredentialKind::Password {
            username,
            password: password.into(),
        });
        let tokens = pair("access_token", "refresh_token")?;
        // As for clients, the refresh token counts only if there is no access token (`crate::clients#authentication-flow`).
        let token = tokens.map(|(access, refresh)| match access.is_empty() {
            true => CredentialKind::IdentityToken(refresh.into()),
            false => CredentialKind::AccessToken(access.into()),
        });
        let helper = helper(block.body)?;
        if helper.is_some() && prefix.depth() > 0 {
            return Err(refused());
        }
        let [password, token] = [password, token].map(|one| one.map(OciCredentialKind::Own));
        let mut given = [password, token, helper.map(OciCredentialKind::Helper)]
            .into_iter()
            .flatten();
        match (given.next(), given.next()) {
            (Some(kind), None) => Ok(Self { prefix, kind }),
            _ => Err(refused()),
        }
    }
}

impl OciDefaults {
    fn read(body: &Section<'_>) -> Result<Self, Error> {
        let discover = body.flag("discover_ambient_credentials")?.unwrap_or(true);
        let files = body.texts("docker_style_config_files")?;
        Ok(Self {
            discover,
            files,
            helper: helper(body)?,
        })
    }
}

fn helper(body: &Section<'_>) -> Result<Option<HelperName>, Error> {
    let name = body.text("docker_credentials_helper")?;
    name.map(|name| HelperName::docker(&name)).transpose()
}

#[cfg(test)]
mod tests;
