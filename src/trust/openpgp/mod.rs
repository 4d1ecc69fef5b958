//! OpenPGP: whether one of some detached signatures over a document is good, and by which certificate.
//!
//! Sequoia reads certificates and does the arithmetic. This module has the policy, which must agree with what clients accept, and
//! repairs the signatures of one writer, which Sequoia is too strict to read. This file is the only one that knows of
//! the `openpgp` feature.

use std::time::SystemTime;

use crate::authentication::{Anchor, Note};
use crate::release::{Document, KeyRing};

#[cfg(not(feature = "openpgp"))]
use super::budget::Budget;
use super::rule::{Fingerprint, Rule};

#[cfg(feature = "openpgp")]
mod certificates;
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
pub(super) use signature::check;

/// What is asked.
#[cfg_attr(not(feature = "openpgp"), expect(dead_code))]
pub(super) struct Question<'a> {
    /// The bytes that were signed.
    pub document: &'a [u8],
    /// The signatures, in the order in which they are tried.
    pub signatures: &'a [Document],
    /// The keys that came along.
    pub rings: &'a [KeyRing],
    /// Which keys are accepted, and what is let pass.
    pub rule: &'a Rule,
    /// When keys must not have expired, so as not to be noted.
    pub now: SystemTime,
}

/// The first good signature.
pub(super) struct Good {
    /// Its place among the signatures.
    pub signature: usize,
    /// The certificate's primary key.
    pub fingerprint: Fingerprint,
    /// Why the certificate is believed.
    pub anchor: Anchor,
    /// The certificate, armoured.
    pub certificate: Option<Vec<u8>>,
    /// What was let pass.
    pub notes: Vec<Note>,
}

/// Without OpenPGP nothing can be said about any signature, so nothing is let pass.
#[cfg(not(feature = "openpgp"))]
pub(super) fn check(
    _: &Question<'_>,
    _: &mut Vec<Note>,
    _: &Budget,
) -> Result<Option<Good>, super::Error> {
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
    fn a_build_without_openpgp_refuses_whatever_is_signed() {
        let mut release = release("keys/SHA256SUMS");
        release.signatures.push(document("keys/ed25519.sig"));
        let error = verify(release, &Rule::reading(), now()).expect_err("refused");
        assert_eq!(error.category(), Category::Unsupported);
    }
}
