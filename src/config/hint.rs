//! What helps when a mirror file cannot be used.

use super::mirror::Error;
use crate::error::Hint;

impl Hint for Error {
    fn hint(&self) -> Option<String> {
        const EXAMPLE: &str = "`tfoci help mirror-file` shows a mirror file";
        let text = match self {
            Self::Toml(error) => match error.unknown_field() {
                Some("trust") => "`trust` belongs above the first `[[provider]]`",
                Some("version" | "versions" | "constraint") => "did you mean `constraints`?",
                Some("source" | "provider" | "name") => "did you mean `address`?",
                _ => return error.hint().or_else(|| Some(EXAMPLE.to_owned())),
            },
            Self::Repeated { .. } => "remove one of the two tables, or change its constraints",
            Self::Empty => EXAMPLE,
        };
        Some(text.to_owned())
    }
}
