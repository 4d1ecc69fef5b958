use super::*;
use proptest::prelude::*;

#[test]
fn key_ids_are_no_fingerprints() {
    for text in [
        "",
        "34365D9472D7468F",
        "0x34365D9472D7468F",
        "openpgp4fpr:86B35B54AFA9C2E9F7BC38E8B60735FFC3893BFB",
        &"A".repeat(39),
        &"g".repeat(40),
    ] {
        assert!(text.parse::<Fingerprint>().is_err(), "{text}");
    }
}

#[test]
fn blanks_of_gpg_are_ignored() {
    let text = "86B3 5B54 AFA9 C2E9 F7BC  38E8 B607 35FF C389 3BFB";
    let fingerprint = text.parse::<Fingerprint>().expect("a fingerprint");
    assert_eq!(fingerprint.to_string(), text.replace(' ', ""));
}

proptest! {
    #[test]
    fn never_panics_and_prints_back(text in "[0-9a-fA-Fé]{38,66}") {
        if let Ok(fingerprint) = text.parse::<Fingerprint>() {
            prop_assert_eq!(fingerprint.to_string(), text.to_uppercase());
        }
    }
}
