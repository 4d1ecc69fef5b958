//! Altered answers of an origin.

use bytes::Bytes;
use serde_json::{Map, Value};

use crate::support::server::fault::Fault;

/// Alters a JSON answer.
pub fn json(change: impl Fn(&mut Value) + Send + Sync + 'static) -> Fault {
    Fault::alter(move |answer| {
        let mut document = serde_json::from_slice(&answer.body).unwrap();
        change(&mut document);
        answer.body = Bytes::from(document.to_string());
    })
}

/// Replaces the value of a member of a JSON answer. `path` is its name, after those of the objects around it:
/// `packages/linux_amd64/package_size`.
pub fn says(path: &str, value: impl Into<Value>) -> Fault {
    let (path, value) = (path.to_owned(), value.into());
    json(move |document| {
        let place = path
            .split('/')
            .fold(document, |within, name| match name.parse::<usize>() {
                Ok(place) => &mut within[place],
                Err(_) => &mut within[name],
            });
        *place = value.clone();
    })
}

/// Alters an object in a JSON answer. `path` has its name and those of the objects around it.
fn within(path: &str, change: impl Fn(&mut Map<String, Value>) + Send + Sync + 'static) -> Fault {
    let names = path.split('/').filter(|name| !name.is_empty());
    let path: String = names.map(|name| format!("/{name}")).collect();
    json(move |document| {
        let object = document.pointer_mut(&path).unwrap();
        change(object.as_object_mut().unwrap());
    })
}

/// Removes a member of a JSON answer.
pub fn lacks(path: &str) -> Fault {
    let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
    let name = name.to_owned();
    within(above, move |object| drop(object.remove(&name).unwrap()))
}

/// Renames a member of a JSON answer.
pub fn renames(from: &'static str, to: &'static str) -> Fault {
    renames_in("", from, to)
}

/// Renames a member of an object in a JSON answer.
pub fn renames_in(path: &str, from: &'static str, to: &'static str) -> Fault {
    within(path, move |object| {
        let value = object.remove(from).unwrap();
        object.insert(to.to_owned(), value);
    })
}

/// Adds an unreadable key before the good one.
pub fn broken_first_key() -> Fault {
    json(|document| {
        let keys = &mut document["signing_keys"]["gpg_public_keys"];
        let mut broken = keys[0].clone();
        broken["ascii_armor"] = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nbm90aGluZw==\n=AAAA\n-----END PGP PUBLIC KEY BLOCK-----\n".into();
        keys.as_array_mut().unwrap().insert(0, broken);
    })
}

/// Pads a JSON answer with so many bytes.
pub fn padded(bytes: usize) -> Fault {
    Fault::alter(move |answer| {
        answer.body = [&answer.body[..], &vec![b' '; bytes]].concat().into();
    })
}

/// A form of a checksum document, applied before it is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `HASH *NAME`, as for binary files.
    Starred,
    Crlf,
    /// A blank line after the first one.
    BlankLine,
    UpperCaseHex,
    /// A line with one word before the others.
    OneWord,
    /// Lines for files that are not packages.
    MoreFiles,
    /// File names in upper case.
    UpperCaseNames,
    /// No newline at the end.
    NoLastNewline,
}

impl Form {
    pub const ALL: [Self; 8] = [
        Self::Starred,
        Self::Crlf,
        Self::BlankLine,
        Self::UpperCaseHex,
        Self::OneWord,
        Self::MoreFiles,
        Self::UpperCaseNames,
        Self::NoLastNewline,
    ];

    /// The document in this form.
    pub fn of(self, document: &str) -> String {
        let lines = |change: &dyn Fn(&str, &str) -> String| {
            let lines = document.lines().filter_map(|line| line.split_once("  "));
            lines
                .map(|(hex, name)| change(hex, name))
                .collect::<String>()
        };
        match self {
            Self::Starred => lines(&|hex, name| format!("{hex} *{name}\n")),
            Self::Crlf => document.replace('\n', "\r\n"),
            Self::BlankLine => document.replacen('\n', "\n\n", 1),
            Self::UpperCaseHex => lines(&|hex, name| format!("{}  {name}\n", hex.to_uppercase())),
            Self::OneWord => format!("checksums\n{document}"),
            Self::MoreFiles => {
                let hex = "0".repeat(64);
                format!("{document}{hex}  README.md\n{hex}  checksums.sbom.json\n")
            }
            Self::UpperCaseNames => lines(&|hex, name| format!("{hex}  {}\n", name.to_uppercase())),
            Self::NoLastNewline => document.trim_end().to_owned(),
        }
    }
}
