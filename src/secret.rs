//! Passwords and tokens: text that is wiped from memory when it is dropped and that no message can show.
//!
//! A [`Secret`] has no `Display`, its `Debug` shows nothing, and it never becomes a `String`. Only [`Secret::reveal`] gives access to the
//! text: it borrows it to the code that sends or stores it. Buffers that contain secrets (files, the output of a credential helper, the
//! answer of a token server) are wiped by [`zeroize::Zeroizing`]. They are allocated at their full size, because reallocation leaves copies
//! behind.
//!
//! This does not protect the process environment, the HCL parser, and the buffers of the HTTP and TLS libraries.

mod spelling;

use std::fmt;

use serde::de::{Deserialize, Deserializer};
use zeroize::{Zeroize, ZeroizeOnDrop};

pub(crate) use spelling::hide;

/// A password or token. Its memory is wiped on drop.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(Box<str>);

impl Zeroize for Secret {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.zeroize();
    }
}

impl ZeroizeOnDrop for Secret {}

impl Secret {
    /// The text, for the code that sends or stores it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether the text is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

/// Wipes the string, whose buffer may be larger than its text.
impl From<String> for Secret {
    fn from(mut text: String) -> Self {
        let secret = Self::from(text.as_str());
        text.zeroize();
        secret
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_nothing_of_a_secret() {
        let shown = format!(
            "{:?} {:#?}",
            Secret::from("hunter2"),
            Some(Secret::from("hunter2"))
        );
        assert!(!shown.contains("hunter2"), "{shown}");
    }

    /// `zeroize` does the wiping. This test only covers the calls, because freed memory cannot be read without `unsafe`.
    #[test]
    fn a_secret_is_wiped_when_it_is_dropped() {
        fn is_wiped<T: ZeroizeOnDrop>(_: &T) {}
        let mut secret = Secret::from("hunter2".to_owned());
        is_wiped(&secret);
        assert_eq!(secret.reveal(), "hunter2");
        secret.zeroize();
        assert_eq!(secret.reveal(), "\0".repeat(7));
    }

    #[test]
    fn json_text_becomes_a_secret_and_parse_errors_show_none_of_it() {
        let read = serde_json::from_str::<Secret>(r#""hunter2\n""#).unwrap();
        assert_eq!(read.reveal(), "hunter2\n");
        let error = serde_json::from_str::<Secret>(r#"{"hunter2": 1}"#).unwrap_err();
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
}
