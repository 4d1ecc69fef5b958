//! A credential, and where it was found.

use super::{CredentialKind, FoundIn};
use crate::http::Authorization;
use crate::secret::Secret;

/// A credential and its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    /// The username and password, or the token.
    pub kind: CredentialKind,
    /// The file, variable or program that contains the credential.
    pub found_in: FoundIn,
}

impl Credential {
    /// The credential of a username and password that the user typed.
    pub fn typed(username: &str, password: Secret) -> Self {
        let username = username.to_owned();
        Self {
            kind: CredentialKind::Password { username, password },
            found_in: FoundIn::named("the command line"),
        }
    }

    /// The `Authorization` header of a password or access token; `None` for an identity token, which is only sent to token servers.
    pub fn authorization(&self) -> Option<Authorization> {
        self.basic().or_else(|| self.bearer())
    }

    /// The `Basic` header of a username and password; `None` for a token.
    pub fn basic(&self) -> Option<Authorization> {
        match &self.kind {
            CredentialKind::Password { username, password } => {
                Some(Authorization::basic(username, password))
            }
            CredentialKind::AccessToken(_) | CredentialKind::IdentityToken(_) => None,
        }
    }

    /// The `Bearer` header of an access token; `None` for other kinds.
    pub fn bearer(&self) -> Option<Authorization> {
        match &self.kind {
            CredentialKind::AccessToken(token) => Some(Authorization::bearer(token)),
            CredentialKind::Password { .. } | CredentialKind::IdentityToken(_) => None,
        }
    }

    /// The identity token; `None` for other kinds.
    pub fn identity_token(&self) -> Option<&Secret> {
        match &self.kind {
            CredentialKind::IdentityToken(token) => Some(token),
            CredentialKind::Password { .. } | CredentialKind::AccessToken(_) => None,
        }
    }
}
