//! What registries and token servers say, as JSON. Shapes only.

use serde::Deserialize;

/// The list of tags: `GET /v2/NAME/tags/list` (OCI distribution specification).
#[derive(Debug, Deserialize)]
pub(super) struct TagList {
    /// Some registries say `null` for none.
    pub(super) tags: Option<Vec<String>>,
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

/// What a token server gives. `access_token` is preferred where both are there (contract 3.5).
#[derive(Deserialize)]
pub(super) struct TokenAnswer {
    pub(super) token: Option<String>,
    pub(super) access_token: Option<String>,
    /// For how many seconds it holds; 60 where it is not said.
    pub(super) expires_in: Option<u64>,
}
