//! The mirror file: the providers to mirror, their versions and platforms, and the destination stores.
//!
//! ```toml
//! to = ["ghcr.io/acme/providers/${hostname}/${namespace}/${type}"]
//! trust = "trust.toml"
//! platforms = ["linux_amd64", "darwin_arm64", "windows_arm64"]
//! newest = 3
//! attest = { key = "mirror.pem", id = "https://mirror.example.com/tfoci" }
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
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use serde::de::{self, Deserialize, Deserializer};

use crate::address::ProviderAddr;
use crate::constraint::VersionConstraints;
use crate::date::days;
use crate::error::{Hint, flat};
use crate::platform::{Platform, Platforms};
use crate::toml;

/// A mirror file. Its tables already contain the settings that they inherit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MirrorFile {
    /// The trust file, as written. A relative path is relative to the mirror file.
    pub trust: Option<PathBuf>,
    /// Who attests the versions that are mirrored.
    pub attest: Option<Attest>,
    /// The providers to mirror, in the order of the tables.
    pub providers: Vec<MirrorEntry>,
}

/// Who attests versions.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attest {
    /// The file of the private key. A relative path is relative to the mirror file. `None` if a variable has the key.
    pub key: Option<PathBuf>,
    /// The URI that names the mirror.
    pub id: String,
}

/// One `[[provider]]` table, or a provider that is requested in another way.
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
    /// The least age of a version.
    pub min_age: Duration,
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
    attest: Option<Attest>,
    to: Option<Vec<String>>,
    platforms: Option<PlatformList>,
    newest: Option<NonZeroUsize>,
    prereleases: Option<bool>,
    min_age: Option<Age>,
    #[serde(default)]
    provider: Vec<Table>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    address: Parsed<ProviderAddr>,
    constraints: Option<Parsed<VersionConstraints>>,
    to: Option<Vec<String>>,
    platforms: Option<PlatformList>,
    newest: Option<NonZeroUsize>,
    prereleases: Option<bool>,
    min_age: Option<Age>,
}

/// A value that is written as text.
#[derive(Debug)]
pub(super) struct Parsed<T>(pub(super) T);

impl<'de, T: FromStr<Err: fmt::Display>> Deserialize<'de> for Parsed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let parsed = String::deserialize(deserializer)?.parse();
        parsed
            .map(Self)
            .map_err(|error| de::Error::custom(flat(&error)))
    }
}

/// A list of at least one platform. An empty list could be read as nothing or as everything.
#[derive(Clone, serde::Deserialize)]
#[serde(try_from = "Vec<Parsed<Platform>>")]
struct PlatformList(Vec<Platform>);

impl TryFrom<Vec<Parsed<Platform>>> for PlatformList {
    type Error = &'static str;

    fn try_from(platforms: Vec<Parsed<Platform>>) -> Result<Self, Self::Error> {
        if platforms.is_empty() {
            return Err("the list is empty, expected at least one; without the key, all are meant");
        }
        Ok(Self(platforms.into_iter().map(|Parsed(one)| one).collect()))
    }
}

/// A number of days, such as `7d`.
#[derive(Clone, Copy, Default, serde::Deserialize)]
#[serde(try_from = "String")]
struct Age(Duration);

impl TryFrom<String> for Age {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        days(&text).map(Self)
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
        Ok(Self {
            providers: tables.into_iter().map(|table| table.with(&file)).collect(),
            trust: file.trust,
            attest: file.attest,
        })
    }
}

impl MirrorEntry {
    /// A provider in these versions, on all platforms.
    pub fn of(provider: ProviderAddr, constraints: VersionConstraints) -> Self {
        Self {
            provider,
            constraints,
            newest: None,
            prereleases: false,
            min_age: Duration::ZERO,
            platforms: Platforms::All,
            to: Vec::new(),
        }
    }
}

impl Table {
    /// The table with the settings of the file that it does not have itself.
    fn with(self, file: &Tables) -> MirrorEntry {
        let constraints = self.constraints.map(|Parsed(constraints)| constraints);
        let platforms = self.platforms.or_else(|| file.platforms.clone());
        let newest = self.newest.or(file.newest);
        MirrorEntry {
            provider: self.address.0,
            constraints: constraints.unwrap_or_else(VersionConstraints::any),
            newest: newest.map(NonZeroUsize::get),
            prereleases: self.prereleases.or(file.prereleases).unwrap_or_default(),
            min_age: self.min_age.or(file.min_age).unwrap_or_default().0,
            platforms: platforms.map_or(Platforms::All, |PlatformList(all)| Platforms::Among(all)),
            to: self.to.or_else(|| file.to.clone()).unwrap_or_default(),
        }
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
}

impl Error {
    /// The error without any text of the file, for one that a stranger may have named.
    pub fn without_text(self) -> Self {
        match self {
            Self::Toml(error) => Self::Toml(Box::new(error.without_text())),
            error => error,
        }
    }
}

impl Hint for Error {
    fn hint(&self) -> Option<String> {
        Some("`tfoci help mirror-file` shows a mirror file".to_owned())
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
                "line 1, column 10: expected a whole number from 1",
            ),
            (
                table("platform = []"),
                "line 3, column 1: unknown field `platform`",
            ),
            (table("constraints = \"latest\""), "line 3, column 15: "),
            (table("platforms = [\"linux\"]"), "line 3, column 13: "),
            (
                "[[provider]]\naddress = \"acme/demo\"".to_owned(),
                "line 2, column 11: ",
            ),
        ] {
            let error = MirrorFile::parse(&text).unwrap_err();
            assert!(
                error.to_string().starts_with(expected),
                "{text:?} gave {error}"
            );
        }
    }

    proptest! {
        #[test]
        fn never_panics(text in r#"(newest = [0-9-]{1,3}\n|to = \[\]\n|\[\[provider\]\]\n|address = "[a-z./]{0,12}"\n|constraints = "[<>=~0-9. ,]{0,8}"\n|\PC{0,8}){0,6}"#) {
            let _read_or_refused = MirrorFile::parse(&text);
        }
    }
}
