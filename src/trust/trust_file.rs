//! The trust file: which keys may sign for which providers.
//!
//! ```toml
//! [[provider]]
//! match = "registry.opentofu.org/hashicorp/*"
//! keys = ["C874011F0AB405110D02105534365D9472D7468F", "keys/acme.asc"]
//! unsigned = "refuse"
//! expired = "warn"
//! weak = "refuse"
//! require_attestation = { key = "mirror.pub", id = "https://mirror.example.com/tfoci" }
//! ```

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::address::{ProviderAddr, ProviderPattern, pattern};
use crate::attestation::PublicKey;
use crate::authentication::Anchor;
use crate::fingerprint::Fingerprint;
use crate::release::KeyRing;
use crate::toml;

use super::deny::{Denial, DenyTable};
use super::lines::{EntryLines, lines};
use super::rule::{Expired, Rule, Unsigned, Weak};
use super::{Error, openpgp};

/// A parsed trust file, whose key files have not been read yet.
#[derive(Clone, Debug, Default)]
pub struct TrustFile {
    /// The entries. The first that matches a provider applies.
    pub entries: Vec<TrustEntry>,
    /// The block list. Every entry counts.
    pub denied: Vec<Denial>,
}

/// A `[[provider]]` of a trust file: the keys and rules for the providers that it matches and no earlier entry does.
#[derive(Clone, Debug)]
pub struct TrustEntry {
    /// The line of its `match`, from 1.
    pub line: usize,
    /// Its field `match`.
    pub pattern: ProviderPattern,
    /// What releases must prove. Before its files are read, the rule has neither their keys nor the key of a mirror.
    pub rule: Rule,
    /// The comments behind its fingerprints, which say whose keys these are.
    pub comments: HashMap<Fingerprint, String>,
    /// The values of its `keys` that are paths, and the copies of the keys that its fingerprints name.
    pub files: Vec<KeyFile>,
    /// Its field `require_attestation`: the file of the public key, and the URI of the mirror.
    pub attestation: Option<(KeyFile, Option<String>)>,
}

/// A key file that a trust file names, or the copy of a key that it names by its fingerprint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFile {
    /// The path as it is written. A relative path is relative to the trust file.
    pub path: PathBuf,
    /// The line of the entry that names it, from 1.
    pub line: usize,
    /// The key of a copy. The file need not exist. What it says of the key, such as its revocation, counts beside what other copies say.
    pub copy_of: Option<Fingerprint>,
    /// Whether it has the key of a mirror, and not that of an author.
    pub is_of_mirror: bool,
}

/// The tables of the file. Unknown fields are errors, so that a misspelt `unsigned` does not silently leave the default.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tables {
    #[serde(default)]
    provider: Vec<Table>,
    #[serde(default)]
    deny: Vec<DenyTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    r#match: String,
    #[serde(default)]
    keys: Vec<String>,
    unsigned: Option<Unsigned>,
    expired: Option<Expired>,
    weak: Option<Weak>,
    require_attestation: Option<Attested>,
}

/// The public key of a mirror, perhaps with its URI.
#[derive(Deserialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "expected \"FILE\" or { key = \"FILE\", id = \"URI\" }"
)]
enum Attested {
    Key(PathBuf),
    By { key: PathBuf, id: String },
}

impl Attested {
    fn key(self, line: usize) -> (KeyFile, Option<String>) {
        let (path, id) = match self {
            Self::Key(path) => (path, None),
            Self::By { key, id } => (key, Some(id)),
        };
        let mut file = KeyFile::named(path, line);
        file.is_of_mirror = true;
        (file, id)
    }
}

impl TrustFile {
    /// Parses a trust file.
    ///
    /// # Errors
    /// The text is not TOML, has an unknown field or value, or a `match` is not a pattern.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let (file, errors) = Self::check(text)?;
        errors.into_iter().next().map_or(Ok(file), Err)
    }

    /// Parses a trust file, and returns the entries that can be used with the errors of all others.
    ///
    /// # Errors
    /// The text is not TOML, or has an unknown field or value.
    pub fn check(text: &str) -> Result<(Self, Vec<Error>), Error> {
        let tables: Tables =
            toml::parse(text).map_err(|error| Error::TrustFile(Box::new(error)))?;
        let (mut file, mut errors) = (Self::default(), Vec::new());
        let mut providers = lines(text, "provider").into_iter();
        for table in tables.provider {
            let entry = TrustEntry::new(table, &providers.next().unwrap_or_default());
            let entry = entry.map_err(|error| errors.push(error));
            file.entries.extend(entry);
        }
        let mut denials = lines(text, "deny").into_iter();
        for table in tables.deny {
            let denial = Denial::new(table, denials.next().unwrap_or_default().entry);
            let denial = denial.map_err(|error| errors.push(error));
            file.denied.extend(denial);
        }
        Ok((file, errors))
    }

    /// The first entry that matches a provider, with its index from 0.
    pub(super) fn entry_for(&self, provider: &ProviderAddr) -> Option<(usize, &TrustEntry)> {
        let mut entries = self.entries.iter().enumerate();
        entries.find(|(_, entry)| entry.pattern.matches(provider))
    }
}

impl TrustEntry {
    fn new(table: Table, lines: &EntryLines) -> Result<Self, Error> {
        let wrong = |what: String| Error::Entry {
            line: lines.entry,
            what,
        };
        let pattern = table.r#match.parse();
        let pattern = pattern.map_err(|error: pattern::Error| wrong(error.to_string()))?;
        let unsigned = table.unsigned.unwrap_or_default();
        if !table.keys.is_empty() && unsigned == Unsigned::Allow {
            let what = "the entry has `keys` and `unsigned = \"allow\"`";
            return Err(wrong(what.to_owned()));
        }
        let mut entry = Self {
            line: lines.entry,
            pattern,
            comments: HashMap::new(),
            files: Vec::new(),
            rule: Rule {
                unsigned,
                expired: table.expired.unwrap_or_default(),
                weak: table.weak.unwrap_or_default(),
                ..Rule::default()
            },
            attestation: table.require_attestation.map(|one| one.key(lines.entry)),
        };
        for (place, key) in table.keys.into_iter().enumerate() {
            let comment = lines.comments.get(place).cloned().flatten();
            if let (Ok(fingerprint), Some(comment)) = (key.parse(), comment) {
                entry.comments.insert(fingerprint, comment);
            }
            entry.add(key);
        }
        Ok(entry)
    }

    /// Adds a text of `keys`: what is not a fingerprint is the path of a file.
    fn add(&mut self, key: String) {
        let line = self.line;
        match key.parse::<Fingerprint>() {
            Ok(fingerprint) => {
                self.files.push(KeyFile::copy_of(&fingerprint, line));
                self.rule.pins.push(fingerprint);
            }
            Err(_) => self.files.push(KeyFile::named(PathBuf::from(key), line)),
        }
    }

    /// Whether it names any key.
    pub fn has_keys(&self) -> bool {
        !self.rule.pins.is_empty() || !self.files.is_empty()
    }
}

impl KeyFile {
    /// The file `keys/FINGERPRINT.asc`, which a fingerprint in this line names.
    pub fn copy_of(fingerprint: &Fingerprint, line: usize) -> Self {
        let path = Path::new("keys").join(format!("{fingerprint}.asc"));
        Self {
            copy_of: Some(fingerprint.clone()),
            ..Self::named(path, line)
        }
    }

    fn named(path: PathBuf, line: usize) -> Self {
        Self {
            path,
            line,
            copy_of: None,
            is_of_mirror: false,
        }
    }

    /// The bytes of the file as a ring of keys. They are not parsed yet. The keys are pinned, except in a copy: its fingerprint pins that key.
    pub fn ring(&self, bytes: Vec<u8>) -> KeyRing {
        KeyRing {
            name: self.path.display().to_string(),
            bytes,
            anchor: match self.copy_of {
                Some(_) => Anchor::Embedded,
                None => Anchor::Pinned,
            },
        }
    }

    /// Checks that the file is no other file, and that a copy has its key and no other.
    ///
    /// # Errors
    /// As [`check_key_file`], [`Error::OtherCopy`], or the keys of a copy cannot be read.
    pub fn check(&self, bytes: &[u8]) -> Result<(), Error> {
        let name = self.path.display().to_string();
        if self.is_of_mirror {
            return check_mirror_key(&name, bytes);
        }
        check_key_file(&name, bytes)?;
        let Some(expected) = &self.copy_of else {
            return Ok(());
        };
        let received = openpgp::fingerprints(&self.ring(bytes.to_vec()))?;
        match received.iter().all(|key| key == expected) {
            true => Ok(()),
            false => Err(Error::OtherCopy { name, received }),
        }
    }
}

/// Checks that a file of the user holds the public key of a mirror.
///
/// # Errors
/// [`Error::NoMirrorKey`]
pub fn check_mirror_key(name: &str, bytes: &[u8]) -> Result<(), Error> {
    let name = name.to_owned();
    let key = PublicKey::parse(bytes).map(drop);
    key.map_err(|error| Error::NoMirrorKey { name, error })
}

/// Checks that a file of the user holds whole public keys and nothing else. The keys of origins may be damaged, since others of them may do.
///
/// # Errors
/// [`Error::NotAKey`]
pub fn check_key_file(name: &str, bytes: &[u8]) -> Result<(), Error> {
    let name = name.to_owned();
    match openpgp::is_key_file(bytes) {
        true => Ok(()),
        false => Err(Error::NotAKey { name }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Category;
    use proptest::prelude::*;

    #[test]
    fn what_cannot_be_meant_is_a_usage_error() {
        for text in [
            "provider",
            "[[providers]]\nmatch = 'a/b/c'",
            "[[provider]]\nkeys = []",
            "[[provider]]\nmatch = 'a/b/c'\nunsignd = 'allow'",
            "[[provider]]\nmatch = 'a/b/c'\nunsigned = 'maybe'",
            "[[provider]]\nmatch = 'a/b/c'\nunsigned = true",
            "[[provider]]\nmatch = 'b/c'",
            "[[provider]]\nmatch = 'a/b/c'\nkeys = ['x.asc']\nunsigned = 'allow'",
        ] {
            let error = TrustFile::parse(text).expect_err(text);
            assert_eq!(error.category(), Category::Usage, "{text}");
        }
        assert!(TrustFile::parse("").is_ok());
    }

    #[test]
    fn every_wrong_entry_is_found_with_its_line() {
        let text = "[[provider]]\nmatch = 'b/c'\n\n[[provider]]\nmatch = 'a/b/c'\nkeys = ['x.asc']\nunsigned = 'allow'\n[[provider]]\nmatch = 'a/b/*'\n";
        for text in [text.to_owned(), text.replace('\n', "\r\n")] {
            let (file, errors) = TrustFile::check(&text).expect("TOML");
            let lines: Vec<usize> = file.entries.iter().map(|entry| entry.line).collect();
            assert_eq!(lines, [9]);
            let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
            assert_eq!(
                errors,
                [
                    "line 2: `b/c` is not a pattern of providers\n  expected HOSTNAME/NAMESPACE/TYPE, such as `example.com/acme/*`, `example.com/*/*`, or `*/*/*` for all",
                    "line 5: the entry has `keys` and `unsigned = \"allow\"`",
                ]
            );
        }
    }

    #[test]
    fn a_list_of_inline_tables_has_lines_too() {
        let text = "provider = [\n  { match = 'a/b/*' },\n  { match = 'a/*/*',\n    keys = ['x.asc'] },\n]\n";
        let file = TrustFile::parse(text).expect("a trust file");
        let lines: Vec<usize> = file.entries.iter().map(|entry| entry.line).collect();
        assert_eq!(lines, [2, 3]);
    }

    #[test]
    fn a_key_file_that_cannot_be_read_stops_it() {
        let file =
            TrustFile::parse("[[provider]]\nmatch = 'a/b/c'\nkeys = ['x.asc']").expect("a file");
        assert_eq!(file.resolve(|_| Err("gone")).err(), Some("gone"));
    }

    proptest! {
        #[test]
        fn never_panics(text in "(\\[\\[provider\\]\\]\n|match = |keys = \\[|'[a-z*/]{0,9}'|\\]|\n|[ -~]){0,20}") {
            let _ = TrustFile::parse(&text);
        }
    }
}
