//! The checksum document (`SHA256SUMS`): one SHA-256 and one file name on each line.
//!
//! Clients read it leniently. For every document that this module accepts, it finds the same lines as clients do
//! ([clients: checksum documents](crate::clients#checksum-documents)): lines end at `\n`, white space separates fields,
//! and the second field must equal the file name exactly. So `HASH *NAME` is not a line for `NAME`, a carriage
//! return is ignored, and the hex digits may be of either case.
//!
//! A digest only proves something together with its file name, see [`Checksums::covers`].

use std::collections::BTreeMap;

use crate::authentication::Note;
use crate::digest::{Digest, from_hex};
use crate::platform::Platform;

use super::Error;
use super::file_name::ReleaseId;
use super::limits;

/// The most files that a checksum document can name. Real ones name about 20.
const MOST_LINES: usize = 10_000;

/// A parsed checksum document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checksums {
    /// The digests by file name; `None` if the first line with that name has no valid SHA-256.
    lines: BTreeMap<String, Option<Digest>>,
    notes: Vec<Note>,
}

impl Checksums {
    /// Parses a document. The signature is checked elsewhere.
    ///
    /// # Errors
    /// The document has more than 4 MiB or 10,000 names, or a name has two digests: clients would use the first, other tools the last.
    pub fn parse(document: &[u8]) -> Result<Self, Error> {
        if document.len() as u64 > limits::CHECKSUMS {
            return Err(large(limits::CHECKSUMS, "bytes"));
        }
        let mut read = Self {
            lines: BTreeMap::new(),
            notes: Vec::new(),
        };
        let text = document.strip_suffix(b"\n").unwrap_or(document);
        if text.is_empty() {
            return Ok(read);
        }
        for line in text.split(|byte| *byte == b'\n') {
            read.add(line)?;
        }
        Ok(read)
    }

    fn add(&mut self, line: &[u8]) -> Result<(), Error> {
        // A name that is not UTF-8 cannot equal the name of a package, which is UTF-8.
        let Ok(line) = std::str::from_utf8(line) else {
            self.note(Note::OddLine);
            return Ok(());
        };
        let mut fields = line.split_whitespace();
        let Some(value) = fields.next() else {
            self.note(Note::BlankLine);
            return Ok(());
        };
        let digest = from_hex(&value.to_ascii_lowercase()).map(Digest::from_sha256);
        let name = fields.next();
        if digest.is_none() || name.is_none() {
            self.note(Note::OddLine);
        }
        let Some(name) = name else { return Ok(()) };
        match self.lines.get(name) {
            Some(first) if *first != digest => Err(Error::TwoDigests {
                file_name: name.to_owned(),
                first: *first,
                second: digest,
            }),
            Some(_) => Ok(()),
            None if self.lines.len() == MOST_LINES => Err(large(MOST_LINES as u64, "files")),
            None => {
                self.lines.insert(name.to_owned(), digest);
                Ok(())
            }
        }
    }

    fn note(&mut self, note: Note) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// The digest that the document states for a file; `None` if it does not list the file, or the first line that does has no valid SHA-256.
    pub fn lookup(&self, file_name: &str) -> Option<Digest> {
        self.lines.get(file_name).copied().flatten()
    }

    /// Every file name with a valid digest, sorted by name.
    pub fn lines(&self) -> impl Iterator<Item = (&str, Digest)> {
        self.lines
            .iter()
            .filter_map(|(name, digest)| Some((name.as_str(), (*digest)?)))
    }

    /// Irregularities that were accepted.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Whether a line lists this digest under a file name of this provider version and platform.
    ///
    /// Use this if the zip's file name is unknown, as for the entries of an OCI index. A digest that is listed
    /// under another file name proves nothing.
    pub fn covers(&self, subject: ReleaseId<'_>, platform: &Platform, zip: &Digest) -> bool {
        self.lines()
            .any(|(name, digest)| digest == *zip && subject.is_named(name, platform))
    }
}

fn large(limit: u64, unit: &'static str) -> Error {
    let what = "the checksum document".to_owned();
    Error::Large { what, limit, unit }
}

#[cfg(test)]
mod tests {
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
        let text = format!("{A}  a.zip\nabcd  a.zip\n");
        let error = Checksums::parse(text.as_bytes()).unwrap_err();
        let expected = format!(
            "the checksum document has two checksums for `a.zip`\n  received sha256:{A}\n  and a text that is no SHA-256"
        );
        assert_eq!(error.to_string(), expected);
        let same = read(&format!("{A}  a.zip\n{}  a.zip\n", A.to_uppercase()));
        assert_eq!(same.lines().count(), 1);
    }

    #[test]
    fn a_document_is_bounded() {
        let error = Checksums::parse(&vec![b'\n'; limits::CHECKSUMS as usize + 1]);
        assert!(matches!(error, Err(Error::Large { .. })));
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
                .filter_map(|(name, digest)| Some((name.to_owned(), digest.sha256()?)))
                .collect();
            prop_assert_eq!(again, names);
        }
    }
}
