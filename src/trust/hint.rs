//! What helps when a release, a key or a trust file is not accepted. `ADDR` stands for the provider.

use super::expected_keys::AskedBy;
use super::{Error, Lacking, SignatureErrorKind};
use crate::error::Hint;

impl Hint for Error {
    fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Refused(error) => return error.reason.hint(),
            Self::Unproven { lacks, pinned } => match pinned {
                _ if *lacks == Lacking::Key => {
                    "name the file of its author's key with `--key FILE`"
                }
                None => {
                    "`--allow-unsigned ADDR` of `push`, `mirror` and `lock` accepts it without proof"
                }
                Some(pinned) if pinned.asked_by == Some(AskedBy::Option) => {
                    "`gpg --detach-sign FILE` signs it; or leave out `--key`, if its author signs nothing"
                }
                Some(_) => {
                    "if its author signs nothing, an entry for it alone with `unsigned = \"allow\"` accepts it"
                }
            },
            Self::NotAttested { fault: None, .. } => {
                "`tfoci mirror --attest KEY --attest-id URI` attests what the store has already"
            }
            Self::NotLocked { .. } => {
                "if the lock file is for other platforms, name those with `--platform`"
            }
            Self::NoLine { .. } => {
                "`sha256sum terraform-provider-*.zip` prints the lines that clients read; then sign again"
            }
            Self::Mismatch(_) => {
                "sign a release after its last change: its author has to publish it again"
            }
            Self::NoZipLocked => "`tofu providers lock -platform=OS_ARCH` adds the hashes of zips",
            Self::UnverifiedTransport { .. } => {
                "`--ca-file FILE` names the authority that signs its origin's certificate"
            }
            Self::Unsupported => "use a build with the feature `openpgp`",
            error => return error.hint_about_files(),
        };
        Some(text.to_owned())
    }
}

impl Error {
    /// About a trust file or a file of keys.
    fn hint_about_files(&self) -> Option<String> {
        let text = match self {
            Self::Entry { error, .. } => return error.hint_about_files(),
            Self::TrustFile(_) => EXAMPLE,
            Self::NoMirrorKey { .. } => {
                "`openssl pkey -in KEY -pubout -out FILE` writes the public half of its key"
            }
            Self::NotAKey { .. } => {
                "`gpg --armor --output FILE --export FINGERPRINT` writes one in any shell"
            }
            Self::Pattern(_) | Self::NoPlace => EXAMPLE,
            _ => return None,
        };
        Some(text.to_owned())
    }
}

const EXAMPLE: &str = "`tfoci help trust` shows a trust file";

impl Hint for SignatureErrorKind {
    fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Malformed => "`gpg --detach-sign FILE` makes one",
            Self::Armoured => "sign without `--armor`, or convert it with `gpg --dearmor`",
            // In an entry for several providers, the key could sign for all of them.
            Self::NotPinned { expected, .. } => match &expected.asked_by {
                Some(AskedBy::TrustFile { .. }) => {
                    "if its author says that this key is theirs, pin it in an entry for this provider alone"
                }
                _ => "if its author says that this key is theirs, name its file with `--key FILE`",
            },
            Self::OtherKey { .. } => "if its author has a new key, name its file with `--key FILE`",
            Self::WeakDocument { .. } => "`weak = \"warn\"` in a trust file accepts it",
            Self::Expired { .. } => {
                "if the key was in use then, `expired = \"warn\"` in the trust file accepts it"
            }
            Self::Revoked { .. } | Self::NotForSigning { .. } => {
                "its author has to sign it with a key that is in use"
            }
            _ => return None,
        };
        Some(text.to_owned())
    }
}
