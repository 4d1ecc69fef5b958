//! What a build without OpenPGP does: it reads no key, and refuses every signature.

use std::time::SystemTime;

use super::{Deadline, Error, KeyDescription, ValidSignature, VerificationInput};
use crate::authentication::Note;
use crate::fingerprint::Fingerprint;
use crate::release::KeyRing;

pub(super) fn check(
    _: &VerificationInput<'_>,
    _: &mut Vec<Note>,
    _: &Deadline,
) -> Result<Option<ValidSignature>, Error> {
    Err(Error::Unsupported)
}

/// No file is looked at.
pub(super) fn is_key_file(_: &[u8]) -> bool {
    true
}

/// Describes no key.
///
/// # Errors
/// [`Error::Unsupported`]
pub fn describe(
    _: &[KeyRing],
    _: SystemTime,
    _: &Deadline,
) -> Result<Vec<Vec<KeyDescription>>, Error> {
    Err(Error::Unsupported)
}

pub(super) fn fingerprints(_: &KeyRing) -> Result<Vec<Fingerprint>, Error> {
    Err(Error::Unsupported)
}

#[cfg(test)]
mod tests {
    use crate::error::Category;
    use crate::trust::tests::{document, now, release};
    use crate::trust::{Rule, verify};

    #[test]
    fn a_build_without_openpgp_refuses_signed_releases() {
        let mut release = release("keys/SHA256SUMS");
        release.signatures.push(document("keys/ed25519.sig"));
        let error = verify(release, &Rule::reading(), now()).expect_err("refused");
        assert_eq!(error.category(), Category::Unsupported);
    }
}
