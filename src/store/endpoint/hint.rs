//! What helps when a text is no store, or a provider has no place in one.

use super::{AddressError, MappingError};
use crate::error::Hint;

impl Hint for AddressError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Repository(error) => error.hint(),
            Self::Levels(error) => error.hint(),
            Self::User { .. } => Some("`tfoci login REGISTRY` stores them".to_owned()),
            _ => None,
        }
    }
}

impl Hint for MappingError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Template(error) => error.hint(),
            Self::Levels(error) => error.hint(),
            Self::OneRepository { .. } => Some(
                "put `{hostname}/{namespace}/{type}` into a registry's address; a directory is `oci-layout:DIR`"
                    .to_owned(),
            ),
            Self::NoType { .. } => Some(
                "add `{type}` to the template; or, for this one repository, `--exact-repository`"
                    .to_owned(),
            ),
            Self::Address(_) => None,
        }
    }
}
