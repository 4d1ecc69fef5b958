//! Hints about trust files and key files.

use tfoci::trust;

use super::files;
use crate::cli::error::CommandError;

pub(super) fn hint(error: &CommandError) -> Option<String> {
    let text = match error {
        CommandError::TrustFile { source, .. } => return Some(trust_file(source)),
        CommandError::KeyAsTrust { .. } => {
            "a file of keys is named with `--key`, or by `keys` in a trust file"
        }
        CommandError::KeyFile {
            is_trust_file: true,
            ..
        } => "a trust file is named with `--trust`",
        CommandError::KeyFile { error, .. } | CommandError::Trust(error) => return key_file(error),
        CommandError::KeyNotFile { .. } => {
            "a fingerprint goes into `keys` of a trust file (`tfoci help trust`); `gpg --export --armor FINGERPRINT` writes the key itself"
        }
        CommandError::NoSuchTrustFile { .. } => {
            "check the path; `tfoci mirror --pin-new` creates a new one, with the keys that it sees"
        }
        CommandError::NoTrustFile => {
            "name it with `--trust FILE`, or by `trust` in the mirror file: it is created if it does not exist"
        }
        CommandError::NotPinned { .. } => {
            "pin them by hand: a table with `match` and `keys`, before any other that matches the provider"
        }
        CommandError::NotText { .. } => files::ENCODING,
        _ => return None,
    };
    Some(text.to_owned())
}

/// Suggests how to write a trust file that cannot be used.
fn trust_file(error: &trust::Error) -> String {
    const EXAMPLE: &str = "`tfoci help trust` shows a trust file";
    let text = match error {
        trust::Error::Entry { error, .. } => return trust_file(error),
        trust::Error::UnsignedPin { .. } => {
            "`unsigned` has no meaning beside `keys`: leave out one of them, or write two entries: the first that matches decides"
        }
        trust::Error::KeyId { .. } | trust::Error::Fingerprint(_) => {
            "`gpg --show-keys --with-fingerprint FILE` prints the fingerprint of a key"
        }
        trust::Error::TrustFile(error) if error.means_provider_table() => {
            return format!("did you mean `[[provider]]`? {EXAMPLE}");
        }
        trust::Error::TrustFile(error) => {
            if let Some(meant) = error.meant_list() {
                return format!("did you mean `{meant}`? {EXAMPLE}");
            }
            let meant = match error.unknown_field() {
                Some("key" | "fingerprint" | "fingerprints") => "keys",
                Some("address" | "provider" | "pattern" | "source") => "match",
                _ => match error.meant_field() {
                    Some(meant) => meant,
                    None => return EXAMPLE.to_owned(),
                },
            };
            return format!("did you mean `{meant}`? {EXAMPLE}");
        }
        _ => EXAMPLE,
    };
    text.to_owned()
}

/// Suggests how to write a key file that cannot be used.
pub(super) fn key_file(error: &trust::Error) -> Option<String> {
    let text = match error {
        trust::Error::NotAKey { .. } => "`gpg --export --armor FINGERPRINT` writes one",
        trust::Error::EncodedKey { .. } => {
            "`gpg --armor --output FILE --export FINGERPRINT` writes one; in PowerShell, `>` changes the encoding"
        }
        trust::Error::SecretKey { .. } => {
            "keep it where only its owner can read it; `gpg --export --armor FINGERPRINT` writes the public key"
        }
        _ => return None,
    };
    Some(text.to_owned())
}
