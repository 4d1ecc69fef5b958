//! The JSON of registries and token servers.

use serde::Deserialize;

use crate::json::{self, Object};
use crate::secret::Secret;

/// The error body of the OCI distribution specification.
#[derive(Debug, Default, Deserialize)]
pub(super) struct ErrorList {
    #[serde(default)]
    pub(super) errors: Vec<ErrorItem>,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct ErrorItem {
    #[serde(default)]
    pub(super) code: String,
    #[serde(default)]
    pub(super) message: String,
}

/// The answer of a token server. `access_token` takes precedence over `token`
/// ([clients: authentication flow](crate::clients#authentication-flow)).
pub(super) struct TokenAnswer {
    pub(super) token: Option<Secret>,
    pub(super) access_token: Option<Secret>,
    /// The lifetime in seconds.
    pub(super) expires_in: Option<u64>,
}

impl TokenAnswer {
    /// Parses the body of an answer.
    pub(super) fn read(answer: &[u8]) -> Result<Self, json::Error> {
        let mut object = Object::parse(answer)?;
        Ok(Self {
            token: object.value("token")?,
            access_token: object.value("access_token")?,
            expires_in: object.value("expires_in")?,
        })
    }
}
