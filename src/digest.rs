//! Digests: OCI's content addresses. All of them are SHA-256, which is what every known tool writes.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use sha2::{Digest as _, Sha256};

/// The digest of some bytes, such as `sha256:44136fa3…`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The SHA-256 digest of bytes in memory.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest with this SHA-256 value.
    pub fn from_sha256(value: [u8; 32]) -> Self {
        Self(value)
    }

    /// The SHA-256 value, as in a `zh:` hash.
    pub fn sha256(&self) -> [u8; 32] {
        self.0
    }

    /// The value in lower-case hex digits, without the algorithm.
    pub fn hex(&self) -> String {
        to_hex(&self.0)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl FromStr for Digest {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let value = text.strip_prefix("sha256:").and_then(from_hex);
        let malformed = || Error { text: text.into() };
        value.map(Self).ok_or_else(malformed)
    }
}

/// A text that is not a digest: it has no algorithm or another one, or the value has the wrong length or is not lower-case hex.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a digest: expected 64 lower-case hex digits after `sha256:`", crate::error::printable(.text))]
pub struct Error {
    /// The invalid text.
    pub text: String,
}

/// Computes a digest incrementally.
#[derive(Clone, Default)]
pub struct Hasher(Sha256);

impl Hasher {
    /// Starts with no bytes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of all bytes.
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

/// Lower-case hex of these bytes.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Decodes lower-case hex of exactly `N` bytes.
pub(crate) fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |b: &u8| match b {
        b'0'..=b'9' => Some(b - b'0'),
        b'a'..=b'f' => Some(b - b'a' + 10),
        _ => None,
    };
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if pairs.len() != N || !rest.is_empty() {
        return None;
    }
    let mut out = [0; N];
    for (byte, [high, low]) in out.iter_mut().zip(pairs) {
        *byte = digit(high)? << 4 | digit(low)?;
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_empty_object_has_the_digest_that_the_specification_prints() {
        let text = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
        assert_eq!(Digest::of(b"{}").to_string(), text);
        assert_eq!(text.parse(), Ok(Digest::of(b"{}")));
    }

    #[test]
    fn what_is_not_sha256_in_lower_case_is_no_digest() {
        let digest = Digest::of(b"").to_string();
        let upper = digest.to_uppercase().replace("SHA256", "sha256");
        let other = digest.replace("sha256", "sha512");
        for text in ["44136f", "md5:44136f", "sha256:../../etc", &upper, &other] {
            assert!(text.parse::<Digest>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn never_panics_and_prints_back(text in "(sha256:)?[0-9a-f:é]{0,66}") {
            if let Ok(digest) = text.parse::<Digest>() {
                prop_assert_eq!(digest.to_string(), text);
            }
        }
    }
}
