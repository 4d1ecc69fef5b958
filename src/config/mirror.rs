//! The mirror file: the providers to mirror, their versions and platforms, and the destination stores.
//!
//! ```toml
//! to = ["ghcr.io/acme/providers/${hostname}/${namespace}/${type}"]
//! trust = "trust.toml"
//! platforms = ["linux_amd64", "darwin_arm64", "windows_arm64"]
//! newest = 3
//!
//! [[provider]]
//! address = "registry.opentofu.org/hashicorp/aws"
//! constraints = ">= 5.80"
//! platforms = ["linux_amd64"]
//! ```
//!
//! Settings that a `[[provider]]` table omits default to those at the top of the file. A provider may have several tables, for several
//! ranges of versions.

use std::fmt;
use std::path::PathBuf;

use serde::de::{self, Deserialize, Deserializer, Unexpected, Visitor};

use crate::address::{self, ProviderAddr};
use crate::constraint::{self, VersionConstraints};
use crate::error::{Category, printable};
use crate::platform::{self, Platform, Platforms};
use crate::toml;

/// A mirror file. Its tables already contain the settings that they inherit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MirrorFile {
    /// The trust file, as written. A relative path is relative to the mirror file.
    pub trust: Option<PathBuf>,
    /// The providers to mirror, in the order of the tables.
    pub providers: Vec<MirrorEntry>,
}

/// One `[[provider]]` table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MirrorEntry {
    /// `address`.
    pub provider: ProviderAddr,
    /// The acceptable versions.
    pub constraints: VersionConstraints,
    /// The number of newest versions to mirror; `None` for all.
    pub newest: Option<usize>,
    /// Whether to include pre-releases.
    pub prereleases: bool,
    /// Those to mirror; all if the file names none.
    pub platforms: Platforms,
    /// The destination store addresses; if empty, the command line must provide them.
    pub to: Vec<String>,
}

/// The unprocessed file. Unknown fields are errors, so that a misspelt `platforms` does not mirror all platforms.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Tables {
    trust: Option<PathBuf>,
    to: Option<Vec<String>>,
    platforms: Option<Texts>,
    newest: Option<Count>,
    prereleases: Option<bool>,
    #[serde(default, deserialize_with = "toml::provider_tables")]
    provider: Vec<Table>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    address: String,
    constraints: Option<String>,
    to: Option<Vec<String>>,
    platforms: Option<Texts>,
    newest: Option<Count>,
    prereleases: Option<bool>,
}

/// A list of at least one text. An empty list could be read as nothing or as everything.
#[derive(Clone, serde::Deserialize)]
#[serde(try_from = "Vec<String>")]
struct Texts(Vec<String>);

impl TryFrom<Vec<String>> for Texts {
    type Error = &'static str;

    fn try_from(texts: Vec<String>) -> Result<Self, Self::Error> {
        if texts.is_empty() {
            return Err("the list is empty, expected at least one; without the key, all are meant");
        }
        Ok(Self(texts))
    }
}

/// A number of at least 1.
#[derive(Clone, Copy)]
struct Count(usize);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_i64(Counting)
    }
}

struct Counting;

impl Visitor<'_> for Counting {
    type Value = Count;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number from 1")
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Count, E> {
        let count = usize::try_from(number).ok().filter(|count| *count > 0);
        count
            .map(Count)
            .ok_or_else(|| E::invalid_value(Unexpected::Signed(number), &self))
    }
}

impl MirrorFile {
    /// Parses a mirror file. Provider addresses must name their host, so that the file means the same on every machine.
    ///
    /// # Errors
    /// The text is not TOML, has an unknown field, or has an invalid address, constraint or platform.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut file: Tables = toml::parse(text).map_err(|source| Error::Toml(Box::new(source)))?;
        let tables = std::mem::take(&mut file.provider);
        if tables.is_empty() {
            return Err(Error::Empty);
        }
        let entries = tables.into_iter().enumerate().map(|(place, table)| {
            let address = table.address.clone();
            let read = table.read(&file);
            read.map_err(|(field, source)| Error::Entry {
                line: field.line(text, place),
                address,
                source,
            })
        });
        let providers = entries.collect::<Result<Vec<_>, _>>()?;
        repeated(&providers, text)?;
        Ok(Self {
            providers,
            trust: file.trust,
        })
    }
}

/// Fails if two tables ask for the same versions and platforms in the same stores: one of them is probably meant for something else.
fn repeated(entries: &[MirrorEntry], text: &str) -> Result<(), Error> {
    let requested = |entry: &MirrorEntry| {
        let MirrorEntry {
            provider,
            constraints,
            platforms,
            to,
            ..
        } = entry;
        let constraints = constraints.to_string();
        (provider.clone(), constraints, platforms.clone(), to.clone())
    };
    for (place, entry) in entries.iter().enumerate() {
        let mut earlier = entries.iter().take(place);
        if let Some(first) = earlier.position(|earlier| requested(earlier) == requested(entry)) {
            let line = |place| toml::line_of(text, Some(place), "address", None);
            return Err(Error::Repeated {
                address: entry.provider.to_string(),
                first: line(first),
                second: line(place),
            });
        }
    }
    Ok(())
}

/// A value of the file that cannot be read.
struct Field {
    name: &'static str,
    /// Whether the value is that at the top of the file.
    is_default: bool,
    /// The element of a list.
    element: Option<usize>,
}

impl Field {
    fn own(name: &'static str) -> Self {
        Self {
            name,
            is_default: false,
            element: None,
        }
    }

    /// The line of the value for the table at this place.
    fn line(&self, text: &str, place: usize) -> Option<usize> {
        let table = Some(place).filter(|_| !self.is_default);
        toml::line_of(text, table, self.name, self.element)
    }
}

impl Table {
    fn read(self, defaults: &Tables) -> Result<MirrorEntry, (Field, MirrorEntryError)> {
        let provider = self.address.parse().map_err(MirrorEntryError::Address);
        let constraints = self.constraints.as_deref().map(str::parse).transpose();
        let constraints = constraints.map_err(MirrorEntryError::Constraints);
        let is_default = self.platforms.is_none();
        let texts = self.platforms.or_else(|| defaults.platforms.clone());
        let platform = |(element, text): (usize, &String)| {
            let element = Some(element);
            let (name, field) = ("platforms", text.parse::<Platform>());
            let at = Field {
                name,
                is_default,
                element,
            };
            field.map_err(|error| (at, MirrorEntryError::Platform(error)))
        };
        let platforms = texts.map(|Texts(texts)| {
            let platforms = texts.iter().enumerate().map(platform);
            platforms.collect::<Result<Vec<_>, _>>()
        });
        Ok(MirrorEntry {
            provider: provider.map_err(|error| (Field::own("address"), error))?,
            constraints: constraints
                .map_err(|error| (Field::own("constraints"), error))?
                .unwrap_or_else(VersionConstraints::any),
            newest: self.newest.or(defaults.newest).map(|Count(count)| count),
            prereleases: self
                .prereleases
                .or(defaults.prereleases)
                .unwrap_or_default(),
            platforms: platforms
                .transpose()?
                .map_or(Platforms::All, Platforms::Among),
            to: self.to.or_else(|| defaults.to.clone()).unwrap_or_default(),
        })
    }
}

/// Why a mirror file is refused.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Error {
    /// The text is not TOML, or has unknown fields.
    #[error(transparent)]
    Toml(Box<toml::Error>),
    /// The file lists no provider.
    #[error("the file names no provider\n  expected a table [[provider]] for each")]
    Empty,
    /// Two tables ask for the same versions.
    #[error("{address} is there twice with the same constraints{}", lines(*.first, *.second))]
    Repeated {
        address: String,
        /// The lines of the two tables; `None` if a table is written in an unusual way.
        first: Option<usize>,
        second: Option<usize>,
    },
    /// A value of a table, or at the top of the file, is invalid.
    #[error("{} cannot be understood", place(*.line, .address))]
    Entry {
        /// The line of the value; `None` if the table is written in an unusual way.
        line: Option<usize>,
        /// The address of the table.
        address: String,
        source: MirrorEntryError,
    },
}

/// The kind of an error in a table.
#[derive(Debug, thiserror::Error)]
pub enum MirrorEntryError {
    /// The address is invalid.
    #[error(transparent)]
    Address(address::Error),
    /// The constraints are invalid.
    #[error(transparent)]
    Constraints(constraint::Error),
    /// A platform is invalid.
    #[error(transparent)]
    Platform(platform::Error),
}

fn lines(first: Option<usize>, second: Option<usize>) -> String {
    match (first, second) {
        (Some(first), Some(second)) => format!("\n  in line {first} and line {second}"),
        _ => String::new(),
    }
}

fn place(line: Option<usize>, address: &str) -> String {
    match line {
        Some(line) => format!("line {line}"),
        None => format!("the table of `{}`", printable(address)),
    }
}

impl Error {
    /// The category that decides the exit code.
    pub fn category(&self) -> Category {
        Category::Usage
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FILE: &str = r#"
        to = ["a.example/{type}"]
        trust = "trust.toml"
        platforms = ["linux_amd64", "darwin/arm64"]
        newest = 3

        [[provider]]
        address = "registry.opentofu.org/hashicorp/aws"
        constraints = ">= 5.80"
        platforms = ["linux_amd64"]
        newest = 1
        prereleases = true
        to = ["b.example/{type}", "oci-layout:c"]

        [[provider]]
        address = "registry.opentofu.org/hashicorp/random"
    "#;

    #[test]
    fn a_table_takes_what_it_does_not_say_from_the_top() {
        let file = MirrorFile::parse(FILE).unwrap();
        assert_eq!(file.trust.as_deref(), Some("trust.toml".as_ref()));
        let shown: Vec<String> = file.providers.iter().map(show).collect();
        assert_eq!(
            shown,
            [
                "registry.opentofu.org/hashicorp/aws [>= 5.80.0] Some(1) true linux_amd64 -> b.example/{type}, oci-layout:c",
                "registry.opentofu.org/hashicorp/random [] Some(3) false linux_amd64, darwin_arm64 -> a.example/{type}",
            ]
        );
    }

    fn show(entry: &MirrorEntry) -> String {
        let platforms = entry.platforms.named().into_iter().flatten();
        let platforms = platforms.map(Platform::to_string);
        format!(
            "{} [{}] {:?} {} {} -> {}",
            entry.provider,
            entry.constraints,
            entry.newest,
            entry.prereleases,
            platforms.collect::<Vec<_>>().join(", "),
            entry.to.join(", ")
        )
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let table = |lines: &str| {
            format!("[[provider]]\naddress = \"registry.opentofu.org/acme/demo\"\n{lines}\n")
        };
        for (text, expected) in [
            (String::new(), "the file names no provider"),
            (
                "newest = 0".to_owned(),
                "line 1, column 10: expected a whole number from 1, received the number 0",
            ),
            (
                table("platform = []"),
                "line 3, column 1: unknown field `platform`",
            ),
            (
                table("constraints = \"latest\""),
                "line 3 cannot be understood",
            ),
            (
                table("platforms = [\"linux\"]"),
                "line 3 cannot be understood",
            ),
            (
                "[[provider]]\naddress = \"acme/demo\"".to_owned(),
                "line 2 cannot be understood",
            ),
        ] {
            let error = MirrorFile::parse(&text).unwrap_err();
            assert!(
                error.to_string().starts_with(expected),
                "{text:?} gave {error}"
            );
            assert_eq!(error.category(), Category::Usage);
        }
    }

    proptest! {
        #[test]
        fn never_panics(text in r#"(newest = [0-9-]{1,3}\n|to = \[\]\n|\[\[provider\]\]\n|address = "[a-z./]{0,12}"\n|constraints = "[<>=~0-9. ,]{0,8}"\n|\PC{0,8}){0,6}"#) {
            let _read_or_refused = MirrorFile::parse(&text);
        }
    }
}
