//! The blocks of the CLI configuration about provider registries: tokens, the token helper and service URLs.

use std::collections::BTreeMap;

use crate::address::Hostname;
use crate::config::{Error, HelperName};
use crate::secret::Secret;
use crate::syntax::{Block, Section};

/// `credentials "HOST" { token = "…" }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostToken {
    /// The host of the provider registry, as written.
    pub host: String,
    /// The token, which is sent as `Bearer`.
    pub token: Secret,
}

/// `host "HOST" { services = { … } }`: replaces the discovery document of the host
/// ([clients: host blocks](crate::clients#host-blocks)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostServices {
    /// The host whose discovery document the block replaces.
    pub host: Hostname,
    /// The services and their URLs, as written. Values that are not text are left out.
    pub services: BTreeMap<String, String>,
}

/// `credentials_helper "NAME" { args = [ … ] }`: a program that provides tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CredentialsHelper {
    /// The program `terraform-credentials-NAME`.
    pub name: HelperName,
    /// The arguments before the verb.
    pub arguments: Vec<String>,
}

impl HostToken {
    pub(super) fn read(block: &Block<'_>) -> Result<Option<Self>, Error> {
        let token = block.body.text("token")?.map(Secret::from);
        let host = label(block).to_owned();
        Ok(token.map(|token| Self { host, token }))
    }
}

impl HostServices {
    pub(super) fn read(block: &Block<'_>) -> Result<Self, Error> {
        let host = label(block).parse()?;
        let services = block.body.section("services")?;
        let texts = services.into_iter().flat_map(Section::all_texts);
        Ok(Self {
            host,
            services: texts.map(|(name, text)| (name.to_owned(), text)).collect(),
        })
    }
}

impl CredentialsHelper {
    pub(super) fn read(block: &Block<'_>) -> Result<Self, Error> {
        Ok(Self {
            name: HelperName::terraform(label(block))?,
            arguments: block.body.texts("args")?.unwrap_or_default(),
        })
    }
}

fn label<'a>(block: &Block<'a>) -> &'a str {
    block.labels.first().copied().unwrap_or_default()
}
