//! What registries and token servers say, as JSON. Shapes only.

use serde::Deserialize;

use crate::json::{self, Object};

/// Reads a page of the list of tags, `GET /v2/NAME/tags/list` (OCI distribution specification), of at most `most` tags. Some
/// registries say `null` for none.
pub(super) fn tags(page: &[u8], most: usize) -> Result<Vec<String>, json::Error> {
    Object::parse(page)?.texts("tags", most)
}

/// The errors of a registry.
#[derive(Debug, Default, Deserialize)]
pub(super) struct ErrorList {
    #[serde(default)]
    pub(super) errors: Vec<ErrorItem>,
}

/// One error of a registry.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct ErrorItem {
    #[serde(default)]
    pub(super) code: String,
    #[serde(default)]
    pub(super) message: String,
}

/// What a token server gives. `access_token` is preferred where both are there
/// ([clients: authentication flow](crate::clients#authentication-flow)).
pub(super) struct TokenAnswer {
    pub(super) token: Option<String>,
    pub(super) access_token: Option<String>,
    /// For how many seconds it holds; 60 where it is not said.
    pub(super) expires_in: Option<u64>,
}

impl TokenAnswer {
    /// Reads an answer.
    pub(super) fn read(answer: &[u8]) -> Result<Self, json::Error> {
        let mut object = Object::parse(answer)?;
        Ok(Self {
            token: object.value("token")?,
            access_token: object.value("access_token")?,
            expires_in: object.value("expires_in")?,
        })
    }
}
