//! The parser of constraints.

use std::str::FromStr;

use super::{Comparison, Operator, VersionConstraints};
use crate::error::printable;
use crate::version::Version;

impl FromStr for VersionConstraints {
    type Err = Error;

    /// Parses comparisons separated by commas, as leniently as clients: spaces around commas, one space after an operator, and
    /// shortened versions. An empty text is no constraint; in a configuration, clients refuse it.
    ///
    /// Unlike clients, it refuses an operator without a version, which clients read as `0.0.0`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(Self::any());
        }
        let refuse = |part: &str| Error {
            text: part.to_owned(),
        };
        text.split(',')
            .map(str::trim)
            .map(|part| read(part).ok_or_else(|| refuse(part)))
            .collect::<Result<_, _>>()
            .map(|comparisons| Self { comparisons })
    }
}

fn read(part: &str) -> Option<Comparison> {
    let begins_version = |c: char| c.is_alphanumeric() || c.is_whitespace();
    let (symbol, rest) = part.split_at_checked(part.find(begins_version)?)?;
    let text = match rest.strip_prefix(' ') {
        Some(text) if !symbol.is_empty() => text,
        _ => rest,
    };
    let (boundary, numbers) = Version::parse_counted(text).ok()?;
    let operator = match symbol {
        "" | "=" => Operator::Exactly,
        "!=" => Operator::Except,
        ">" => Operator::Newer,
        ">=" => Operator::AtLeast,
        "<" => Operator::Older,
        "<=" => Operator::AtMost,
        "~>" if numbers == 3 => Operator::NewerPatch,
        "~>" => Operator::NewerMinor,
        _ => return None,
    };
    // Clients use exactly `0.0.0` for "no version", and refuse it.
    let is_zero = boundary.cmp_precedence(&Version::new(0, 0, 0)).is_eq();
    (operator != Operator::Exactly || !is_zero).then_some(Comparison { boundary, operator })
}

/// A text that is not a [version constraint](crate::clients#version-constraints).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a version constraint\n  expected comparisons such as `>= 1.2.0, < 2.0.0`, `~> 1.2` or `1.2.0`", printable(.text))]
pub struct Error {
    /// The invalid part between commas.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn spaces_and_commas_are_free_where_clients_let_them() {
        let read: VersionConstraints = ">= 1.0.0, < 2.0.0".parse().unwrap();
        for text in [">=1.0.0,<2.0.0", "  >= 1.0.0 ,\t< 2.0.0\n", "<2.,>=01"] {
            assert_eq!(text.parse(), Ok(read.clone()), "{text:?}");
        }
        assert_eq!("  ".parse(), Ok(VersionConstraints::any()));
    }

    #[test]
    fn the_part_that_is_wrong_is_named() {
        for (text, part) in [
            (",", ""),
            (",1.0", ""),
            ("1.0,,2.0", ""),
            ("1.0, ", ""),
            ("1.0, =>2.0", "=>2.0"),
            ("=< 2.0", "=< 2.0"),
            ("== 2.0", "== 2.0"),
            ("^1.0", "^1.0"),
            ("~1.0", "~1.0"),
            ("-1", "-1"),
            ("§1", "§1"),
            (">=", ">="),
            (">= , 1.0", ">="),
            (">=  1.0", ">=  1.0"),
            (">=\t1.0", ">=\t1.0"),
            (">= 1.0 < 2.0", ">= 1.0 < 2.0"),
            ("1.0 2.0", "1.0 2.0"),
            ("1.0 || 2.0, 3", "1.0 || 2.0"),
            ("1.0 - 2.0", "1.0 - 2.0"),
            ("[1.0,2.0)", "[1.0"),
            ("1.x", "1.x"),
            ("*", "*"),
            ("latest", "latest"),
            (">= v1.0", ">= v1.0"),
            ("~> 1.2.3.4", "~> 1.2.3.4"),
            ("< 18446744073709551616", "< 18446744073709551616"),
            ("0.0.0", "0.0.0"),
            (">= 0, =0+b", "=0+b"),
            ("1.0_2", "1.0_2"),
            ("1..0", "1..0"),
        ] {
            let error = Error {
                text: part.to_owned(),
            };
            assert_eq!(text.parse::<VersionConstraints>(), Err(error), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn never_panics_and_prints_back(
            text in "\\PC{0,16}|[0-9x.,<>=!~^v* +-]{0,16}|((>|>=|<|<=|!=|~>|=|) ?[0-9](\\.[0-9]){0,2}(-[a1.]{1,3})?(\\+[b2.]{1,3})?,){1,4}",
        ) {
            if let Ok(constraints) = text.parse::<VersionConstraints>() {
                prop_assert_eq!(constraints.to_string().parse(), Ok(constraints));
            }
        }
    }
}
