//! Names in a store: repositories and tags, and the conversion between versions and tags.
//!
//! One repository contains one provider, and one tag refers to one version. A tag is the canonical version with `_` in place of `+`, which
//! OCI tags cannot contain; versions never contain `_`, so the conversion is reversible ([clients: tags](crate::clients#tags)). The tag of
//! evidence is `evidence-VERSION`, which clients do not parse as a version.

use std::fmt;

use crate::address::{self, HostPort, ProviderAddr};
use crate::error::printable;
use crate::version::{self, Version};

/// The longest tag that the OCI distribution specification allows, in characters.
const LONGEST_TAG: usize = 128;
const EVIDENCE: &str = "evidence-";
/// The longest version whose evidence has a tag, in characters.
const LONGEST_VERSION: usize = LONGEST_TAG - EVIDENCE.len();

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

    /// `REGISTRY/NAME`, a repository in a registry. The first slash separates the two. REGISTRY is a host name or IP address with an optional port.
    /// NAME consists of components joined by `/`, each of lower-case letters and digits with single separators between them. A scheme and a tag are
    /// invalid.
    ///
    /// # Errors
    /// The text does not match the grammar of [repository addresses](crate::clients#repository-addresses).
    pub fn in_registry(text: &str) -> Result<Self, RepositoryError> {
        match error_in(text) {
            None => Ok(Self(text.to_owned())),
            Some(kind) => Err(RepositoryError {
                // The text may be very long.
                text: text.chars().take(LONGEST).collect(),
                kind,
            }),
        }
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
        if text.len() > LONGEST_VERSION {
            return Err(Error::LongVersion(version.clone()));
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
        Err(Error::LongVersion(_)) => Err(Ignored::TooLong),
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
    TooLong,
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
            Self::TooLong => write!(
                f,
                "longer than the {LONGEST_VERSION} characters that leave room for its evidence"
            ),
        }
    }
}

/// A name that a store cannot contain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Error {
    /// The text does not match the grammar of tags.
    #[error("`{}` is not a tag: expected up to 128 letters, digits, `_`, `.` and `-`, the first no `.` or `-`", printable(.text))]
    Tag { text: String },
    /// The tag of its evidence, `evidence-` and the version, would be too long.
    #[error("the version is too long to be a tag\n  expected at most {LONGEST_VERSION} characters\n  received {}", .0.to_string().len())]
    LongVersion(Version),
}

/// The longest accepted text in bytes. Registries accept names of at most 255 characters, and a host has at most 253.
pub const LONGEST: usize = 512;

/// A text that is not a repository in a registry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a repository: {kind}", printable(.text))]
pub struct RepositoryError {
    /// The invalid text, shortened to [`LONGEST`] characters.
    pub text: String,
    /// Why it is invalid.
    pub kind: RepositoryErrorKind,
}

/// Why a text is not a repository in a registry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RepositoryErrorKind {
    /// It is too long, or has a scheme, or no slash. Clients accept such a template and fail when they use it.
    #[error("expected REGISTRY/NAME")]
    Form,
    /// The part before the first slash is not a host.
    #[error("`{}` is not a host with an optional port", printable(.0))]
    Registry(String),
    /// An invalid component of the name, which may have the port of a provider's host, a tag or a digest. Registries refuse upper-case letters. It is
    /// empty where a shell expanded a symbol.
    #[error("`{}` is no part of a name, expected a-z, 0-9 and single separators . _ __ -", printable(.0))]
    Component(String),
}

/// Why a text is no repository in a registry; `None` if it is one.
fn error_in(text: &str) -> Option<RepositoryErrorKind> {
    let parts = text.split_once('/');
    let Some((registry, name)) = parts.filter(|_| text.len() <= LONGEST && !text.contains("://"))
    else {
        return Some(RepositoryErrorKind::Form);
    };
    if !is_registry(registry) {
        return Some(RepositoryErrorKind::Registry(registry.to_owned()));
    }
    let component = name.split('/').find(|component| !is_component(component))?;
    Some(RepositoryErrorKind::Component(component.to_owned()))
}

/// Whether the text is a registry. Stricter than the host of a URL: this refuses names that no registry has (`a..b`, `a:`, non-ASCII
/// letters, `$`), although clients would accept them.
fn is_registry(text: &str) -> bool {
    let Some(registry) = HostPort::parse(text) else {
        return false;
    };
    let is_name = |host: &str| {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        host.starts_with(|c: char| c.is_ascii_alphanumeric())
            && !host.contains("..")
            && host.chars().all(is_allowed)
    };
    registry.ipv6().is_some() || is_name(registry.host)
}

fn is_component(text: &str) -> bool {
    let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let between = |separator: &str| {
        matches!(separator, "" | "." | "_" | "__") || separator.chars().all(|c| c == '-')
    };
    text.starts_with(word) && text.ends_with(word) && text.split(word).all(between)
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
        assert_eq!(seen(&long), Err(Ignored::TooLong));
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
            Err(Error::LongVersion(_))
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

    /// The expected results come from the clients' own parser.
    #[test]
    fn what_clients_accept() {
        for text in [
            "a/b",
            "example.com/a/b/c",
            "localhost:5000/x",
            "127.0.0.1/x",
            "127.0.0.1:5000/x",
            "[::1]/x",
            "[::1]:5000/x/y",
            "EXAMPLE.com/x",
            "my_registry:5000/x",
            "docker.io/a/b",
            "example.com/a.b_c__d-e--f---g/0",
        ] {
            assert_eq!(error_in(text), None, "{text}");
        }
    }

    #[test]
    fn what_clients_and_registries_refuse() {
        for text in [
            "https://a/b",
            "example.com",
            "",
            "/a",
            "a/",
            "a//b",
            "a/b/",
            "a b/c",
            "a:/c",
            "a:65536/c",
            "a:+1/c",
            "::1/c",
            "[::1/c",
            "[::1]x/c",
            "ü.example/c",
            "a/b:1",
            "a/localhost:9999/b",
            "a/b@sha256:0",
            "a/Bc",
            "a/é",
            "a/b c",
            "a/-",
            "a/b-",
            "a/.b",
            "a/b..c",
            "a/b___c",
            "a/b.-c",
            "a/b\n",
            &"a".repeat(LONGEST + 1),
        ] {
            assert!(error_in(text).is_some(), "{text}");
        }
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

        #[test]
        fn never_panics_and_what_is_sound_stays_so(text in "\\PC{0,20}|[a-zA-Z.:\\[\\]_-]{0,6}/[a-zA-Z0-9:@._/-]{0,12}") {
            if Repository::in_registry(&text).is_ok() {
                let (registry, name) = text.split_once('/').unwrap();
                prop_assert!(is_registry(registry));
                prop_assert!(name.split('/').all(is_component));
            }
        }
    }
}
