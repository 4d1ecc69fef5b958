//! Hints about signatures and keys that do not verify.

use tfoci::outcome::Problem;
use tfoci::trust;
use tfoci::trust::{AskedBy, ExpectedKeys, NamedKey};

use super::Effect;

/// Verification stopped at its limit of work.
pub(super) const COSTLY: &str =
    "Its keys or signatures were made to keep readers busy, or are damaged: ask its author";

/// Pins count more than an option.
pub(super) const OVERRULED: &str =
    "`--allow-unsigned` does not apply to a provider with pinned keys";

pub(super) fn untrusted(error: &trust::Error, address: &str, effect: Effect) -> Option<String> {
    let advice = match error {
        trust::Error::NoKey => {
            "Name the file of the author's public key with `--key FILE`; a fingerprint is not enough for push: the folder has no key to compare it with"
        }
        trust::Error::NoSignature => {
            let advice = format!("To go without a signature, `--allow-unsigned {address}`");
            return Some(effect.hint(&advice));
        }
        trust::Error::NotSigned { is_allowed, .. } => {
            let needs = needs_signature(*is_allowed);
            let advice = format!("{needs}, which `gpg --detach-sign FILE` makes as FILE.sig");
            return Some(effect.hint(&advice));
        }
        trust::Error::NoPinnedKey { .. } => {
            "A fingerprint is not enough here, since there is no key to compare it with: name the file of the pinned key with `--key FILE`"
        }
        trust::Error::Costly => COSTLY,
        trust::Error::Refused(refusal) => {
            return Some(effect.hint(&refused(&refusal.reason, address)?));
        }
        trust::Error::NotLocked { .. } => {
            "If the lock file was made for other platforms only, name those with `--platform`, or add this one with `tfoci lock`; else this is not the package that was locked"
        }
        trust::Error::NoLine {
            other: Some(line), ..
        } if line.is_encoding => {
            "Clients read it as UTF-8 without a byte order mark: in PowerShell, `Set-Content -Encoding ascii` writes it so; then sign it again"
        }
        trust::Error::NoLine { other: Some(_), .. } => {
            "In the folder of the zips, `sha256sum terraform-provider-*.zip > terraform-provider-TYPE_VERSION_SHA256SUMS`; then sign it again"
        }
        trust::Error::NoLine { .. } => "Only what the signed document lists is pushed",
        _ => return other(error),
    };
    Some(effect.hint(advice))
}

/// A hint that does not say that nothing was written.
fn other(error: &trust::Error) -> Option<String> {
    let text = match error {
        trust::Error::Mismatch { .. } => {
            "nothing of this version was tagged. Build the release again, and sign after the last change"
        }
        trust::Error::NoZipLocked => {
            "`tofu providers lock -platform=OS_ARCH` adds the hashes of zips, if it asks the origin: without `-fs-mirror`"
        }
        trust::Error::Unsupported => {
            "this build has no OpenPGP: use one with the feature `openpgp`"
        }
        _ => return None,
    };
    Some(text.to_owned())
}

/// A lock file refuses a version that `copy` reads from a store.
pub(super) fn not_locked_in_store(problem: &Problem) -> Option<String> {
    let text = match problem {
        Problem::Trust(trust::Error::NotLocked { .. }) => {
            "this version was not copied. If the lock file was made for other platforms only, name those with `--rebuild-index --platform`; else this is not the package that was locked"
        }
        Problem::Trust(error) => return untrusted(error, "ADDR", Effect::Unwritten),
        _ => return None,
    };
    Some(text.to_owned())
}

/// A valid signature by a key that is not pinned. It is pinned where the expected ones are.
pub(super) fn pin_too(expected: &ExpectedKeys, received: &NamedKey, address: &str) -> String {
    let pin = pin(expected, received, address);
    format!("If the author says that this key is theirs, {pin}")
}

/// How to pin the key of a valid signature.
pub(super) fn pin(expected: &ExpectedKeys, received: &NamedKey, address: &str) -> String {
    let key = received.fingerprint.to_string();
    match &expected.asked_by {
        Some(
            entry @ AskedBy::TrustFile {
                is_shared: true, ..
            },
        ) => entry_above(entry, address, &format!("\"{key}\"")),
        Some(entry @ AskedBy::TrustFile { .. }) => format!("add \"{key}\" to `keys` in {entry}"),
        Some(AskedBy::Option) | None => "name its file by another `--key FILE`".to_owned(),
    }
}

/// How to name a key that neither the origin nor the store has.
pub(super) fn name_too(expected: &ExpectedKeys, address: &str) -> String {
    match &expected.asked_by {
        Some(
            entry @ AskedBy::TrustFile {
                is_shared: true, ..
            },
        ) => entry_above(entry, address, "its file"),
        Some(entry @ AskedBy::TrustFile { .. }) => format!("add its file to `keys` in {entry}"),
        Some(AskedBy::Option) | None => "name it with `--key FILE`".to_owned(),
    }
}

/// Why a release without a signature is refused. `is_allowed` says whether `--allow-unsigned` names the provider.
pub(super) fn needs_signature(is_allowed: bool) -> String {
    let reason = match is_allowed {
        true => OVERRULED,
        false => "Keys are pinned for this provider",
    };
    format!("{reason}, so it needs a signature by one of them")
}

/// How to accept a provider whose author signs nothing, although keys are pinned for it.
pub(super) fn unpin(asked_by: Option<&AskedBy>, address: &str) -> String {
    if let Some(AskedBy::Option) = asked_by {
        return "leave out `--key`".to_owned();
    }
    let above = asked_by.map_or_else(String::new, |entry| format!(" above the one in {entry}"));
    format!(
        "add an entry for {address}{above}, with `unsigned = \"allow\"` and without `keys`: it unpins all versions of this provider"
    )
}

/// How to pin a key for one provider, whose entry is about others too: there, its owner could sign for all of them.
fn entry_above(entry: &AskedBy, address: &str, key: &str) -> String {
    format!(
        "add an entry for this provider alone, above the one in {entry}: `match = \"{address}\"`, with {key} and the keys of its other releases in `keys`"
    )
}

fn refused(reason: &trust::SignatureErrorKind, address: &str) -> Option<String> {
    let text = match reason {
        trust::SignatureErrorKind::Malformed => "`gpg --detach-sign FILE` makes one",
        trust::SignatureErrorKind::Armoured => {
            "Sign without `--armor`, or convert it with `gpg --dearmor`"
        }
        trust::SignatureErrorKind::Altered { .. } => {
            "The document was changed after it was signed, or the signature is another document's"
        }
        trust::SignatureErrorKind::NotPinned { expected, received } => {
            return Some(pin_too(expected, received, address));
        }
        trust::SignatureErrorKind::OtherKey { expected, .. } => {
            return Some(format!(
                "If its author has changed keys, get the new one from the author (`tfoci help trust`, if that is you) and {}",
                name_too(expected, address)
            ));
        }
        trust::SignatureErrorKind::WeakDocument { .. } => {
            "Sign with `--digest-algo SHA256`; `weak = \"warn\"` in a trust file lets it pass"
        }
        trust::SignatureErrorKind::Expired { .. } => {
            "If it was made while the key was in use, `expired = \"warn\"` in the trust file lets it pass, as clients do"
        }
        trust::SignatureErrorKind::Revoked { .. }
        | trust::SignatureErrorKind::NotForSigning { .. } => {
            "The release needs a signature by a key that is in use"
        }
        trust::SignatureErrorKind::Long { .. }
        | trust::SignatureErrorKind::Unsupported { .. }
        | trust::SignatureErrorKind::UnsupportedKey { .. } => return None,
    };
    Some(text.to_owned())
}
