//! How to say who we are, before anybody was asked.

use super::helper::Helpers;
use super::{Credential, Error};
use crate::config::cli;
use crate::config::{HelperName, Hidden};

/// What a source has for a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Means {
    Password { username: String, password: Hidden },
    Identity(Hidden),
    Access(Hidden),
    Helper(HelperName),
}

impl Means {
    /// The credential, for which a helper may have to be asked. An empty name is no credential.
    pub(super) async fn resolve(
        &self,
        domain: &str,
        origin: &str,
        helpers: &Helpers,
    ) -> Result<Option<Credential>, Error> {
        let origin = origin.to_owned();
        let told = match self {
            Self::Helper(helper) => {
                let Some(told) = helpers.get(helper, domain).await? else {
                    return Ok(None);
                };
                return Ok(told.into_credential(format!("{helper}, named by {origin}")));
            }
            told => told.clone(),
        };
        Ok(told.into_credential(origin))
    }

    fn into_credential(self, origin: String) -> Option<Credential> {
        match self {
            Self::Password { username, .. } if username.is_empty() => None,
            Self::Password { username, password } => Some(Credential::Basic {
                username,
                password: password.reveal().to_owned(),
                origin,
            }),
            Self::Identity(token) => Some(Credential::Identity {
                token: token.reveal().to_owned(),
                origin,
            }),
            Self::Access(token) => Some(Credential::Access {
                token: token.reveal().to_owned(),
                origin,
            }),
            Self::Helper(_) => None,
        }
    }
}

impl From<cli::Means> for Means {
    fn from(means: cli::Means) -> Self {
        match means {
            cli::Means::Password { username, password } => Self::Password { username, password },
            // As clients do: the refresh token counts only where there is no access token
            // (`crate::clients#authentication-flow`).
            cli::Means::Tokens { access, refresh } if access.reveal().is_empty() => {
                Self::Identity(refresh)
            }
            cli::Means::Tokens { access, .. } => Self::Access(access),
            cli::Means::Helper(helper) => Self::Helper(helper),
        }
    }
}
