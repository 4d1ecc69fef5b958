//! The Sigstore bundle of a statement, and its DSSE envelope.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

use super::{Fault, PublicKey, SIGSTORE_BUNDLE, SigningKey};

/// The type of the payload.
const IN_TOTO: &str = "application/vnd.in-toto+json";

/// What is signed of a payload: the pre-authentication encoding of DSSE.
fn signed(payload: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 {} {IN_TOTO} {} ", IN_TOTO.len(), payload.len());
    [head.as_bytes(), payload].concat()
}

/// The bundle of a statement that this key signs; `None` if the system has no randomness.
pub(super) fn seal(statement: &Value, key: &SigningKey) -> Option<Vec<u8>> {
    let payload = statement.to_string();
    let signature = key.sign(&signed(payload.as_bytes()))?;
    let bundle = json!({
        "mediaType": SIGSTORE_BUNDLE,
        "verificationMaterial": {"publicKey": {"hint": key.public().id()}},
        "dsseEnvelope": {
            "payload": BASE64.encode(payload),
            "payloadType": IN_TOTO,
            "signatures": [{"sig": BASE64.encode(signature)}],
        },
    });
    Some(bundle.to_string().into_bytes())
}

/// The statement in a bundle. Without a key, nothing of it is checked.
///
/// # Errors
/// It is no such bundle, or the key has not signed it.
pub fn open(bundle: &[u8], key: Option<&PublicKey>) -> Result<Value, Fault> {
    let bundle: Value = serde_json::from_slice(bundle).map_err(|_| Fault::Malformed)?;
    let envelope = bundle.get("dsseEnvelope").ok_or(Fault::Malformed)?;
    let bytes = |value: &Value, member: &str| {
        let text = value.get(member).and_then(Value::as_str);
        BASE64.decode(text?).ok()
    };
    let payload = bytes(envelope, "payload").ok_or(Fault::Malformed)?;
    if envelope.get("payloadType").and_then(Value::as_str) != Some(IN_TOTO) {
        return Err(Fault::Malformed);
    }
    if let Some(key) = key {
        let signatures = envelope.get("signatures").and_then(Value::as_array);
        // Real envelopes have one.
        let mut signatures = signatures.into_iter().flatten().take(super::MOST);
        let signed = signed(&payload);
        let is_by = |one: &Value| bytes(one, "sig").is_some_and(|sig| key.verifies(&signed, &sig));
        if !signatures.any(is_by) {
            return Err(Fault::OtherKey);
        }
    }
    serde_json::from_slice(&payload).map_err(|_| Fault::Malformed)
}
