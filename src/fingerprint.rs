//! Fingerprints of public keys.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// The length of a key id in hex digits.
const KEY_ID: usize = 16;

/// The fingerprint of a certificate's primary key: 20 bytes (version 4) or 32 (version 6).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Fingerprint(String);

impl Fingerprint {
    /// The last 16 digits, which is how clients show a version 4 key.
    pub fn key_id(&self) -> &str {
        let start = self.0.len().saturating_sub(KEY_ID);
        self.0.get(start..).unwrap_or_default()
    }
}

/// Upper-case hex.
impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Fingerprint {
    type Err = FingerprintError;

    /// Blanks between the digits are ignored, because `gpg --fingerprint` prints some, and so is `0x` before them.
    fn from_str(text: &str) -> Result<Self, FingerprintError> {
        let digits: String = text.split_whitespace().collect();
        let digits = digits.strip_prefix("0x").unwrap_or(&digits);
        let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        match matches!(digits.len(), 40 | 64) && is_hex {
            true => Ok(Self(digits.to_ascii_uppercase())),
            false => Err(FingerprintError),
        }
    }
}

/// Text that is not a fingerprint of 40 or 64 hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FingerprintError;

#[cfg(test)]
mod tests;
