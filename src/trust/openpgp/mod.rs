//! OpenPGP: verifies detached signatures of a document, and returns the certificate of the first good one.
//!
//! Sequoia parses certificates and does the arithmetic. This module has the policy, which must agree with what clients accept. It also
//! repairs signatures with wrong lengths, which Sequoia refuses to parse. Only this file uses the `openpgp` feature.

use std::time::SystemTime;

use crate::authentication::{Anchor, Note};
#[cfg(not(feature = "openpgp"))]
use crate::fingerprint::Fingerprint;
use crate::release::{Document, KeyRing};

#[cfg(not(feature = "openpgp"))]
use super::deadline::Deadline;
use super::key_description::KeyDescription;
use super::rule::Rule;

#[cfg(feature = "openpgp")]
mod certificate;
#[cfg(feature = "openpgp")]
mod certificates;
#[cfg(feature = "openpgp")]
mod component;
#[cfg(feature = "openpgp")]
mod description;
#[cfg(feature = "openpgp")]
mod key;
#[cfg(feature = "openpgp")]
mod measure;
#[cfg(feature = "openpgp")]
mod packets;
#[cfg(feature = "openpgp")]
mod ring;
#[cfg(feature = "openpgp")]
mod signature;
#[cfg(feature = "openpgp")]
mod verification;

#[cfg(feature = "openpgp")]
pub(super) use description::{describe, fingerprints};
#[cfg(feature = "openpgp")]
pub(super) use ring::is_key_file;
#[cfg(feature = "openpgp")]
pub(super) use signature::check;

#[cfg_attr(
    not(feature = "openpgp"),
    expect(dead_code, reason = "only OpenPGP verification reads it")
)]
pub(super) struct VerificationInput<'a> {
    /// The bytes that were signed.
    pub document: &'a [u8],
    /// The signatures, in the order in which they are tried.
    pub signatures: &'a [Document],
    /// The keys of the release.
    pub rings: &'a [KeyRing],
    pub rule: &'a Rule,
    /// The time at which keys are checked for expiry.
    pub now: SystemTime,
}

/// The first good signature.
pub(super) struct ValidSignature {
    /// Its index among the signatures.
    pub signature: usize,
    /// The certificate's primary key.
    pub signer: KeyDescription,
    /// The trust anchor of the certificate.
    pub anchor: Anchor,
    /// When it was made, as the signature says.
    pub at: Option<SystemTime>,
    /// The weaknesses that were tolerated.
    pub notes: Vec<Note>,
}

/// Without OpenPGP, no signature can be verified, so every signature is refused.
#[cfg(not(feature = "openpgp"))]
pub(super) fn check(
    _: &VerificationInput<'_>,
    _: &mut Vec<Note>,
    _: &Deadline,
) -> Result<Option<ValidSignature>, super::Error> {
    Err(super::Error::Unsupported)
}

/// Without OpenPGP, no file is looked at.
#[cfg(not(feature = "openpgp"))]
pub(super) fn is_key_file(_: &[u8]) -> bool {
    true
}

/// Without OpenPGP, no key can be read.
#[cfg(not(feature = "openpgp"))]
pub(super) fn describe(
    _: &[KeyRing],
    _: SystemTime,
    _: &Deadline,
) -> Result<Vec<Vec<KeyDescription>>, super::Error> {
    Err(super::Error::Unsupported)
}

/// Without OpenPGP, no key can be read.
#[cfg(not(feature = "openpgp"))]
pub(super) fn fingerprints(_: &KeyRing) -> Result<Vec<Fingerprint>, super::Error> {
    Err(super::Error::Unsupported)
}

#[cfg(test)]
#[cfg(feature = "openpgp")]
mod hostile_tests;
#[cfg(test)]
#[cfg(feature = "openpgp")]
mod real_tests;
#[cfg(test)]
#[cfg(feature = "openpgp")]
mod tests;

#[cfg(test)]
#[cfg(not(feature = "openpgp"))]
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
