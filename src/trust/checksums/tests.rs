use super::*;
use proptest::prelude::*;

const A: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const B: &str = "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB";

fn read(text: &str) -> Checksums {
    Checksums::parse(text.as_bytes()).expect("a document")
}

#[test]
fn lines_are_found_as_clients_find_them() {
    let found = read(&format!(
        "{A}  plain.zip\r\n{B}\ttabbed.zip   and more\n{A} *binary.zip"
    ));
    let a = Digest::from_sha256([0xaa; 32]);
    assert_eq!(found.lookup("plain.zip"), Some(a));
    assert_eq!(
        found.lookup("tabbed.zip"),
        Some(Digest::from_sha256([0xbb; 32]))
    );
    assert_eq!(found.lookup("binary.zip"), None);
    assert_eq!(found.lookup("*binary.zip"), Some(a));
    assert_eq!(found.lookup("PLAIN.zip"), None);
    assert_eq!(found.notes(), &[]);
    assert_eq!(found.lines().count(), 3);
}

#[test]
fn odd_and_blank_lines_are_notes() {
    let found = read(&format!("{A}\n\r\n{A}  a.zip\n\n"));
    assert_eq!(found.notes(), &[Note::OddLine, Note::BlankLine]);
    assert!(found.lookup("a.zip").is_some());
    assert_eq!(read("").notes(), &[]);
    let found = Checksums::parse(b"\xff\xfe x\n").expect("a document");
    assert_eq!(found.notes(), &[Note::OddLine]);
}

#[test]
fn a_name_without_a_sound_digest_is_not_found() {
    let found = read("abcd  a.zip\n");
    assert_eq!(
        (found.lookup("a.zip"), found.notes()),
        (None, &[Note::OddLine][..])
    );
}

#[test]
fn one_name_with_two_digests_is_refused() {
    for second in [B, "abcd"] {
        let text = format!("{A}  a.zip\n{second}  a.zip\n");
        let error = Checksums::parse(text.as_bytes());
        assert!(
            matches!(error, Err(Error::TwoDigests { file_name, .. }) if file_name == "a.zip"),
            "{text}"
        );
    }
    let same = read(&format!("{A}  a.zip\n{}  a.zip\n", A.to_uppercase()));
    assert_eq!(same.lines().count(), 1);
}

#[test]
fn a_document_is_bounded() {
    let error = Checksums::parse(&vec![b'\n'; limits::CHECKSUMS as usize + 1]);
    assert!(matches!(error, Err(Error::Large(_))));
}

#[test]
fn a_digest_counts_under_the_right_name_only() {
    let provider = "example.com/acme/demo".parse().expect("an address");
    let version = "1.0.0".parse().expect("a version");
    let subject = ReleaseId {
        provider: &provider,
        version: &version,
    };
    let linux = "linux_amd64".parse().expect("a platform");
    let darwin = "darwin_arm64".parse().expect("a platform");
    let found = read(&format!(
        "{A}  terraform-provider-demo_1.0.0_linux_amd64.zip\n{B}  terraform-provider-demo_1.0.1_darwin_arm64.zip\n"
    ));
    let (a, b) = (
        Digest::from_sha256([0xaa; 32]),
        Digest::from_sha256([0xbb; 32]),
    );
    assert!(found.covers(subject, &linux, &a));
    assert!(!found.covers(subject, &linux, &b));
    assert!(!found.covers(subject, &darwin, &a));
    assert!(!found.covers(subject, &darwin, &b));
}

proptest! {
    #[test]
    fn never_panics(document: Vec<u8>) {
        let _ = Checksums::parse(&document);
    }

    #[test]
    fn prints_back(names in prop::collection::btree_map("[a-z*_.-]{1,12}", any::<[u8; 32]>(), 0..8)) {
        let printed: String = names.iter()
            .map(|(name, value)| format!("{}  {name}\n", Digest::from_sha256(*value).hex()))
            .collect();
        let found = read(&printed);
        prop_assert!(found.notes().is_empty());
        let again: BTreeMap<String, [u8; 32]> = found.lines()
            .map(|(name, digest)| (name.to_owned(), digest.sha256()))
            .collect();
        prop_assert_eq!(again, names);
    }
}
