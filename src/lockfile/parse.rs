//! Parses lock files as strictly as clients do.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::str::FromStr;

use super::{Client, Error, LARGEST, LockFile, LockFileErrorKind, LockedProvider, MOST};
use crate::address::ProviderAddr;
use crate::constraint::VersionConstraints;
use crate::hash::PackageHash;
use crate::syntax::outline::{Block, Body, Expression};

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
        let limit = |what, limit| refuse(1, LockFileErrorKind::Many { what, limit });
        if bytes.len() > LARGEST {
            return Err(limit("bytes", LARGEST));
        }
        let body = Body::parse(bytes)
            .map_err(|error| refuse(error.line, LockFileErrorKind::Hcl(error.mistake)))?;
        if body.blocks.len() > MOST {
            return Err(limit("entries", MOST));
        }
        only(&body, &[])?;
        let mut file = Self {
            written_by: Client::of_header(bytes),
            ..Self::default()
        };
        let mut lines = BTreeMap::new();
        for block in &body.blocks {
            match block.name {
                "provider" => {
                    let provider = address(block)?;
                    let of_provider = |error| Error {
                        provider: Some(provider.clone()),
                        ..error
                    };
                    if let Some(first) = lines.insert(provider.clone(), block.line) {
                        return Err(of_provider(refuse(
                            block.line,
                            LockFileErrorKind::Duplicate { first },
                        )));
                    }
                    let entry = LockedProvider::read(block).map_err(of_provider)?;
                    file.entries.insert(provider, entry);
                }
                "module" => {
                    label(block, "module")?;
                    file.modules += 1;
                }
                name => {
                    let kind = LockFileErrorKind::Block {
                        name: name.to_owned(),
                    };
                    return Err(refuse(block.line, kind));
                }
            }
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
    fn read(block: &Block<'_>) -> Result<Self, Error> {
        let body = &block.body;
        only(body, &["version", "constraints", "hashes"])?;
        if let Some(inner) = body.blocks.first() {
            let name = inner.name.to_owned();
            return Err(refuse(inner.line, LockFileErrorKind::Block { name }));
        }
        let version = body.attributes.get("version");
        let version = version.ok_or_else(|| refuse(block.line, LockFileErrorKind::NoVersion))?;
        let constraints = body.attributes.get("constraints");
        let hashes = body.attributes.get("hashes");
        Ok(Self {
            version: normal(
                text(version, "version")?,
                version.line(),
                "a version is not in its",
            )?,
            constraints: match constraints {
                None => VersionConstraints::any(),
                Some(value) => {
                    let written = text(value, "constraints")?;
                    normal(
                        written,
                        value.line(),
                        "version constraints are not in their",
                    )?
                }
            },
            hashes: hashes.map_or_else(|| Ok(BTreeSet::new()), read_hashes)?,
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

/// Refuses attributes other than these.
fn only(body: &Body<'_>, names: &[&str]) -> Result<(), Error> {
    let foreign = body
        .attributes
        .iter()
        .find(|(name, _)| !names.contains(name));
    match foreign {
        None => Ok(()),
        Some((name, value)) => {
            let name = (*name).to_owned();
            Err(refuse(value.line(), LockFileErrorKind::Attribute { name }))
        }
    }
}

fn label<'a>(block: &Block<'a>, name: &'static str) -> Result<&'a str, Error> {
    match block.labels.as_slice() {
        [label] => Ok(label),
        labels => {
            let received = labels.len();
            Err(refuse(
                block.line,
                LockFileErrorKind::Labels { name, received },
            ))
        }
    }
}

fn address(block: &Block<'_>) -> Result<ProviderAddr, Error> {
    let received = label(block, "provider")?.to_owned();
    normal(received, block.line, "an address is not in its")
}

fn text(value: &Expression<'_>, name: &'static str) -> Result<String, Error> {
    let not_text = || refuse(value.line(), LockFileErrorKind::NotText { name });
    value.as_text().ok_or_else(not_text)
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
    let kind = LockFileErrorKind::Form {
        what,
        expected,
        received,
    };
    Err(refuse(line, kind))
}

fn read_hashes(value: &Expression<'_>) -> Result<BTreeSet<PackageHash>, Error> {
    let line = value.line();
    let mut hashes = BTreeSet::new();
    for element in value
        .as_list()
        .ok_or_else(|| refuse(line, LockFileErrorKind::NotHashes))?
    {
        let element =
            element.map_err(|error| refuse(error.line, LockFileErrorKind::Hcl(error.mistake)))?;
        let text = element.as_text();
        let text = text.ok_or_else(|| refuse(element.line(), LockFileErrorKind::NotHashes))?;
        let hash = read_hash(&text);
        hashes
            .insert(hash.ok_or_else(|| refuse(element.line(), LockFileErrorKind::Hash { text }))?);
        if hashes.len() > MOST {
            let (what, limit) = ("hashes", MOST);
            return Err(refuse(line, LockFileErrorKind::Many { what, limit }));
        }
    }
    if hashes.is_empty() {
        return Err(refuse(line, LockFileErrorKind::NotHashes));
    }
    Ok(hashes)
}

/// Parses a hash. Clients keep every hash that has a scheme. A hash of a known scheme with an invalid value matches no package, like a hash
/// of an unknown scheme.
fn read_hash(text: &str) -> Option<PackageHash> {
    text.parse().ok().or_else(|| {
        let (scheme, value) = text.split_once(':')?;
        let (scheme, value) = (scheme.to_owned(), value.to_owned());
        (!scheme.is_empty()).then_some(PackageHash::Other { scheme, value })
    })
}
