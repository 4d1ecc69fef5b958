//! Hints about files that people write, and that other programs change.

use tfoci::lockfile::{self, LockFileErrorKind};
use tfoci::serve;
use tfoci::syntax::outline::SyntaxError;
use tfoci::text;

/// A file that is not UTF-8.
pub(super) const ENCODING: &str =
    "save it as UTF-8; in PowerShell, `Set-Content -Encoding utf8` does";

/// A hint for a lock file that was damaged on its way.
pub(super) fn lock(error: &lockfile::Error) -> Option<String> {
    match &error.kind {
        LockFileErrorKind::Hcl(SyntaxError::Text(text::Error::Utf16)) => Some(ENCODING.to_owned()),
        _ => None,
    }
}

/// A hint for a server that cannot start.
pub(super) fn serve(error: &serve::Error) -> Option<String> {
    match error {
        serve::Error::Tokens {
            source: serve::TokensError::Text(_),
            ..
        } => Some(ENCODING.to_owned()),
        serve::Error::Tokens {
            source: serve::TokensError::Empty,
            ..
        } => Some("`tfoci help deployment` shows how to make a token".to_owned()),
        _ => None,
    }
}
