use super::*;
use proptest::prelude::*;

#[test]
fn key_ids_are_no_fingerprints() {
    for text in [
        "",
        "34365D9472D7468F",
        "0x34365D9472D7468F",
        &"g".repeat(40),
    ] {
        assert!(text.parse::<Fingerprint>().is_err(), "{text}");
    }
}

#[test]
fn other_programs_write_colons_and_uris() {
    let plain = "86B35B54AFA9C2E9F7BC38E8B60735FFC3893BFB";
    let pairs: Vec<&str> = (0..20)
        .filter_map(|at| plain.get(2 * at..2 * at + 2))
        .collect();
    for text in [
        pairs.join(":"),
        format!("openpgp4fpr:{plain}"),
        format!("OPENPGP4FPR:{}", plain.to_lowercase()),
    ] {
        let error = Fingerprint::unless_file(&text).expect_err(&text);
        assert!(error.to_string().contains(plain), "{error}");
        assert!(text.parse::<Fingerprint>().is_err(), "{text}");
    }
}

#[test]
fn blanks_of_gpg_are_ignored() {
    let text = "86B3 5B54 AFA9 C2E9 F7BC  38E8 B607 35FF C389 3BFB";
    let fingerprint = text.parse::<Fingerprint>().expect("a fingerprint");
    assert_eq!(fingerprint.to_string(), text.replace(' ', ""));
}

#[test]
fn key_ids_and_incomplete_fingerprints_are_told_from_files() {
    for (text, is_file) in [
        ("9472D746", false),
        ("34365D9472D7468F", false),
        ("0x34365d9472d7468f", false),
        ("3436 5D94 72D7 468F", false),
        (&"A".repeat(39), false),
        (&"A".repeat(41), false),
        ("", true),
        ("cafe", true),
        ("acme.asc", true),
        ("C:acme.asc", true),
        ("openpgp4fpr:86B3", true),
        ("./9472D746", true),
    ] {
        let found = Fingerprint::unless_file(text);
        assert_eq!(found == Ok(None), is_file, "{text}");
    }
}

proptest! {
    #[test]
    fn never_panics_and_prints_back(text in "[0-9a-fA-Fé]{38,66}") {
        if let Ok(fingerprint) = text.parse::<Fingerprint>() {
            prop_assert_eq!(fingerprint.to_string(), text.to_uppercase());
        }
    }
}
