//! What helps when a mirror file cannot be used.

use super::mirror::{Error, MirrorEntryError};
use crate::error::{Hint, printable};

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
            Self::Entry {
                address,
                source: MirrorEntryError::Address(_),
                ..
            } => match address.split_once('@') {
                Some((_, version)) => {
                    let version = printable(version);
                    return Some(format!("write `constraints = \"{version}\"` in the table"));
                }
                None => {
                    "write `HOST/NAMESPACE/TYPE`, such as `registry.terraform.io/hashicorp/random`"
                }
            },
            Self::Repeated { .. } => "remove one of the two tables, or change its constraints",
            Self::Empty | Self::Entry { .. } => EXAMPLE,
        };
        Some(text.to_owned())
    }
}
