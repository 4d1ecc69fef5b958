//! Measures the numbers of a key.
//!
//! The creator of a key chooses its numbers, and with a prime of 65,535 bits, checking one signature takes minutes. tfoci therefore
//! measures numbers before it computes anything.

use sequoia_openpgp as openpgp;

use openpgp::crypto::mpi::{MPI, PublicKey};
use openpgp::packet::Key;
use openpgp::packet::key::{KeyParts, KeyRole};

/// The longest RSA and DSA numbers, in bits: key generators stop at or below
/// these, and the cost of arithmetic grows with the cube of the length.
const LARGEST_RSA: usize = 16_384;
/// The longest RSA exponent, in bits. The usual exponent has 17 bits.
const LARGEST_EXPONENT: usize = 64;
/// The longest DSA modulus and subgroup order, in bits. Standard sizes end at 3,072 and 256.
const LARGEST_DSA: usize = 4_096;
/// Twice that of the standard.
const LARGEST_DSA_ORDER: usize = 512;
/// Two coordinates of 521 bits and a prefix, with a margin for larger curves, in bits. The library does not compute on unknown curves.
const LARGEST_POINT: usize = 2_048;

/// Whether a key can sign, and checking a signature by it takes at most some 30 ms.
pub(super) fn can_sign<P: KeyParts, R: KeyRole>(key: &Key<P, R>) -> bool {
    match key.mpis() {
        PublicKey::RSA { e, n } => {
            n.bits() <= LARGEST_RSA && e.bits() <= LARGEST_EXPONENT && is_odd(n)
        }
        PublicKey::DSA { p, q, g, y } => {
            p.bits() <= LARGEST_DSA
                && q.bits() <= LARGEST_DSA_ORDER
                && q.bits() < p.bits()
                && g.bits() <= p.bits()
                && y.bits() <= p.bits()
                && is_odd(p)
                && is_odd(q)
        }
        PublicKey::ECDSA { q, .. } | PublicKey::EdDSA { q, .. } => q.bits() <= LARGEST_POINT,
        PublicKey::ElGamal { .. }
        | PublicKey::ECDH { .. }
        | PublicKey::X25519 { .. }
        | PublicKey::X448 { .. } => false,
        // Of fixed size, or without arithmetic.
        _ => true,
    }
}

fn is_odd(number: &MPI) -> bool {
    number.value().last().is_some_and(|byte| byte & 1 == 1)
}
