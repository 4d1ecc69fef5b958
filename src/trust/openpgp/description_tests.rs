use super::*;
use crate::authentication::Anchor;
use crate::trust::tests::{data, now};

fn described(name: &str) -> KeyDescription {
    let ring = KeyRing {
        name: name.to_owned(),
        bytes: data(&format!("keys/{name}.asc")),
        anchor: Anchor::Pinned,
    };
    let keys = describe(&[ring], now(), &Deadline::default()).expect("a key");
    keys.into_iter().flatten().next().expect("a key")
}

#[test]
fn algorithms_are_named_with_their_sizes() {
    for (name, algorithm) in [
        ("rsa1024", "RSA 1024"),
        ("rsa4096", "RSA 4096"),
        ("dsa2048", "DSA 2048"),
        ("ed25519", "Ed25519"),
        ("nistp256", "ECDSA NIST P-256"),
    ] {
        let key = described(name);
        assert_eq!(key.algorithm, algorithm);
        assert!(key.user_id.is_some_and(|user_id| user_id.contains('@')));
        assert!(key.can_sign && !key.is_revoked, "{name}");
    }
}

#[test]
fn keys_that_do_not_count_are_described_as_such() {
    for name in ["expired-since", "expired-before"] {
        let key = described(name);
        assert!(key.can_sign && !key.is_revoked, "{name}");
        assert!(key.expires.is_some_and(|end| end < now()), "{name}");
    }
    assert!(described("revoked").is_revoked);
    for name in ["certify-only", "brainpoolP256r1"] {
        assert!(!described(name).can_sign, "{name}");
    }
    assert_eq!(
        described("renewed").expires.filter(|end| *end < now()),
        None
    );
}
