//! The grammar of `REGISTRY/NAME`, a repository in a registry ([clients: repository addresses](crate::clients#repository-addresses)).
//!
//! The first slash separates the two. REGISTRY is a host name or IP address with an optional port. NAME consists of components joined by
//! `/`, each of lower-case letters and digits with single separators between them. A scheme and a tag are invalid.

use crate::address::HostPort;
use crate::error::printable;

/// The longest accepted text in bytes. Registries accept names of at most 255 characters, and a host has at most 253.
pub const LONGEST: usize = 512;

/// A text that is not a repository in a registry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a repository: {kind}", printable(.text))]
pub struct Error {
    /// The invalid text, shortened to [`LONGEST`] characters.
    pub text: String,
    /// Why it is invalid.
    pub kind: RepositoryErrorKind,
}

/// Why a text is not a repository in a registry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum RepositoryErrorKind {
    #[error("it is longer than {LONGEST} bytes")]
    TooLong,
    /// It contains a scheme.
    #[error("it has a scheme, expected REGISTRY/NAME")]
    Scheme,
    /// It contains no slash. Clients accept such a template and fail when they use it.
    #[error("it has no slash, expected REGISTRY/NAME")]
    NoName,
    /// An empty component, often because a shell expanded a symbol.
    #[error("it has an empty component")]
    EmptyComponent,
    /// The part before the first slash is not a host.
    #[error("`{}` is not a host with an optional port", printable(.registry))]
    Registry { registry: String },
    /// A `:` or `@` in the name: a tag, a digest, or the port of a provider's host.
    #[error("only the registry may have a port, and neither tag nor digest is allowed: `{}`", printable(.found))]
    TagOrDigest { found: String },
    /// An upper-case letter, which registries refuse.
    #[error("`{}` has an upper case letter", printable(.component))]
    UpperCase { component: String },
    /// Another character than letters, digits and separators.
    #[error("`{}` has `{}`, expected a-z, 0-9 and single separators . _ __ -", printable(.component), printable(&.found.to_string()))]
    Character { component: String, found: char },
    /// A separator at either end of a component, or two adjacent separators.
    #[error("`{}` has a separator without a letter or digit on both sides", printable(.component))]
    Separator { component: String },
}

/// Checks that a text is a repository in a registry.
pub(super) fn check(text: &str) -> Result<(), Error> {
    error_in(text).map_or(Ok(()), |kind| {
        Err(Error {
            // The text may be very long.
            text: text.chars().take(LONGEST).collect(),
            kind,
        })
    })
}

fn error_in(text: &str) -> Option<RepositoryErrorKind> {
    if text.len() > LONGEST {
        return Some(RepositoryErrorKind::TooLong);
    }
    if text.contains("://") {
        return Some(RepositoryErrorKind::Scheme);
    }
    let Some((registry, name)) = text.split_once('/') else {
        return Some(RepositoryErrorKind::NoName);
    };
    if registry.is_empty() || name.split('/').any(str::is_empty) {
        return Some(RepositoryErrorKind::EmptyComponent);
    }
    if !is_registry(registry) {
        return Some(RepositoryErrorKind::Registry {
            registry: registry.to_owned(),
        });
    }
    if let Some((_, found)) = name
        .find([':', '@'])
        .and_then(|mark| name.split_at_checked(mark))
    {
        return Some(RepositoryErrorKind::TagOrDigest {
            found: found.to_owned(),
        });
    }
    name.split('/').find_map(error_in_component)
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

fn error_in_component(text: &str) -> Option<RepositoryErrorKind> {
    let component = text.to_owned();
    let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    if text.chars().any(char::is_uppercase) {
        return Some(RepositoryErrorKind::UpperCase { component });
    }
    if let Some(found) = text.chars().find(|c| !word(*c) && !"._-".contains(*c)) {
        return Some(RepositoryErrorKind::Character { component, found });
    }
    let between = |separator: &str| {
        matches!(separator, "" | "." | "_" | "__") || separator.chars().all(|c| c == '-')
    };
    let sound = text.starts_with(word) && text.ends_with(word) && text.split(word).all(between);
    (!sound).then_some(RepositoryErrorKind::Separator { component })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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

    /// Invalid texts, each with its error.
    const REFUSED: &str = r#"
https://a/b ==> it has a scheme, expected REGISTRY/NAME
example.com ==> it has no slash, expected REGISTRY/NAME
 ==> it has no slash, expected REGISTRY/NAME
/a ==> it has an empty component
a/ ==> it has an empty component
a//b ==> it has an empty component
a/b/ ==> it has an empty component
a b/c ==> `a b` is not a host with an optional port
a:/c ==> `a:` is not a host with an optional port
a:65536/c ==> `a:65536` is not a host with an optional port
a:+1/c ==> `a:+1` is not a host with an optional port
::1/c ==> `::1` is not a host with an optional port
[::1/c ==> `[::1` is not a host with an optional port
[::1]x/c ==> `[::1]x` is not a host with an optional port
ü.example/c ==> `ü.example` is not a host with an optional port
a/b:1 ==> only the registry may have a port, and neither tag nor digest is allowed: `:1`
a/localhost:9999/b ==> only the registry may have a port, and neither tag nor digest is allowed: `:9999/b`
a/b@sha256:0 ==> only the registry may have a port, and neither tag nor digest is allowed: `@sha256:0`
a/Bc ==> `Bc` has an upper case letter
a/É ==> `É` has an upper case letter
a/é ==> `é` has `é`, expected a-z, 0-9 and single separators . _ __ -
a/b c ==> `b c` has ` `, expected a-z, 0-9 and single separators . _ __ -
a/- ==> `-` has a separator without a letter or digit on both sides
a/b- ==> `b-` has a separator without a letter or digit on both sides
a/.b ==> `.b` has a separator without a letter or digit on both sides
a/b..c ==> `b..c` has a separator without a letter or digit on both sides
a/b___c ==> `b___c` has a separator without a letter or digit on both sides
a/b.-c ==> `b.-c` has a separator without a letter or digit on both sides
"#;

    #[test]
    fn every_refusal_has_its_sentence() {
        let sentence = |text: &str| error_in(text).map(|kind| kind.to_string());
        for row in REFUSED.lines().skip(1) {
            let (text, expected) = row.split_once(" ==> ").unwrap();
            assert_eq!(sentence(text).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(
            error_in(&"a".repeat(LONGEST + 1)),
            Some(RepositoryErrorKind::TooLong)
        );
        assert!(matches!(
            error_in("a/b\n"),
            Some(RepositoryErrorKind::Character { found: '\n', .. })
        ));
    }

    proptest! {
        #[test]
        fn never_panics_and_what_is_sound_stays_so(text in "\\PC{0,20}|[a-zA-Z.:\\[\\]_-]{0,6}/[a-zA-Z0-9:@._/-]{0,12}") {
            if let Ok(()) = check(&text) {
                let (registry, name) = text.split_once('/').unwrap();
                prop_assert!(is_registry(registry));
                prop_assert!(name.split('/').all(|component| error_in_component(component).is_none()));
            }
        }
    }
}
