use super::super::rule::{Expired, Weak};
use super::*;

const PIN: &str = "C874011F0AB405110D02105534365D9472D7468F";

fn policy(text: &str) -> Policy {
    TrustFile::parse(text)
        .expect("a trust file")
        .resolve(|key| match key.copy_of {
            Some(_) => Ok::<_, ()>(None),
            None => Ok(Some(key.path.display().to_string().into_bytes())),
        })
        .expect("its keys")
}

fn rule(policy: &Policy, address: &str) -> Option<Rule> {
    policy.rule_for(&address.parse().expect("an address"))
}

fn given() -> Vec<KeyRing> {
    vec![KeyRing {
        name: "new.asc".to_owned(),
        bytes: Vec::new(),
        anchor: Anchor::Pinned,
    }]
}

fn rings(rule: &Rule) -> Vec<(&str, Anchor)> {
    rule.keys
        .iter()
        .map(|ring| (ring.name.as_str(), ring.anchor))
        .collect()
}

#[test]
fn the_first_matching_entry_decides() {
    let policy = policy(&format!(
        "[[provider]]\nmatch = 'a.example/acme/demo'\nkeys = ['{}', 'keys/acme.asc']\nexpired = 'refuse'\nweak = 'warn'\n\
             [[provider]]\nmatch = 'a.example/*/*'\n",
        PIN.to_lowercase()
    ));
    let first = rule(&policy, "a.example/acme/demo").expect("a rule");
    assert_eq!(first.pins, [PIN.parse().expect("a fingerprint")]);
    assert_eq!(rings(&first), [("keys/acme.asc", Anchor::Pinned)]);
    assert_eq!(
        (first.unsigned, first.expired, first.weak),
        (Unsigned::Refuse, Expired::Refuse, Weak::Warn)
    );
    let second = rule(&policy, "a.example/acme/other").expect("a rule");
    assert!(!second.pinned());
    assert_eq!(second.unsigned, Unsigned::Refuse);
    assert!(rule(&policy, "b.example/acme/demo").is_none());
}

#[test]
fn keys_of_the_command_line_replace_key_files_and_serve_fingerprints() {
    let policy = policy(&format!(
        "[[provider]]\nmatch = 'a.example/acme/file'\nkeys = ['old.asc']\n\
             [[provider]]\nmatch = 'a.example/acme/pin'\nkeys = ['{PIN}']\n"
    ))
    .with_keys(given());
    let file = rule(&policy, "a.example/acme/file").expect("a rule");
    assert_eq!(rings(&file), [("new.asc", Anchor::Pinned)]);
    let pin = rule(&policy, "a.example/acme/pin").expect("a rule");
    assert_eq!(pin.pins.len(), 1);
    assert_eq!(rings(&pin), [("new.asc", Anchor::Embedded)]);
    let none = rule(&policy, "a.example/acme/none").expect("a rule");
    assert_eq!(rings(&none), [("new.asc", Anchor::Pinned)]);
}

#[test]
fn allow_unsigned_changes_nothing_else() {
    let text = "[[provider]]\nmatch = 'a.example/acme/*'\nweak = 'warn'\n";
    let patterns = vec!["a.example/acme/demo".parse().expect("a pattern")];
    let policy = policy(text).with_allow_unsigned(patterns);
    let allowed = rule(&policy, "a.example/acme/demo").expect("a rule");
    assert_eq!(
        (allowed.unsigned, allowed.weak),
        (Unsigned::Allow, Weak::Warn)
    );
    let other = rule(&policy, "a.example/acme/other").expect("a rule");
    assert_eq!(other.unsigned, Unsigned::Refuse);
}

#[test]
fn allow_unsigned_does_not_reach_pinned_providers() {
    let pattern = || vec!["a.example/acme/*".parse().expect("a pattern")];
    for keys in [PIN, "keys/acme.asc"] {
        let text = format!("[[provider]]\nmatch = 'a.example/acme/*'\nkeys = ['{keys}']\n");
        let policy = policy(&text).with_allow_unsigned(pattern());
        let pinned = rule(&policy, "a.example/acme/demo").expect("a rule");
        assert_eq!(pinned.unsigned, Unsigned::Refuse, "{keys}");
        assert!(pinned.pinned());
    }
    let policy = Policy::default()
        .with_keys(given())
        .with_allow_unsigned(pattern());
    let pinned = rule(&policy, "a.example/acme/demo").expect("a rule");
    assert_eq!(pinned.unsigned, Unsigned::Refuse);
}
