//! Attestations: statements of a mirror that it verified a version, which other tools can check, too.
//!
//! An attestation is a Sigstore bundle with a DSSE envelope. The envelope has an in-toto statement whose predicate is a verification summary of SLSA:
//! this mirror saw a good signature by this key, under this rule, at this time. It says nothing about how the packages were built. Digests bind
//! it to the index, to the author's documents, and to the rule.
//!
//! A signed statement is as good as the key that signed it, so it is read without a check for repeated members: the bytes that were verified are the
//! ones that are read.

mod bundle;
mod fault;
mod key;
mod required;
mod statement;

pub use bundle::open;
pub use fault::Fault;
pub use key::{KeyError, PublicKey, SigningKey};
pub use required::RequiredAttestation;
pub use statement::{Attester, Attesting, Claim, PREDICATE_TYPE};

/// The variable with the PEM of the private key. Programs that tfoci runs do not get it.
pub const KEY_VARIABLE: &str = "TFOCI_ATTEST_KEY";
/// The media type of a Sigstore bundle, and the artifact type of its manifest.
pub const SIGSTORE_BUNDLE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";
/// The most bytes of a Sigstore bundle. A version of fifty platforms needs 15,000.
pub const LARGEST: u64 = 256 << 10;
/// The most attestations of an index that are read. Whoever can write more of them can also delete the good one.
pub const MOST: usize = 16;
