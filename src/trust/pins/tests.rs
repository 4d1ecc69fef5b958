//! Tests of the text that is written.

use super::*;

const KEY: &str = "C874011F0AB405110D02105534365D9472D7468F";
const OTHER: &str = "E56B60758C6D6E7630CD2A9F21FA22C0E0E7ABE9";

fn provider() -> ProviderAddr {
    "registry.opentofu.org/acme/demo".parse().unwrap()
}

fn pins<const N: usize>(keys: [&str; N]) -> BTreeSet<Fingerprint> {
    keys.map(|key| key.parse().unwrap()).into()
}

fn seen(key: &str, user_id: &str) -> (Fingerprint, FirstSeen) {
    let fingerprint: Fingerprint = key.parse().unwrap();
    let key = KeyDescription {
        fingerprint: fingerprint.clone(),
        user_id: Some(user_id.to_owned()),
        algorithm: "Ed25519".to_owned(),
        expires: None,
        updated: None,
        certificate: None,
        is_revoked: false,
        can_sign: true,
    };
    let version = "1.2.0".parse().unwrap();
    (fingerprint, FirstSeen { key, version })
}

fn keys<const N: usize>(keys: [&str; N]) -> NewKeys {
    keys.map(|key| seen(key, "Acme <a@acme.example>")).into()
}

/// The list as it is written.
fn listed<const N: usize>(keys: [&str; N]) -> String {
    let comment = "# Acme <a@acme.example>, Ed25519, first seen with 1.2.0";
    let lines = keys.map(|key| format!("  \"{key}\", {comment}\n"));
    format!("[\n{}]", lines.concat())
}

fn pinned(text: &str) -> Option<String> {
    let pinned = pin(text, &provider(), &pins([]), &keys([KEY])).unwrap();
    if let Some(text) = &pinned {
        // The pinned keys stay: there is nothing to do the second time.
        let again = pin(text, &provider(), &pins([]), &keys([OTHER]));
        assert_eq!(again.unwrap(), None);
    }
    pinned
}

fn own(settings: &str) -> String {
    format!(
        "[[provider]]\nmatch = \"registry.opentofu.org/acme/demo\"\nkeys = {}\nunsigned = \"refuse\"\n{settings}",
        listed([KEY])
    )
}

#[test]
fn a_new_file_and_one_with_other_tables() {
    assert_eq!(pinned(""), Some(own("")));
    let other = "# ours\n[[provider]]\nmatch = \"registry.opentofu.org/other/*\"\n";
    assert_eq!(pinned(other), Some(format!("{other}\n{}", own(""))));
}

#[test]
fn a_table_without_keys_is_preceded_and_its_settings_kept() {
    for (before, header) in [
        ("# ours\n\n", "[[provider]]"),
        (
            "# \"\"\"\n[[provider]]\nmatch = \"a/b/c\"\n",
            "[[provider]]",
        ),
        ("", "[[ provider ]]"),
        ("\n", "  [[\tprovider]] # [[provider]]"),
        ("", "[[\"provider\"]]"),
        (
            "[[provider]]\nmatch = \"a/b/c\"\nkeys = [\"\"\"\n[[provider]]\n\"\"\"]\n",
            "[[provider]]",
        ),
    ] {
        let table = format!(
            "{header}\nmatch = \"registry.opentofu.org/*/*\"\nunsigned = \"allow\"\nweak = \"warn\"\n"
        );
        let own = own("weak = \"warn\"\n");
        let expected = format!("{before}{own}\n{table}");
        assert_eq!(pinned(&format!("{before}{table}")), Some(expected));
    }
}

#[test]
fn keys_that_are_named_stay_as_they_are() {
    for named in ["acme.asc", OTHER] {
        let named = format!(
            "[[provider]]\nmatch = \"registry.opentofu.org/acme/*\"\nkeys = [\"{named}\"]\n"
        );
        assert_eq!(pinned(&named), None);
    }
}

#[test]
fn a_key_joins_those_that_were_pinned_before() {
    let text = format!("# ours\n{}\n# more\n", own("weak = \"warn\"\n"));
    let both = keys([KEY, OTHER]);
    let joined = pin(&text, &provider(), &pins([KEY]), &both).unwrap();
    let list = listed([KEY, OTHER]);
    assert_eq!(joined, Some(text.replace(&listed([KEY]), &list)));
    // Keys that the user wrote stay.
    let named = text.replace(KEY, OTHER);
    let stays = pin(&named, &provider(), &pins([KEY]), &both).unwrap();
    assert_eq!(stays, None);
    // The user removed the keys.
    let gone = pin("", &provider(), &pins([KEY]), &both).unwrap();
    assert_eq!(gone.unwrap(), own("").replace(&listed([KEY]), &list));
}

/// Comments, order, spacing, quotes, line ends and the end of the file.
#[test]
fn every_other_byte_stays() {
    let text = format!(
        "# ours\n\n  [[provider]]   # first\n  match = 'a.example/*/*'\nkeys=[ 'x.asc', # theirs\n  \"{OTHER}\",]\n\n# why\n[[provider]]\n\tweak  =  \"\"\"warn\"\"\" # now\n\
             match = \"registry.opentofu.org/acme/*\"\n\n\n# last\n\n[[provider]]\nmatch = \"b.example/*/*\"\n# end \t"
    );
    let is_kept = |before: &str, after: &str, added: &str| {
        let (head, tail) = after.split_once(added).unwrap();
        format!("{head}{tail}") == before
    };
    for text in [
        text.clone(),
        format!("{text}\n\n \n"),
        text.replace("acme/*", "other/*"),
        text.replace("acme/*", "other/*") + "\n",
    ] {
        let added = match text.contains("acme/*") {
            true => own("weak = \"warn\"\n") + "\n",
            false if text.ends_with('\n') => format!("\n{}", own("")),
            false => format!("\n\n{}", own("")),
        };
        let after = pinned(&text).unwrap();
        assert!(is_kept(&text, &after, &added), "{after}");
        let windows = |text: &str| text.replace('\n', "\r\n");
        assert_eq!(pinned(&windows(&text)), Some(windows(&after)));

        let grown = pin(&after, &provider(), &pins([KEY]), &keys([KEY, OTHER]));
        let grown_by_hand = after.replace(&listed([KEY]), &listed([KEY, OTHER]));
        assert_eq!(grown.unwrap(), Some(grown_by_hand));
    }
}

#[test]
fn what_only_looks_like_a_comment_stays_whole() {
    let string = "[[provider]]\nmatch = \"a.example/*/*\"\nkeys = [\"\"\"\n# \"\"\"]\n";
    let text = format!("{string}[[provider]]\nmatch = \"registry.opentofu.org/*/*\"\n");
    let refused = pin(&text, &provider(), &pins([]), &keys([KEY]));
    assert!(matches!(refused, Err(Error::NoPlace)));
}

#[test]
fn a_form_that_cannot_be_added_to_is_refused() {
    for text in [
        "provider = []\n",
        "provider = [{ match = \"a.example/*/*\" }]\n",
        "provider = [{ match = \"registry.opentofu.org/*/*\" }]\n",
        "provider = [\n  { match = \"a.example/*/*\" },\n  { match = \"registry.opentofu.org/*/*\" },\n]\n",
    ] {
        let refused = pin(text, &provider(), &pins([]), &keys([KEY]));
        assert!(matches!(refused, Err(Error::NoPlace)), "{text}");
    }
}
