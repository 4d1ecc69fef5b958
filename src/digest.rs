//! Digests: OCI's content addresses.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use sha2::{Digest as _, Sha256, Sha512};

/// A registered digest algorithm of the OCI image specification.
///
/// Packages and all content that tfoci writes use SHA-256. SHA-512 is accepted where clients accept it, for platform manifests ([clients:
/// platform selection](crate::clients#platform-selection)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Algorithm {
    /// The algorithm of every digest that tfoci writes.
    Sha256,
    /// OCI allows it too, so tfoci reads it.
    Sha512,
}

impl Algorithm {
    /// The name, as before the colon of a digest.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sha256 => "sha256",
            Self::Sha512 => "sha512",
        }
    }
}

/// The digest of some bytes, such as `sha256:44136fa3…`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest(Value);

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Value {
    Sha256([u8; 32]),
    Sha512([u8; 64]),
}

impl Digest {
    /// The SHA-256 digest of bytes in memory.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Value::Sha256(Sha256::digest(bytes).into()))
    }

    /// The digest with this SHA-256 value.
    pub fn from_sha256(value: [u8; 32]) -> Self {
        Self(Value::Sha256(value))
    }

    /// The SHA-256 value, as in a `zh:` hash; `None` for another algorithm.
    pub fn sha256(&self) -> Option<[u8; 32]> {
        match self.0 {
            Value::Sha256(value) => Some(value),
            Value::Sha512(_) => None,
        }
    }

    /// The algorithm, which stands before the colon.
    pub fn algorithm(&self) -> Algorithm {
        match self.0 {
            Value::Sha256(_) => Algorithm::Sha256,
            Value::Sha512(_) => Algorithm::Sha512,
        }
    }

    /// The value in lower-case hex digits, without the algorithm.
    pub fn hex(&self) -> String {
        match &self.0 {
            Value::Sha256(value) => to_hex(value),
            Value::Sha512(value) => to_hex(value),
        }
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.algorithm().as_str(), self.hex())
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
        let value = match text.split_once(':') {
            Some(("sha256", value)) => from_hex(value).map(Value::Sha256),
            Some(("sha512", value)) => from_hex(value).map(Value::Sha512),
            Some(_) => return Err(Error::UnknownAlgorithm { text: text.into() }),
            None => None,
        };
        let malformed = || Error::Malformed { text: text.into() };
        value.map(Self).ok_or_else(malformed)
    }
}

/// A text that is not a digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Error {
    /// The algorithm is neither `sha256` nor `sha512`.
    #[error("the digest `{}` has an unsupported algorithm, expected sha256 or sha512", crate::error::printable(.text))]
    UnknownAlgorithm { text: String },
    /// The text has no algorithm, or the value has the wrong length or is not lower-case hex.
    #[error("`{}` is not a digest: expected 64 lower-case hex digits after `sha256:`, or 128 after `sha512:`", crate::error::printable(.text))]
    Malformed { text: String },
}

/// Computes a digest incrementally.
#[derive(Clone)]
pub struct Hasher(State);

#[derive(Clone)]
enum State {
    Sha256(Sha256),
    Sha512(Sha512),
}

impl Hasher {
    /// Starts with no bytes.
    pub fn new(algorithm: Algorithm) -> Self {
        Self(match algorithm {
            Algorithm::Sha256 => State::Sha256(Sha256::new()),
            Algorithm::Sha512 => State::Sha512(Sha512::new()),
        })
    }

    /// Adds the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            State::Sha256(state) => state.update(bytes),
            State::Sha512(state) => state.update(bytes),
        }
    }

    /// The digest of all bytes.
    pub fn finish(self) -> Digest {
        Digest(match self.0 {
            State::Sha256(state) => Value::Sha256(state.finalize().into()),
            State::Sha512(state) => Value::Sha512(state.finalize().into()),
        })
    }
}

/// Lower-case hex of these bytes.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|b| [b >> 4, b & 15])
        .filter_map(|n| char::from_digit(u32::from(n), 16))
        .collect()
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
    fn sha512_is_read_and_computed() {
        let mut hasher = Hasher::new(Algorithm::Sha512);
        hasher.update(b"{}");
        let digest = hasher.finish();
        assert!(digest.to_string().starts_with("sha512:27c74670adb75075"));
        assert_eq!(digest.to_string().parse(), Ok(digest));
    }

    #[test]
    fn each_mistake_has_its_own_error() {
        assert!(matches!(
            "44136f".parse::<Digest>(),
            Err(Error::Malformed { .. })
        ));
        assert!(matches!(
            "md5:44136f".parse::<Digest>(),
            Err(Error::UnknownAlgorithm { .. })
        ));
        let upper = Digest::of(b"")
            .to_string()
            .to_uppercase()
            .replace("SHA256", "sha256");
        assert!(matches!(
            upper.parse::<Digest>(),
            Err(Error::Malformed { .. })
        ));
        assert!(matches!(
            "sha256:../../etc".parse::<Digest>(),
            Err(Error::Malformed { .. })
        ));
    }

    proptest! {
        #[test]
        fn never_panics_and_prints_back(text in "(sha(256|512):)?[0-9a-fA-F:é]{0,130}") {
            if let Ok(digest) = text.parse::<Digest>() {
                prop_assert_eq!(digest.to_string(), text);
            }
        }
    }
}
