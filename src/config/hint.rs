//! What helps when a mirror file cannot be used.

use super::mirror::Error;
use crate::error::Hint;

impl Hint for Error {
    fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Toml(_) | Self::Empty => "`tfoci help mirror-file` shows a mirror file",
            Self::Repeated { .. } => "remove one of the two tables, or change its constraints",
        };
        Some(text.to_owned())
    }
}
