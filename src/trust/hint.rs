//! What helps when a release, a key or a trust file is not accepted. `ADDR` stands for the provider.

use super::{Error, Lacking, SignatureErrorKind};
use crate::error::Hint;

impl Hint for Error {
    fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Refused(error) => return error.reason.hint(),
            Self::Unproven {
                lacks: Lacking::Key,
                ..
            } => "name the file of its author's key with `--key FILE`",
            Self::Unproven { pinned, .. } if pinned.is_empty() => {
                "`--allow-unsigned ADDR` of `push`, `mirror` and `lock` accepts it without proof"
            }
            Self::Unproven { .. } => {
                "if its author signs nothing, leave out `--key`, or give it an entry alone with `unsigned = \"allow\"`"
            }
            Self::NotAttested { fault: None, .. } => {
                "`tfoci mirror --attest KEY --attest-id URI` attests what the store has already"
            }
            Self::NotLocked { .. } => {
                "if the lock file is for other platforms, name those with `--platform`"
            }
            Self::NoLine { .. } => {
                "`sha256sum terraform-provider-*.zip` prints the lines that clients read"
            }
            Self::NoZipLocked => "`tofu providers lock -platform=OS_ARCH` adds the hashes of zips",
            Self::UnverifiedTransport => {
                "`--ca-file FILE` names the authority that signs its origin's certificate"
            }
            Self::NoMirrorKey { .. } => {
                "`openssl pkey -in KEY -pubout -out FILE` writes the public half of its key"
            }
            Self::NotAKey { .. } => {
                "`gpg --armor --output FILE --export FINGERPRINT` writes one in any shell"
            }
            Self::TrustFile(_) | Self::Entry { .. } | Self::NoPlace => {
                "`tfoci help trust` shows a trust file"
            }
            _ => return None,
        };
        Some(text.to_owned())
    }
}

impl Hint for SignatureErrorKind {
    fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Armoured => "sign without `--armor`, or convert it with `gpg --dearmor`",
            // In an entry for several providers, the key could sign for all of them.
            Self::NotPinned { .. } | Self::OtherKey { .. } => {
                "if its author says that this key is theirs, pin it for this provider alone, or name its file with `--key FILE`"
            }
            Self::WeakDocument { .. } => "`weak = \"warn\"` in a trust file accepts it",
            Self::Expired { .. } => {
                "if the key was in use then, `expired = \"warn\"` in the trust file accepts it"
            }
            _ => return None,
        };
        Some(text.to_owned())
    }
}
