//! Measures the numbers of a key, and estimates the cost of arithmetic with them.
//!
//! The creator of a key chooses its numbers, and with a prime of 65,535 bits, checking one signature takes minutes. tfoci therefore
//! measures numbers before it computes anything. The result is an estimate in units of [`Budget`](crate::trust::Budget). It need not be
//! exact, but it must not be too low for any key.

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

/// The cost of hashing one byte with the slowest algorithm: 4 ns, or eight units of half a nanosecond.
pub(super) const A_BYTE: u64 = 8;

/// The cost of checking one signature by a key; `None` for a key that cannot sign, or whose numbers are too large.
pub(super) fn cost<P: KeyParts, R: KeyRole>(key: &Key<P, R>) -> Option<u64> {
    match key.mpis() {
        PublicKey::RSA { e, n } => {
            let is_sound = n.bits() <= LARGEST_RSA && e.bits() <= LARGEST_EXPONENT && is_odd(n);
            is_sound.then(|| power(n.bits(), 2 * e.bits()))
        }
        PublicKey::DSA { p, q, g, y } => {
            let is_sound = p.bits() <= LARGEST_DSA
                && q.bits() <= LARGEST_DSA_ORDER
                && q.bits() < p.bits()
                && g.bits() <= p.bits()
                && y.bits() <= p.bits()
                && is_odd(p)
                && is_odd(q);
            // Two powers for the signature and one for the key.
            is_sound.then(|| 3 * power(p.bits(), 2 * q.bits()))
        }
        // The library does not compute on unknown curves, so only the size of the point is checked.
        PublicKey::ECDSA { q, .. } | PublicKey::EdDSA { q, .. } => {
            (q.bits() <= LARGEST_POINT).then_some(CURVE)
        }
        PublicKey::Ed25519 { .. } | PublicKey::Ed448 { .. } => Some(CURVE),
        PublicKey::ElGamal { .. }
        | PublicKey::ECDH { .. }
        | PublicKey::X25519 { .. }
        | PublicKey::X448 { .. } => None,
        // Of fixed size, or without arithmetic.
        _ => Some(OTHER),
    }
}

/// Two coordinates of 521 bits and a prefix, with a margin for larger curves, in bits.
const LARGEST_POINT: usize = 2_048;
/// The cost of one signature on the slowest curve, P-521: 2 ms.
const CURVE: u64 = 4_000_000;
/// The cost of one signature by a post-quantum algorithm: at most 8 ms.
const OTHER: u64 = 16_000_000;

/// The cost of a modular power: `steps` multiplications of two numbers of `bits` bits, each with a reduction.
fn power(bits: usize, steps: usize) -> u64 {
    let words = u64::try_from(bits.div_ceil(64)).unwrap_or(u64::MAX);
    let steps = u64::try_from(steps).unwrap_or(u64::MAX);
    steps.saturating_mul(2 * (words + 8).saturating_pow(2))
}

fn is_odd(number: &MPI) -> bool {
    number.value().last().is_some_and(|byte| byte & 1 == 1)
}
