//! What helps after an error of a command.

use tfoci::constraint::ConstraintError;
use tfoci::error::{Hint, printable};
use tfoci::selection;
use tfoci::version::VersionErrorKind;

use super::CommandError;

impl Hint for CommandError {
    fn hint(&self) -> Option<String> {
        if let Some(failure) = self.failure() {
            return failure.hint();
        }
        match self {
            Self::Plain { hint, .. } => hint.clone(),
            Self::Empty { advice, .. } => Some((*advice).to_owned()),
            Self::Selection(error) => selection(error),
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

/// About an argument that is not a provider.
fn selection(error: &selection::Error) -> Option<String> {
    let text = match error {
        selection::Error::Constraints(error)
            if error.mistake == ConstraintError::Version(VersionErrorKind::LeadingV) =>
        {
            return Some(format!(
                "did you mean `{}`?",
                printable(&error.text.replacen(['v', 'V'], "", 1))
            ));
        }
        selection::Error::Address { text, .. } if text.contains('*') => {
            "an address names one provider and has no `*`"
        }
        selection::Error::Address { text, .. } if text.contains("://") => {
            "write it without the scheme: `HOST/NAMESPACE/TYPE`"
        }
        selection::Error::Address { text, .. } if text.ends_with(".toml") => {
            "a mirror file is named with `--file`"
        }
        selection::Error::Address { text, .. } if text.ends_with(".hcl") => {
            "a lock file is named with `--from-lock`"
        }
        selection::Error::Address { text, .. } => {
            let (host, rest) = text.split_once('/')?;
            let is_short = host.contains(['.', ':']) && !rest.contains('/');
            is_short.then_some("an address with a host has three parts: `HOST/NAMESPACE/TYPE`")?
        }
        _ => return None,
    };
    Some(text.to_owned())
}
