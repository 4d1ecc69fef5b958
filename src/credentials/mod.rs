//! Credentials for registries.

use std::fmt;

use crate::http::Secret;

/// A way to say who we are, and where it was found. Its secrets are never printed.
#[derive(Clone, PartialEq, Eq)]
pub enum Credential {
    /// A name and password.
    Basic {
        /// The name.
        username: String,
        /// The password.
        password: String,
        /// Where it was found.
        origin: String,
    },
    /// An identity token, which a token server turns into access tokens.
    Identity {
        /// The token.
        token: String,
        /// Where it was found.
        origin: String,
    },
}

impl Credential {
    /// The name and password as a header, if that is what this is.
    pub fn basic(&self) -> Option<Secret> {
        match self {
            Self::Basic {
                username, password, ..
            } => Some(Secret::basic(username, password)),
            Self::Identity { .. } => None,
        }
    }

    /// Where it was found.
    pub fn origin(&self) -> &str {
        match self {
            Self::Basic { origin, .. } | Self::Identity { origin, .. } => origin,
        }
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Credential(from {})", self.origin())
    }
}
