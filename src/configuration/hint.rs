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
            Self::Uncertain { .. } => {
                "write the source out, such as `git::https://HOST/REPOSITORY.git?ref=TAG`"
            }
            Self::Redirected { .. } | Self::ModulesJsonContent { .. } => {
                "the client writes no such file: remove it, and run `get` again"
            }
            _ => return None,
        };
        Some(text.to_owned())
    }
}
