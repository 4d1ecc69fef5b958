//! The tokens of clients.
//!
//! A file has one token on each line: a name, the SHA-256 of the token, and optionally patterns of the providers that the token is for.
//!
//! ```text
//! ci    sha256:5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8
//! team  sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08  registry.acme.test/platform/*
//! ```

use subtle::ConstantTimeEq as _;

use crate::address::{ProviderAddr, ProviderPattern, pattern};
use crate::digest::{Algorithm, Digest, Hasher};
use crate::text;

/// The most tokens of a file. The token of a request is compared with all of them, which takes about a millisecond for this many.
const MOST: usize = 10_000;
/// The longest token that is hashed, in bytes. It bounds the work for a request.
const LONGEST: usize = 4 << 10;

/// The tokens that a server accepts, from one file.
#[derive(Debug, Default)]
pub struct ClientTokens(Vec<ClientToken>);

/// A token, of which only the hash is known.
#[derive(Debug)]
pub struct ClientToken {
    /// The name of the client, for the log.
    pub name: String,
    digest: Digest,
    /// The providers that the token is for; empty for all.
    patterns: Vec<ProviderPattern>,
}

/// An invalid file of tokens.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Error {
    /// A line has no name or no hash.
    #[error(
        "line {line} is not a token\n  expected NAME sha256:HEX, and patterns of providers if it is only for these"
    )]
    Line { line: usize },
    /// A word after the hash is not a pattern of providers.
    #[error("line {line} has an invalid pattern")]
    Pattern { line: usize, source: pattern::Error },
    /// The file is not UTF-8.
    #[error(transparent)]
    Text(text::Error),
    /// The file has no token.
    #[error(
        "it has no token, so no client would be authorized\n  expected NAME sha256:HEX on a line"
    )]
    Empty,
    /// The file has more tokens than the limit.
    #[error("there are more than {MOST} tokens")]
    TooMany,
}

impl ClientTokens {
    /// Reads a file of tokens. Blank lines and lines that begin with `#` are skipped.
    ///
    /// # Errors
    /// A line is not a token.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut tokens = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line_number = number + 1;
            let mut words = line.split_whitespace();
            let Some(name) = words.next().filter(|name| !name.starts_with('#')) else {
                continue;
            };
            let digest = words.next().and_then(|text| text.parse::<Digest>().ok());
            let digest = digest.filter(|digest| digest.algorithm() == Algorithm::Sha256);
            let digest = digest.ok_or(Error::Line { line: line_number })?;
            let pattern = |text: &str| {
                let pattern: Result<ProviderPattern, _> = text.parse();
                pattern.map_err(|source| Error::Pattern {
                    line: line_number,
                    source,
                })
            };
            tokens.push(ClientToken {
                name: crate::error::printable(name),
                digest,
                patterns: words.map(pattern).collect::<Result<_, _>>()?,
            });
            if tokens.len() > MOST {
                return Err(Error::TooMany);
            }
        }
        Ok(Self(tokens))
    }

    /// Whether there is no token, so that no request is authorized.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Finds the token of an `Authorization` header. Every token is compared, in constant time.
    pub(super) fn find(&self, header: &str) -> Option<&ClientToken> {
        let secret = secret(header).filter(|secret| secret.len() <= LONGEST)?;
        let mut hasher = Hasher::new(Algorithm::Sha256);
        hasher.update(secret.as_bytes());
        let given = hasher.finish();
        let mut found = None;
        for token in &self.0 {
            let is_same = token.digest.hex().as_bytes().ct_eq(given.hex().as_bytes());
            if bool::from(is_same) {
                found = found.or(Some(token));
            }
        }
        found
    }
}

/// Whether an `Authorization` header has a token, known or not.
pub(super) fn is_bearer(header: &str) -> bool {
    secret(header).is_some_and(|secret| !secret.is_empty())
}

/// The token of an `Authorization` header.
fn secret(header: &str) -> Option<&str> {
    let (scheme, secret) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim())
}

impl ClientToken {
    /// A token without patterns is for every provider.
    pub(super) fn is_for(&self, provider: &ProviderAddr) -> bool {
        let mut patterns = self.patterns.iter();
        self.patterns.is_empty() || patterns.any(|pattern| pattern.matches(provider))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_for_the_providers_of_its_line() {
        let hex = Digest::of(b"secret").hex().to_owned();
        let text = format!("# people\n\nci sha256:{hex}  registry.acme.test/acme/*\n");
        let tokens = ClientTokens::parse(&text).unwrap();
        let token = tokens.find("Bearer secret").unwrap();
        assert_eq!(token.name, "ci");
        assert!(token.is_for(&"registry.acme.test/acme/demo".parse().unwrap()));
        assert!(!token.is_for(&"registry.acme.test/other/demo".parse().unwrap()));
        assert!(tokens.find("bearer secret").is_some());
        // The hash of a token is not a token.
        for other in [
            "Bearer other",
            "Basic secret",
            "secret",
            "",
            &format!("Bearer {hex}"),
            &format!("Bearer sha256:{hex}"),
        ] {
            assert!(tokens.find(other).is_none(), "{other}");
        }
    }

    #[test]
    fn a_wrong_line_is_named() {
        for text in [
            "x\nci",
            "x\nci secret",
            "x\nci sha512:00",
            "x\nci sha256:00",
        ] {
            let text = text.replacen('x', "# comment", 1);
            assert_eq!(
                ClientTokens::parse(&text).err(),
                Some(Error::Line { line: 2 }),
                "{text}"
            );
        }
        let text = format!("ci sha256:{} a/b/c/d", Digest::of(b"").hex());
        assert!(matches!(
            ClientTokens::parse(&text),
            Err(Error::Pattern { line: 1, .. })
        ));
    }
}
