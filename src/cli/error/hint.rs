//! What helps after an error of a command.

use tfoci::error::Hint;

use super::CommandError;

impl Hint for CommandError {
    fn hint(&self) -> Option<String> {
        if let Some(failure) = self.failure() {
            return failure.hint();
        }
        match self {
            Self::Plain { hint, .. } => hint.clone(),
            Self::Empty { advice, .. } => Some((*advice).to_owned()),
            Self::Source(error) => error.hint(),
            Self::TrustFile { source, .. } => source.hint(),
            Self::Trust(error) => error.hint(),
            Self::KeyFile {
                is_trust_file: true,
                ..
            } => Some("a trust file is named with `--trust`".to_owned()),
            Self::KeyFile { error, .. } => error.hint(),
            Self::MirrorFile { source, .. } => source.hint(),
            Self::LockFile { source, .. } => source.hint(),
            Self::Configuration(error) => error.hint(),
            Self::Credentials(error) | Self::Named { error, .. } => error.hint(),
            Self::Serve(error) => error.hint(),
            Self::LockTarget(error) => error.hint(),
            Self::NotPinned { .. } => {
                Some("write their tables by hand: `match` and `keys`".to_owned())
            }
            _ => None,
        }
    }
}
