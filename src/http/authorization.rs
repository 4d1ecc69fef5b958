//! Values of the `Authorization` header.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use reqwest::header::HeaderValue;
use zeroize::Zeroizing;

use crate::secret::Secret;

/// A value of the `Authorization` header, which authenticates one request. It is never printed, and wiped when it is dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authorization {
    header: Secret,
    secrets: Vec<Secret>,
}

impl Authorization {
    /// `Bearer TOKEN`.
    pub fn bearer(token: &Secret) -> Self {
        Self::new("Bearer ", token, vec![token.clone()])
    }

    /// `Basic BASE64(USERNAME:PASSWORD)`.
    pub fn basic(username: &str, password: &Secret) -> Self {
        let pair = basic_pair(username, password);
        Self::new("Basic ", &pair, vec![pair.clone(), password.clone()])
    }

    fn new(scheme: &str, credentials: &Secret, secrets: Vec<Secret>) -> Self {
        let credentials = credentials.reveal();
        let mut text = String::with_capacity(scheme.len() + credentials.len());
        text.push_str(scheme);
        text.push_str(credentials);
        Self {
            header: text.into(),
            secrets,
        }
    }

    /// Whether a header can hold it. A token with line breaks or other control characters cannot be sent.
    pub fn can_be_sent(&self) -> bool {
        self.header().is_some()
    }

    /// What no message may show: the credentials as they are sent, and the password in them.
    pub(super) fn secrets(&self) -> &[Secret] {
        &self.secrets
    }

    /// The header, whose bytes are wiped when the last copy of it is dropped; `None` if it [cannot be sent](Self::can_be_sent).
    pub(super) fn header(&self) -> Option<HeaderValue> {
        let bytes = Zeroizing::new(self.header.reveal().as_bytes().to_vec());
        let mut value = HeaderValue::from_maybe_shared(Bytes::from_owner(bytes)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

/// Encodes a name and password in base64, as `Basic` authentication and docker's files do.
pub fn basic_pair(username: &str, password: &Secret) -> Secret {
    let password = password.reveal();
    let mut pair = Zeroizing::new(String::with_capacity(username.len() + 1 + password.len()));
    pair.push_str(username);
    pair.push(':');
    pair.push_str(password);
    STANDARD.encode(pair.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_sensitive_and_spelled_as_the_scheme_says() {
        for (value, expected) in [
            (Authorization::bearer(&"hunter2".into()), "Bearer hunter2"),
            (
                Authorization::basic("me", &"hunter2".into()),
                "Basic bWU6aHVudGVyMg==",
            ),
        ] {
            let header = value.header().unwrap();
            assert_eq!(header.as_bytes(), expected.as_bytes());
            assert!(header.is_sensitive());
            let shown = format!("{value:?}{header:?}");
            assert!(
                !shown.contains("hunter2") && !shown.contains("bWU6"),
                "{shown}"
            );
        }
        assert!(!Authorization::bearer(&"hunter2\n".into()).can_be_sent());
    }
}
