//! OpenPGP: verifies detached signatures of a document, and returns the certificate of the first good one.
//!
//! Sequoia parses certificates and does the arithmetic. This module has the policy, which must agree with what clients accept. It also
//! repairs signatures with wrong lengths, which Sequoia refuses to parse.

mod certificate;
mod certificates;
mod component;
mod description;
mod key;
mod measure;
mod packets;
mod ring;
mod signature;
mod verification;

pub use description::describe;
pub(super) use description::fingerprints;
pub(super) use ring::is_key_file;
pub(super) use signature::check;

#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod real_tests;
#[cfg(test)]
mod tests;
