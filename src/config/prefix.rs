//! The registry, or the part of one, that credentials are for.

use std::fmt;

use super::Error;
use crate::oci::Repository;

/// `DOMAIN` or `DOMAIN/PATH`. The path matches whole segments: `example.com/foo` does not match `example.com/foobar`
/// ([clients: credential selection](crate::clients#credential-selection)).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RepositoryPrefix {
    domain: String,
    /// Empty, or `/foo`.
    path: String,
}

impl RepositoryPrefix {
    /// Parses a prefix in the grammar of [repository addresses](crate::clients#repository-addresses), except that the path
    /// is optional.
    ///
    /// # Errors
    /// The grammar forbids the text, for example a scheme, a tag or a capital letter in the path.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let domain = text.split('/').next().unwrap_or_default().to_owned();
        let path = text.strip_prefix(&domain).unwrap_or_default().to_owned();
        let repository = match path.is_empty() {
            true => format!("{domain}/any"),
            false => text.to_owned(),
        };
        match Repository::in_registry(&repository) {
            Ok(_) => Ok(Self { domain, path }),
            Err(_) => Err(Error::Prefix {
                text: text.to_owned(),
            }),
        }
    }

    /// The registry of the prefix, as written.
    pub fn domain(&self) -> &str {
        &self.domain
    }

    /// The number of segments in the path.
    pub fn depth(&self) -> usize {
        self.path.matches('/').count()
    }

    /// Whether a repository is within the prefix. Names are compared byte by byte, as clients do: no case folding, no default port.
    pub fn covers(&self, domain: &str, repository: &str) -> bool {
        let repository = format!("/{repository}/");
        self.domain == domain && repository.starts_with(&format!("{}/", self.path))
    }

    /// The same path in another registry.
    pub fn at(self, domain: &str) -> Self {
        Self {
            domain: domain.to_owned(),
            path: self.path,
        }
    }
}

impl fmt::Display for RepositoryPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.domain, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn prefixes_cover_whole_segments() {
        let prefix = |text: &str| RepositoryPrefix::parse(text).unwrap();
        assert!(prefix("example.com").covers("example.com", "foo/bar"));
        assert!(prefix("example.com/foo").covers("example.com", "foo"));
        assert!(prefix("example.com/foo").covers("example.com", "foo/bar"));
        assert!(!prefix("example.com/foo").covers("example.com", "foobar"));
        assert!(!prefix("example.com/foo").covers("example.com", ""));
        assert!(!prefix("example.com/foo/bar").covers("example.com", "foo"));
        assert!(!prefix("example.com").covers("example.com:443", "foo"));
        assert!(!prefix("example.com").covers("Example.com", "foo"));
    }

    #[test]
    fn the_grammar_is_that_of_repository_addresses() {
        for good in [
            "example.com",
            "localhost:5000",
            "[::1]:5000/a",
            "EXAMPLE.com/a.b/c__d/e---f",
        ] {
            assert!(RepositoryPrefix::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "/",
            "example.com/",
            "example.com//a",
            "https://example.com",
            "example.com/A",
            "example.com/a:1",
            "example.com/a@sha256",
            "example.com/a___b",
            "example.com/a_-b",
            "example.com/-a",
            "user@example.com",
            "exa mple.com",
            "a:b:c",
        ] {
            assert!(RepositoryPrefix::parse(bad).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn what_prints_parses_back(text in "\\PC{0,40}|[a-z]{1,5}(:[0-9]{1,4})?(/[a-z_.-]{1,5}){0,3}") {
            if let Ok(prefix) = RepositoryPrefix::parse(&text) {
                prop_assert_eq!(prefix.to_string(), text);
                prop_assert_eq!(RepositoryPrefix::parse(&prefix.to_string()).unwrap(), prefix);
            }
        }
    }
}
