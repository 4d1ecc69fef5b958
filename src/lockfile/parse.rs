//! Parses lock files as strictly as clients do.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::str::FromStr;

use super::{Client, Error, LARGEST, LockFile, LockFileErrorKind, LockedProvider, MOST};
use crate::address::ProviderAddr;
use crate::constraint::VersionConstraints;
use crate::error::printable;
use crate::hash::PackageHash;
use crate::syntax::{self, Member, Section, SyntaxError, Value};

impl LockFile {
    /// Parses a lock file.
    ///
    /// # Errors
    /// [Clients refuse](crate::clients#lock-file-reading) the file, or it has more than [`LARGEST`] bytes, or more than [`MOST`]
    /// providers or hashes.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let parsed = Self::read(bytes);
        parsed.map_err(|error| conflict(bytes).unwrap_or(error))
    }

    fn read(bytes: &[u8]) -> Result<Self, Error> {
        let limit = |what, limit| refused(1, format!("more than {limit} {what}"));
        if bytes.len() > LARGEST {
            return Err(limit("bytes", LARGEST));
        }
        let root = syntax::hcl(bytes)?;
        if root.all().count() > MOST {
            return Err(limit("entries", MOST));
        }
        let mut file = Self {
            written_by: Client::of_header(bytes),
            ..Self::default()
        };
        let mut lines = BTreeMap::new();
        for block in root.all() {
            let name = &*block.name;
            if !matches!(name, "provider" | "module") {
                return Err(unexpected(block));
            }
            let (Value::Section(body), [label]) = (&block.value, &*block.labels) else {
                let (name, labels) = (name.to_owned(), 1);
                let mistake = SyntaxError::Block { name, labels };
                return Err(refuse(block.line.unwrap_or(1), mistake.into()));
            };
            if name == "module" {
                // Clients warn about such blocks, and drop them when they write the file.
                continue;
            }
            let line = block.line.unwrap_or(1);
            let provider: ProviderAddr =
                normal((*label).to_owned(), line, "an address is not in its")?;
            let of_provider = |error| Error {
                provider: Some(provider.clone()),
                ..error
            };
            if let Some(first) = lines.insert(provider.clone(), line) {
                let text = format!("one provider has two entries\n  the first at line {first}");
                return Err(of_provider(refused(line, text)));
            }
            let entry = LockedProvider::read(body, line).map_err(of_provider)?;
            file.entries.insert(provider, entry);
        }
        Ok(file)
    }
}

impl Client {
    /// The client that the comments at the beginning of a lock file name.
    pub fn of_header(bytes: &[u8]) -> Option<Self> {
        // Editors of Windows write a byte order mark, which clients skip.
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let comments = bytes
            .split(|byte| *byte == b'\n')
            .take_while(|line| line.starts_with(b"#"));
        let mut clients = comments.filter_map(|line| {
            [Self::OpenTofu, Self::Terraform]
                .into_iter()
                .find(|client| line.trim_ascii_end() == client.header().as_bytes())
        });
        clients.next()
    }
}

impl LockedProvider {
    fn read(body: &Section<'_>, line: usize) -> Result<Self, Error> {
        let names = ["version", "constraints", "hashes"];
        if let Some(foreign) = body.all().find(|one| !names.contains(&&*one.name)) {
            return Err(unexpected(foreign));
        }
        let line_of = |name| body.line_of(name).unwrap_or(line);
        let version = body.text("version")?;
        let version = version.ok_or_else(|| refused(line, "an entry has no `version`"))?;
        let constraints = match body.text("constraints")? {
            Some(text) => {
                let what = "version constraints are not in their";
                normal(text, line_of("constraints"), what)?
            }
            None => VersionConstraints::any(),
        };
        let hashes = body.value("hashes");
        Ok(Self {
            version: normal(version, line_of("version"), "a version is not in its")?,
            constraints,
            hashes: hashes.map_or_else(
                || Ok(BTreeSet::new()),
                |value| read_hashes(value, line_of("hashes")),
            )?,
        })
    }
}

/// The first mark of a merge conflict. Git writes it at the beginning of a line.
fn conflict(bytes: &[u8]) -> Option<Error> {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let line = lines.position(|line| line.starts_with(b"<<<<<<< "))?;
    Some(refuse(line + 1, LockFileErrorKind::Conflict))
}

fn refuse(line: usize, kind: LockFileErrorKind) -> Error {
    Error {
        line,
        provider: None,
        kind,
    }
}

fn refused(line: usize, text: impl Into<String>) -> Error {
    refuse(line, LockFileErrorKind::Refused(text.into()))
}

fn unexpected(member: &Member<'_>) -> Error {
    let text = format!("a lock file has no `{}` here", printable(&member.name));
    refused(member.line.unwrap_or(1), text)
}

/// Parses a text that must be in the form that clients write. `what` says what it is.
fn normal<T>(received: String, line: usize, what: &'static str) -> Result<T, Error>
where
    T: FromStr + Display,
    LockFileErrorKind: From<T::Err>,
{
    let parsed: T = received
        .parse()
        .map_err(|error: T::Err| refuse(line, error.into()))?;
    let expected = parsed.to_string();
    if expected == received {
        return Ok(parsed);
    }
    let received = printable(&received);
    let text = format!("{what} normal form\n  expected {expected}\n  received {received}");
    Err(refused(line, text))
}

const NOT_HASHES: &str = "`hashes` is not a list of text in quotes, with at least one";

fn read_hashes(value: &Value<'_>, line: usize) -> Result<BTreeSet<PackageHash>, Error> {
    let list = match value {
        Value::Code(code) => code.as_list()?,
        _ => None,
    };
    let elements = list.unwrap_or_default();
    if elements.is_empty() {
        return Err(refused(line, NOT_HASHES));
    }
    let mut hashes = BTreeSet::new();
    for element in elements {
        let text = element.as_text();
        let text = text.ok_or_else(|| refused(element.line(), NOT_HASHES))?;
        let hash = read_hash(&text).ok_or_else(|| {
            let text = printable(&text);
            let text = format!("`{text}` is not a package hash\n  expected SCHEME:VALUE");
            refused(element.line(), text)
        });
        hashes.insert(hash?);
        if hashes.len() > MOST {
            return Err(refused(line, format!("more than {MOST} hashes")));
        }
    }
    Ok(hashes)
}

/// Parses a hash. Clients keep every hash that has a scheme. A hash of a known scheme with an invalid value matches no package, like a hash
/// of an unknown scheme. One that would have to be escaped is refused.
fn read_hash(text: &str) -> Option<PackageHash> {
    text.parse().ok().or_else(|| {
        let is_odd = |c: char| c.is_control() || matches!(c, '"' | '\\');
        let is_odd = text.contains(is_odd) || text.contains("${") || text.contains("%{");
        let (scheme, value) = text.split_once(':')?;
        let (scheme, value) = (scheme.to_owned(), value.to_owned());
        let is_kept = !scheme.is_empty() && !is_odd;
        is_kept.then_some(PackageHash::Other { scheme, value })
    })
}
