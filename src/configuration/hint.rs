//! What helps when a configuration cannot be read.

use super::Error;
use crate::error::Hint;

impl Hint for Error {
    fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Disk(error) => return error.hint(),
            Self::Empty { .. } => {
                "name a provider, such as `acme/demo`, or the directory of a configuration"
            }
            Self::ModulesJson { .. } => {
                "the client writes no such file: remove it, and run `get` again"
            }
            _ => return None,
        };
        Some(text.to_owned())
    }
}
