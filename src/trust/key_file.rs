//! The file of a key, as people name it.

use super::{Error, openpgp};

/// The line that begins an armored secret key.
const SECRET: &[u8] = b"-----BEGIN PGP PRIVATE KEY BLOCK-----";

/// Checks that a file of the user holds whole keys and nothing else. The keys of origins may be damaged, since others of them may do.
///
/// # Errors
/// [`Error::NotAKey`]
pub fn check_key_file(name: &str, bytes: &[u8]) -> Result<(), Error> {
    let received = if has_secret(bytes) {
        "a secret key"
    } else if openpgp::is_key_file(bytes) {
        return Ok(());
    } else {
        "something else"
    };
    let name = name.to_owned();
    Err(Error::NotAKey { name, received })
}

/// Whether a file has a secret key: armored anywhere, or as its first packet, in the old or the new format of packets.
fn has_secret(bytes: &[u8]) -> bool {
    let is_packet = bytes
        .first()
        .is_some_and(|first| matches!(first, 0x94..=0x97 | 0xc5));
    is_packet || bytes.windows(SECRET.len()).any(|window| window == SECRET)
}
