//! The keys of attestations: ECDSA P-256 or Ed25519.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA256_ASN1_SIGNING, ED25519, EcdsaKeyPair, Ed25519KeyPair,
    KeyPair as _, UnparsedPublicKey, VerificationAlgorithm,
};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{PrivatePkcs8KeyDer, SubjectPublicKeyInfoDer};

use crate::digest::Digest;

/// What stands before the point in the DER of a P-256 key (RFC 5480).
const P256_PREFIX: &[u8] = b"\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\x03\x42\x00";
/// What stands before the point in the DER of an Ed25519 key (RFC 8410).
const ED25519_PREFIX: &[u8] = b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00";

/// A text that is not the PEM of such a key. Nothing of it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a PEM with {0}, ECDSA P-256 or Ed25519")]
pub struct KeyError(&'static str);

/// A private key.
pub struct SigningKey {
    pair: Pair,
    public: PublicKey,
}

enum Pair {
    P256(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
}

impl SigningKey {
    /// Parses the PEM of an unencrypted PKCS#8 key.
    ///
    /// # Errors
    /// It is something else.
    pub fn parse(pem: &[u8]) -> Result<Self, KeyError> {
        let wrong = KeyError("an unencrypted private key in PKCS#8 (`BEGIN PRIVATE KEY`)");
        let der = PrivatePkcs8KeyDer::from_pem_slice(pem).map_err(|_| wrong)?;
        let der = der.secret_pkcs8_der();
        let (algorithm, random) = (&ECDSA_P256_SHA256_ASN1_SIGNING, SystemRandom::new());
        let (pair, prefix, point) = match Ed25519KeyPair::from_pkcs8_maybe_unchecked(der) {
            Ok(pair) => {
                let point = pair.public_key().as_ref().to_vec();
                (Pair::Ed25519(pair), ED25519_PREFIX, point)
            }
            Err(_) => {
                let pair = EcdsaKeyPair::from_pkcs8(algorithm, der, &random).map_err(|_| wrong)?;
                let point = pair.public_key().as_ref().to_vec();
                (Pair::P256(pair), P256_PREFIX, point)
            }
        };
        let public = PublicKey([prefix, &point].concat());
        Ok(Self { pair, public })
    }

    /// The public half.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// Signs; `None` if the system has no randomness.
    pub(super) fn sign(&self, message: &[u8]) -> Option<Vec<u8>> {
        match &self.pair {
            Pair::Ed25519(pair) => Some(pair.sign(message).as_ref().to_vec()),
            Pair::P256(pair) => {
                let signature = pair.sign(&SystemRandom::new(), message).ok()?;
                Some(signature.as_ref().to_vec())
            }
        }
    }
}

/// Shows the public half only.
impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.public.id())
    }
}

/// A public key, as the DER of its subject public key info.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey(Vec<u8>);

impl PublicKey {
    /// Parses the PEM of a public key.
    ///
    /// # Errors
    /// It is something else.
    pub fn parse(pem: &[u8]) -> Result<Self, KeyError> {
        let wrong = KeyError("a public key (`BEGIN PUBLIC KEY`)");
        let der = SubjectPublicKeyInfoDer::from_pem_slice(pem).map_err(|_| wrong)?;
        let key = Self(der.to_vec());
        key.point().is_some().then_some(key).ok_or(wrong)
    }

    fn point(&self) -> Option<(&'static dyn VerificationAlgorithm, &[u8])> {
        let of = |prefix, length| {
            let point = self.0.strip_prefix(prefix);
            point.filter(|point: &&[u8]| point.len() == length)
        };
        match of(P256_PREFIX, 65) {
            Some(point) => Some((&ECDSA_P256_SHA256_ASN1, point)),
            None => Some((&ED25519, of(ED25519_PREFIX, 32)?)),
        }
    }

    /// The name of the key in bundles, as cosign makes it: its SHA-256 in base64.
    pub fn id(&self) -> String {
        BASE64.encode(Digest::of(&self.0).sha256())
    }

    /// Whether this key made a signature.
    pub(super) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        self.point().is_some_and(|(algorithm, point)| {
            let key = UnparsedPublicKey::new(algorithm, point);
            key.verify(message, signature).is_ok()
        })
    }
}
