//! The encoding of files that people write.

/// The byte order mark that some editors write before UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// The hint for them.
pub const SAVE_AS_UTF8: &str = "save it as UTF-8; in PowerShell, `Set-Content -Encoding utf8` does";

/// Bytes that are not text in UTF-8: another encoding, such as UTF-16, which `>` writes in some versions of PowerShell, or no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not UTF-8 text")]
pub struct Error;

/// The text of a file, without a byte order mark.
///
/// # Errors
/// It is not UTF-8.
pub fn decode(bytes: &[u8]) -> Result<&str, Error> {
    let bytes = bytes.strip_prefix(MARK).unwrap_or(bytes);
    str::from_utf8(bytes).map_err(|_| Error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_utf_8_is_text() {
        for (bytes, expected) in [
            (&b""[..], Ok("")),
            (b"key", Ok("key")),
            (b"\xef\xbb\xbfkey", Ok("key")),
            (b"\xff\xfek\0e\0", Err(Error)),
            (b"\xfe\xff\0k\0e", Err(Error)),
            (b"caf\xe9", Err(Error)),
        ] {
            assert_eq!(decode(bytes), expected, "{bytes:?}");
        }
    }
}
