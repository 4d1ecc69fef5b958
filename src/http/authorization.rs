//! Values of the `Authorization` header.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use reqwest::header::HeaderValue;
use serde_json::Value;
use zeroize::Zeroizing;

use crate::secret::Secret;

/// Shorter texts are words of an error message more often than a password in it.
const SHORTEST_SECRET: usize = 4;

/// What stands for a secret.
const HIDDEN: &str = "…";

/// A value of the `Authorization` header, which authenticates one request. It is never printed, and wiped when it is dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authorization(Secret);

impl Authorization {
    /// `Bearer TOKEN`.
    pub fn bearer(token: &Secret) -> Self {
        Self::new("Bearer ", token.reveal())
    }

    /// `Basic BASE64(USERNAME:PASSWORD)`.
    pub fn basic(username: &str, password: &Secret) -> Self {
        Self::new("Basic ", basic_pair(username, password).reveal())
    }

    fn new(scheme: &str, value: &str) -> Self {
        let mut text = String::with_capacity(scheme.len() + value.len());
        text.push_str(scheme);
        text.push_str(value);
        Self(text.into())
    }

    /// Whether a header can hold it. A token with line breaks or other control characters cannot be sent.
    pub fn can_be_sent(&self) -> bool {
        self.header().is_some()
    }

    /// Takes the credentials out of what a server answered.
    pub(super) fn redact(&self, body: &mut Vec<u8>) {
        let Some((scheme, credentials)) = self.0.reveal().split_once(' ') else {
            return;
        };
        let pair = Some(scheme).filter(|scheme| *scheme == "Basic");
        let pair = pair.and_then(|_| STANDARD.decode(credentials).ok());
        let pair = Zeroizing::new(pair.unwrap_or_default());
        let pair = str::from_utf8(&pair).unwrap_or_default();
        let password = pair.split_once(':').map(|(_, password)| password);
        for secret in [Some(credentials), password].into_iter().flatten() {
            hide(secret, body);
        }
    }

    /// The header, whose bytes are wiped when the last copy of it is dropped; `None` if it [cannot be sent](Self::can_be_sent).
    pub(super) fn header(&self) -> Option<HeaderValue> {
        let bytes = Zeroizing::new(self.0.reveal().as_bytes().to_vec());
        let mut value = HeaderValue::from_maybe_shared(Bytes::from_owner(bytes)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

/// Takes a secret out of the body of an answer, as it stands there or in strings of JSON, where its characters may be escaped.
pub(super) fn hide(secret: &str, body: &mut Vec<u8>) {
    if secret.len() < SHORTEST_SECRET {
        return;
    }
    let text = String::from_utf8_lossy(body);
    if text.contains(secret) {
        *body = text.replace(secret, HIDDEN).into_bytes();
    }
    if let Ok(mut document) = serde_json::from_slice(body)
        && hide_in_strings(secret, &mut document)
    {
        *body = document.to_string().into_bytes();
    }
}

/// Takes a secret out of every string of a document. Returns whether one had it.
fn hide_in_strings(secret: &str, document: &mut Value) -> bool {
    match document {
        Value::String(text) if text.contains(secret) => {
            *text = text.replace(secret, HIDDEN);
            true
        }
        Value::Array(items) => {
            let hidden = items.iter_mut().map(|item| hide_in_strings(secret, item));
            hidden.filter(|is_hidden| *is_hidden).count() > 0
        }
        Value::Object(members) => {
            let values = members.values_mut();
            let hidden = values.map(|value| hide_in_strings(secret, value));
            hidden.filter(|is_hidden| *is_hidden).count() > 0
        }
        _ => false,
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

    #[test]
    fn credentials_are_taken_out_of_answers() {
        let bearer = Authorization::bearer(&"hunter2".into());
        let basic = Authorization::basic("me", &"hunter2".into());
        let short = Authorization::basic("me", &"no".into());
        let escaped = Authorization::basic("me", &"a\"b/cd".into());
        for (authorization, answer, expected) in [
            (
                &bearer,
                "denied: Bearer hunter2, hunter2",
                "denied: Bearer …, …",
            ),
            (
                &basic,
                "Basic bWU6aHVudGVyMg== is me:hunter2",
                "Basic … is me:…",
            ),
            (&short, "no, bWU6bm8= is not known", "no, … is not known"),
            (&bearer, "denied", "denied"),
            (
                &escaped,
                r#"{"errors":[{"message":"no a\"b\/c\u0064 here"}]}"#,
                r#"{"errors":[{"message":"no … here"}]}"#,
            ),
        ] {
            let mut body = answer.as_bytes().to_vec();
            authorization.redact(&mut body);
            assert_eq!(String::from_utf8(body).unwrap(), expected);
        }
    }
}
