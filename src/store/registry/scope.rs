//! Tokens, and what they allow.

use std::time::Instant;

use crate::http::Authorization;

/// The actions on repositories that a token must allow.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Scope(pub(super) Vec<String>);

impl Scope {
    /// No repository, as for `GET /v2/`.
    pub(super) fn none() -> Self {
        Self(Vec::new())
    }

    /// The list of the registry's repositories.
    pub(super) fn catalog() -> Self {
        Self(vec!["registry:catalog:*".to_owned()])
    }

    pub(super) fn pull(name: &str) -> Self {
        Self(vec![format!("repository:{name}:pull")])
    }

    pub(super) fn push(name: &str) -> Self {
        Self(vec![format!("repository:{name}:pull,push")])
    }

    pub(super) fn delete(name: &str) -> Self {
        Self(vec![format!("repository:{name}:pull,push,delete")])
    }

    /// Adds reading another repository, which a mount needs.
    pub(super) fn and_pull(mut self, name: &str) -> Self {
        self.0.push(format!("repository:{name}:pull"));
        self
    }
}

/// A token of a token server.
pub(super) struct Token {
    pub(super) secret: Authorization,
    pub(super) until: Instant,
}
