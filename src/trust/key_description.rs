//! The description of a public key, for people who compare it with what its owner published.

use std::fmt;
use std::time::SystemTime;

use crate::error::printable;
use crate::fingerprint::Fingerprint;

/// What a certificate says of itself. Only its own valid signatures count, but anyone can make a key with any user id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyDescription {
    /// The fingerprint of the primary key.
    pub fingerprint: Fingerprint,
    /// The primary user id, as it is written; `None` if the key has none that it signed.
    pub user_id: Option<String>,
    /// The algorithm of the primary key, such as `RSA 4096` or `Ed25519`.
    pub algorithm: String,
    /// When the last of its keys that may sign expires; `None` if one does not expire.
    pub expires: Option<SystemTime>,
    /// When its owner last signed a statement about it, such as a renewal or a revocation.
    pub updated: Option<SystemTime>,
    /// Whether its owner revoked it.
    pub is_revoked: bool,
    /// What decides about its signatures, armored; `None` if it cannot be written. The same keys always give the same bytes.
    pub certificate: Option<Vec<u8>>,
    /// Whether any of its keys may sign, apart from expiry.
    pub can_sign: bool,
}

/// User id and algorithm, without characters that would do something where they are printed or written.
impl fmt::Display for KeyDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let user_id = self.user_id.as_deref().map(printable);
        let user_id = user_id.as_deref().unwrap_or("no user id");
        write!(f, "{user_id}, {}", printable(&self.algorithm))
    }
}
