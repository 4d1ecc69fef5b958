//! The encoding of files that people write.

/// The byte order mark that some editors write before UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// The hint for them.
pub const SAVE_AS_UTF8: &str = "save it as UTF-8; in PowerShell, `Set-Content -Encoding utf8` does";

/// Bytes that are not text in UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// UTF-16, as `>` writes it in some versions of PowerShell.
    #[error("UTF-16 text, expected UTF-8")]
    Utf16,
    /// Another encoding, or no text.
    #[error("not UTF-8 text")]
    NotUtf8,
}

/// The text of a file, without a byte order mark.
///
/// # Errors
/// It is not UTF-8.
pub fn decode(bytes: &[u8]) -> Result<&str, Error> {
    let bytes = bytes.strip_prefix(MARK).unwrap_or(bytes);
    if is_utf16(bytes) {
        return Err(Error::Utf16);
    }
    str::from_utf8(bytes).map_err(|_| Error::NotUtf8)
}

/// Whether bytes begin as a text in UTF-16 does: with its byte order mark, or with two characters of ASCII.
pub fn is_utf16(bytes: &[u8]) -> bool {
    match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => true,
        [0, first, 0, second, ..] | [first, 0, second, 0, ..] => *first != 0 && *second != 0,
        _ => false,
    }
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
            (b"\xff\xfek\0e\0", Err(Error::Utf16)),
            (b"\xfe\xff\0k\0e", Err(Error::Utf16)),
            (b"k\0e\0y\0", Err(Error::Utf16)),
            (b"\0k\0e\0y", Err(Error::Utf16)),
            (b"caf\xe9", Err(Error::NotUtf8)),
        ] {
            assert_eq!(decode(bytes), expected, "{bytes:?}");
        }
    }
}
