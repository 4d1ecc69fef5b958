//! Names in a store: repositories and tags, and the conversion between versions and tags.
//!
//! One repository contains one provider, and one tag refers to one version. A tag is the canonical version with `_` in place of `+`, which
//! OCI tags cannot contain; versions never contain `_`, so the conversion is reversible ([clients: tags](crate::clients#tags)). The tag of
//! evidence is `evidence-VERSION`, which clients do not parse as a version.

use std::fmt;

use super::repository_name;
use crate::address::{self, ProviderAddr};
use crate::version::{self, Version};

/// The longest tag that the OCI distribution specification allows, in characters.
const LONGEST_TAG: usize = 128;
const EVIDENCE: &str = "evidence-";

/// The name of a repository in its store: in a layout the directory below its root, in a registry `REGISTRY/NAME`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Repository(String);

impl Repository {
    /// The repository of a store that has only one.
    pub fn root() -> Self {
        Self(String::new())
    }

    /// `HOSTNAME/NAMESPACE/TYPE`, the directory of a provider in a layout. The host is in punycode, with `_` before its port.
    ///
    /// # Errors
    /// OCI does not allow the name, so the provider could not be copied to a registry.
    pub fn of_provider(provider: &ProviderAddr) -> Result<Self, address::Error> {
        provider.oci_safe()?;
        let host = provider.hostname().to_path_segment();
        Ok(Self(format!(
            "{host}/{}/{}",
            provider.namespace(),
            provider.type_name()
        )))
    }

    /// `REGISTRY/NAME`, a repository in a registry.
    ///
    /// # Errors
    /// The text does not match the grammar of [repository addresses](crate::clients#repository-addresses).
    pub fn in_registry(text: &str) -> Result<Self, repository_name::Error> {
        repository_name::check(text).map(|()| Self(text.to_owned()))
    }

    /// A registry as a whole, which has no name of a repository.
    pub(crate) fn of_registry(host: &str) -> Self {
        Self(host.to_owned())
    }

    /// The directory of a provider, below the root of a layout; `None` if the path is not that of a provider.
    pub fn of_directory(relative: &str) -> Option<Self> {
        let repository = Self(relative.to_owned());
        repository.provider().map(|_| repository)
    }

    /// The provider whose directory in a layout this is; `None` for other repositories.
    pub fn provider(&self) -> Option<ProviderAddr> {
        let (host, rest) = self.host_and_name();
        let (namespace, type_name) = rest.split_once('/')?;
        let host = address::Hostname::from_path_segment(host).ok()?;
        let provider: ProviderAddr = format!("{}/{namespace}/{type_name}", host.to_unicode())
            .parse()
            .ok()?;
        (Self::of_provider(&provider).as_ref() == Ok(self)).then_some(provider)
    }

    /// The host and the rest of the name, which is empty for a registry as a whole. Both are empty for the root.
    pub fn host_and_name(&self) -> (&str, &str) {
        self.0.split_once('/').unwrap_or((&self.0, ""))
    }

    /// The name as text; empty for the root.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A tag in the grammar of the OCI distribution specification: a letter, digit or `_`, followed by up to 127 of these, `.` and `-`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tag(pub(super) String);

impl Tag {
    /// Parses a tag.
    ///
    /// # Errors
    /// The text does not match the grammar.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let sound = text.starts_with(word)
            && text.len() <= LONGEST_TAG
            && text.chars().all(|c| word(c) || c == '.' || c == '-');
        if sound {
            Ok(Self(text.to_owned()))
        } else {
            Err(Error::Tag {
                text: text.to_owned(),
            })
        }
    }

    /// The tag of a version, as clients request it.
    ///
    /// # Errors
    /// The version is longer than 119 characters, so that its evidence could not be tagged.
    pub fn of_version(version: &Version) -> Result<Self, Error> {
        let text = version.to_string().replace('+', "_");
        if text.len() > LONGEST_TAG - EVIDENCE.len() {
            return Err(Error::LongVersion {
                version: version.clone(),
                longest: LONGEST_TAG - EVIDENCE.len(),
            });
        }
        Self::parse(&text)
    }

    /// The tag of a version's evidence.
    ///
    /// # Errors
    /// The errors of [`Tag::of_version`].
    pub fn of_evidence(version: &Version) -> Result<Self, Error> {
        Ok(Self(format!("{EVIDENCE}{}", Self::of_version(version)?)))
    }

    /// Whether it begins with `evidence-`, so that clients take it for no version.
    pub fn is_evidence(&self) -> bool {
        self.0.starts_with(EVIDENCE)
    }

    /// The tag as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The version that a client parses from a tag and can fetch. Stores list all tags, and a layout may list names that are not tags.
///
/// # Errors
/// The reason why clients ignore the name, or fail on it.
pub fn version_of(name: &str) -> Result<Version, Ignored> {
    if name.starts_with(EVIDENCE) {
        return Err(Ignored::Evidence);
    }
    let version: Version = match name.replace('_', "+").parse() {
        Ok(version) => version,
        Err(error) if version::Error::is_too_large(&error) => return Err(Ignored::NumberTooLarge),
        Err(_) => return Err(Ignored::NotAVersion),
    };
    match Tag::of_version(&version) {
        Ok(tag) if tag.as_str() == name => Ok(version),
        Ok(canonical) => Err(Ignored::NotCanonical { version, canonical }),
        Err(Error::LongVersion { longest, .. }) => Err(Ignored::TooLong { longest }),
        Err(_) => Err(Ignored::NotAVersion),
    }
}

/// Why clients cannot install the version of a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ignored {
    /// The tag is not a version. Clients ignore it.
    NotAVersion,
    /// The tag is that of evidence. Clients ignore it.
    Evidence,
    /// Clients list this version, but then request its canonical tag.
    NotCanonical {
        /// The version that clients list.
        version: Version,
        /// The tag that they then request.
        canonical: Tag,
    },
    /// A number exceeds 64 bits. Clients crash on it.
    NumberTooLarge,
    /// Clients list the version, but the tag of its evidence would be too long.
    TooLong {
        /// The longest version in characters.
        longest: usize,
    },
}

impl fmt::Display for Ignored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAVersion => f.write_str("not a version"),
            Self::Evidence => f.write_str("evidence"),
            Self::NotCanonical { version, .. } => {
                write!(
                    f,
                    "not canonical: clients list it as {version} and then look for the tag of that name"
                )
            }
            Self::NumberTooLarge => f.write_str("a number beyond 64 bits: clients crash on it"),
            Self::TooLong { longest } => write!(
                f,
                "longer than the {longest} characters that leave room for its evidence"
            ),
        }
    }
}

/// A name that a store cannot contain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Error {
    /// The text does not match the grammar of tags.
    #[error("`{}` is not a tag: expected up to 128 letters, digits, `_`, `.` and `-`, the first no `.` or `-`", crate::error::printable(.text))]
    Tag { text: String },
    /// The tag of its evidence, `evidence-` and the version, would be too long.
    #[error("the version is too long to be a tag\n  expected at most {longest} characters\n  received {}", .version.to_string().len())]
    LongVersion { version: Version, longest: usize },
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn seen(name: &str) -> Result<String, Ignored> {
        version_of(name).map(|version| version.to_string())
    }

    #[test]
    fn tags_that_clients_take_for_versions() {
        assert_eq!(seen("1.0.2_foo.1"), Ok("1.0.2+foo.1".to_owned()));
        for tag in [
            "latest",
            "v1.0.0",
            "1.0.0.0",
            "1.x",
            "sha256-abc.sig",
            "linux_amd64",
        ] {
            assert_eq!(seen(tag), Err(Ignored::NotAVersion), "{tag}");
        }
        for tag in [
            "1.2",
            "20260101",
            "01.0.0",
            "02",
            "2026.01.02",
            "2.0.0-",
            "2.0.0_",
            "2.",
            "1.0.0+foo",
        ] {
            assert!(
                matches!(seen(tag), Err(Ignored::NotCanonical { .. })),
                "{tag}: {:?}",
                seen(tag)
            );
        }
        assert_eq!(
            version_of("1234567890123456789012345"),
            Err(Ignored::NumberTooLarge)
        );
        assert_eq!(seen("evidence-1.0.0"), Err(Ignored::Evidence));
        assert_eq!(seen("\u{202e}1.0.0\n"), Err(Ignored::NotAVersion));
        let long = format!("1.0.0-{}", "a".repeat(114));
        assert_eq!(seen(&long), Err(Ignored::TooLong { longest: 119 }));
    }

    #[test]
    fn versions_too_long_for_a_tag_are_refused() {
        let version = |length: usize| {
            format!("1.0.0-{}", "a".repeat(length - 6))
                .parse::<Version>()
                .unwrap()
        };
        assert_eq!(Tag::of_evidence(&version(119)).unwrap().as_str().len(), 128);
        assert!(matches!(
            Tag::of_version(&version(120)),
            Err(Error::LongVersion { .. })
        ));
    }

    #[test]
    fn a_layout_directory_names_its_provider() {
        let provider: ProviderAddr = "bücher.example:8443/acme/demo".parse().unwrap();
        let repository = Repository::of_provider(&provider).unwrap();
        assert_eq!(repository.as_str(), "xn--bcher-kva.example_8443/acme/demo");
        assert_eq!(repository.provider(), Some(provider));
        assert_eq!(Repository::root().provider(), None);
    }

    proptest! {
        #[test]
        fn tags_never_panic_and_versions_come_back(text in "[0-9a-zA-Z_.-]{0,20}") {
            if let Ok(tag) = Tag::parse(&text) {
                prop_assert_eq!(tag.as_str(), &text);
                if let Ok(version) = version_of(&text) {
                    prop_assert_eq!(Tag::of_version(&version), Ok(tag));
                }
            }
        }
    }
}
