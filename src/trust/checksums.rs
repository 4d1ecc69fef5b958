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
            return Err(large());
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
            }),
            Some(_) => Ok(()),
            None if self.lines.len() == MOST_LINES => Err(large()),
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

fn large() -> Error {
    Error::Large("the checksum document".to_owned())
}

#[cfg(test)]
mod tests;
