//! The parser of constraints. It recognizes syntax of other ecosystems and explains it.

use std::str::FromStr;

use super::{Comparison, Operator, VersionConstraints};
use crate::error::printable;
use crate::version::{Version, VersionErrorKind};

impl FromStr for VersionConstraints {
    type Err = Error;

    /// Parses comparisons separated by commas, as leniently as clients: spaces around commas, one space after an operator, and
    /// shortened versions. An empty text is no constraint; in a configuration, clients refuse it.
    ///
    /// Unlike clients, it refuses an operator without a version, which clients read as `0.0.0`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        let refuse = |part: &str, mistake| Error {
            text: part.to_owned(),
            mistake,
        };
        // These forms may contain commas, so look for them before splitting the text.
        if text.contains("||") || text.starts_with(['[', '(']) {
            return Err(refuse(text, ConstraintError::Range));
        }
        if text.is_empty() {
            return Ok(Self::any());
        }
        text.split(',')
            .map(str::trim)
            .map(|part| read(part).map_err(|mistake| refuse(part, mistake)))
            .collect::<Result<_, _>>()
            .map(|comparisons| Self {
                comparisons,
                written: Some(text.to_owned()),
            })
    }
}

fn read(part: &str) -> Result<Comparison, ConstraintError> {
    if part.is_empty() {
        return Err(ConstraintError::Range);
    }
    let begins_version = |c: char| c.is_alphanumeric() || c.is_whitespace() || ".*".contains(c);
    let (symbol, rest) = part
        .find(begins_version)
        .and_then(|at| part.split_at_checked(at))
        .unwrap_or((part, ""));
    let text = match rest.strip_prefix(' ') {
        Some(text) if !symbol.is_empty() => text,
        _ => rest,
    };
    let operator = OperatorSymbol::read(symbol)?;
    let (boundary, numbers) =
        Version::parse_counted(text).map_err(|error| ConstraintError::of(text, error.kind))?;
    let operator = match operator {
        OperatorSymbol::Fixed(operator) => operator,
        OperatorSymbol::Pessimistic if numbers == 3 => Operator::NewerPatch,
        OperatorSymbol::Pessimistic => Operator::NewerMinor,
    };
    let is_zero = boundary.cmp_precedence(&Version::new(0, 0, 0)).is_eq();
    if operator == Operator::Exactly && is_zero {
        return Err(ConstraintError::Unspecified);
    }
    Ok(Comparison { boundary, operator })
}

/// The operator symbol before a version. The meaning of `~>` depends on the version.
enum OperatorSymbol {
    Fixed(Operator),
    Pessimistic,
}

impl OperatorSymbol {
    fn read(symbol: &str) -> Result<Self, ConstraintError> {
        Ok(Self::Fixed(match symbol {
            "" | "=" => Operator::Exactly,
            "!=" => Operator::Except,
            ">" => Operator::Newer,
            ">=" => Operator::AtLeast,
            "<" => Operator::Older,
            "<=" => Operator::AtMost,
            "~>" => return Ok(Self::Pessimistic),
            _ => return Err(ConstraintError::Operator),
        }))
    }
}

/// A text that is not a version constraint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a version constraint: {mistake}", printable(.text))]
pub struct Error {
    /// The invalid part between commas, or the whole text.
    pub text: String,
    /// Why it is invalid.
    pub mistake: ConstraintError,
}

/// Why a text is not a [version constraint](crate::clients#version-constraints).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum ConstraintError {
    /// An operator of another language, such as `^` and `=>`.
    #[error(
        "its operator is unknown\n  expected `=`, `!=`, `>`, `>=`, `<`, `<=`, or `~> 1.2` for at least 1.2 and below 2.0"
    )]
    Operator,
    /// A range of another language, such as `1.0 || 2.0`, `1.0 - 2.0` and `[1.0,2.0)`, or a comma too many or too few.
    #[error("its comparisons are not separated by commas\n  expected `>= 1.2.0, < 2.0.0`")]
    Range,
    /// `x`, `X` or `*` for a number, or the word `latest`.
    #[error(
        "it has a wildcard\n  expected `~> 1.2.0` for any 1.2, `~> 1.0` for any 1, or no constraint"
    )]
    Wildcard,
    /// What follows the operator is not a version.
    #[error("its version is wrong: {0}")]
    Version(VersionErrorKind),
    /// Exactly `0.0.0`, which clients use for "no version" and refuse.
    #[error("0.0.0 stands for no version and cannot be installed")]
    Unspecified,
    /// Anything else, such as an operator alone. Clients read its version as `0.0.0`, which is never intended.
    #[error(
        "its form is unknown\n  expected an operator, one space at most, and a version, such as `>= 1.2.0`"
    )]
    Malformed,
}

impl ConstraintError {
    /// Explains why the text after the operator is not a version.
    fn of(text: &str, mistake: VersionErrorKind) -> Self {
        let is_odd = |c: char| c.is_whitespace() || "=!<>~^".contains(c);
        match mistake {
            _ if text.is_empty() || text.starts_with(char::is_whitespace) => Self::Malformed,
            _ if text.contains(is_odd) => Self::Range,
            VersionErrorKind::Malformed if text.eq_ignore_ascii_case("latest") => Self::Wildcard,
            VersionErrorKind::Malformed => Self::Malformed,
            VersionErrorKind::Wildcard => Self::Wildcard,
            mistake => Self::Version(mistake),
        }
    }
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
    fn each_mistake_is_named() {
        for (text, part, mistake) in [
            (",", "", ConstraintError::Range),
            (",1.0", "", ConstraintError::Range),
            ("1.0,,2.0", "", ConstraintError::Range),
            ("1.0, ", "", ConstraintError::Range),
            ("1.0, =>2.0", "=>2.0", ConstraintError::Operator),
            ("=< 2.0", "=< 2.0", ConstraintError::Operator),
            ("== 2.0", "== 2.0", ConstraintError::Operator),
            ("<> 2.0", "<> 2.0", ConstraintError::Operator),
            ("^1.0", "^1.0", ConstraintError::Operator),
            ("~1.0", "~1.0", ConstraintError::Operator),
            ("~=1.0", "~=1.0", ConstraintError::Operator),
            ("-1", "-1", ConstraintError::Operator),
            ("§1", "§1", ConstraintError::Operator),
            (">~ 1", ">~ 1", ConstraintError::Operator),
            (">=", ">=", ConstraintError::Malformed),
            (">= , 1.0", ">=", ConstraintError::Malformed),
            (">=  1.0", ">=  1.0", ConstraintError::Malformed),
            (">=\t1.0", ">=\t1.0", ConstraintError::Malformed),
            (">= 1.0 < 2.0", ">= 1.0 < 2.0", ConstraintError::Range),
            (">=1.0<2.0", ">=1.0<2.0", ConstraintError::Range),
            ("1.0 2.0", "1.0 2.0", ConstraintError::Range),
            ("1.0 || 2.0, 3", "1.0 || 2.0, 3", ConstraintError::Range),
            ("1.0 - 2.0", "1.0 - 2.0", ConstraintError::Range),
            ("[1.0,2.0)", "[1.0,2.0)", ConstraintError::Range),
            ("1.x", "1.x", ConstraintError::Wildcard),
            ("~> 1.*", "~> 1.*", ConstraintError::Wildcard),
            ("*", "*", ConstraintError::Wildcard),
            ("latest", "latest", ConstraintError::Wildcard),
            (
                "v1.0",
                "v1.0",
                ConstraintError::Version(VersionErrorKind::LeadingV),
            ),
            (
                ">= v1.0",
                ">= v1.0",
                ConstraintError::Version(VersionErrorKind::LeadingV),
            ),
            (
                "~> 1.2.3.4",
                "~> 1.2.3.4",
                ConstraintError::Version(VersionErrorKind::TooManyNumbers),
            ),
            (
                "< 18446744073709551616",
                "< 18446744073709551616",
                ConstraintError::Version(VersionErrorKind::NumberTooLarge),
            ),
            ("0.0.0", "0.0.0", ConstraintError::Unspecified),
            (">= 0, =0+b", "=0+b", ConstraintError::Unspecified),
            ("newest", "newest", ConstraintError::Malformed),
            ("1.0_2", "1.0_2", ConstraintError::Malformed),
            ("1..0", "1..0", ConstraintError::Malformed),
        ] {
            let error = Error {
                text: part.to_owned(),
                mistake,
            };
            assert_eq!(text.parse::<VersionConstraints>(), Err(error), "{text:?}");
        }
    }

    #[test]
    fn errors_say_what_to_write() {
        let message = |text: &str| text.parse::<VersionConstraints>().unwrap_err().to_string();
        assert_eq!(
            message(">= 1.0, ^1.2"),
            "`^1.2` is not a version constraint: its operator is unknown\n  expected `=`, `!=`, `>`, `>=`, `<`, `<=`, or `~> 1.2` for at least 1.2 and below 2.0"
        );
        assert_eq!(
            message("< v2"),
            "`< v2` is not a version constraint: its version is wrong: it begins with `v`\n  expected it without the `v`"
        );
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
