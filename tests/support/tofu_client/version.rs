//! Versions as the client reads them from tags (`tfoci::clients#versions`, `tfoci::clients#tags`).

use std::cmp::Ordering;
use std::fmt;

/// A version; printed in canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    numbers: [u64; 3],
    pre: String,
    meta: String,
}

/// Why a text is not a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAVersion {
    LeadingV,
    TooManyParts,
    Malformed,
    /// Well-formed, but a number needs more than 64 bits, and the client crashes.
    OutOfRange,
}

impl fmt::Display for NotAVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LeadingV => "a \"v\" prefix should not be used",
            Self::TooManyParts => "too many numbered portions",
            Self::Malformed => "not a version",
            Self::OutOfRange => "value out of range",
        })
    }
}

impl Version {
    /// One, two or three numbers, then perhaps `-PRE`, then perhaps `+META`. A dot may end the text, and so may a `-` or `+` with nothing
    /// behind it.
    pub fn parse(text: &str) -> Result<Self, NotAVersion> {
        if text.starts_with('v') {
            return Err(NotAVersion::LeadingV);
        }
        let end = text
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(text.len());
        let (numbers, rest) = text.split_at(end);
        let numbers = match numbers.strip_suffix('.') {
            Some(shorter) if rest.is_empty() => shorter,
            _ => numbers,
        };
        let parts: Vec<&str> = numbers.split('.').collect();
        if parts.iter().any(|part| part.is_empty()) {
            return Err(NotAVersion::Malformed);
        }
        if parts.len() > 3 {
            return Err(NotAVersion::TooManyParts);
        }
        let (pre, meta) = parse_extras(rest)?;
        let mut version = Self {
            numbers: [0; 3],
            pre: pre.to_owned(),
            meta: meta.to_owned(),
        };
        for (number, part) in version.numbers.iter_mut().zip(parts) {
            *number = part.parse().map_err(|_| NotAVersion::OutOfRange)?;
        }
        Ok(version)
    }

    /// The precedence of semantic versioning: build metadata does not count.
    pub fn precedence(&self, other: &Self) -> Ordering {
        self.numbers.cmp(&other.numbers).then_with(|| {
            match (self.pre.is_empty(), other.pre.is_empty()) {
                (true, true) => Ordering::Equal,
                (true, false) => Ordering::Greater,
                (false, true) => Ordering::Less,
                (false, false) => compare_identifiers(&self.pre, &other.pre),
            }
        })
    }
}

fn parse_extras(text: &str) -> Result<(&str, &str), NotAVersion> {
    let (pre, meta) = match (text.strip_prefix('-'), text.strip_prefix('+')) {
        (Some(pre), _) => match pre.split_once('+') {
            Some(("", _)) => return Err(NotAVersion::Malformed),
            Some((pre, meta)) => (pre, meta),
            None => (pre, ""),
        },
        (None, Some(meta)) => ("", meta),
        (None, None) if text.is_empty() => ("", ""),
        (None, None) => return Err(NotAVersion::Malformed),
    };
    let sound = |extra: &str| {
        extra
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'.' || b == b'-')
    };
    if sound(pre) && sound(meta) {
        Ok((pre, meta))
    } else {
        Err(NotAVersion::Malformed)
    }
}

fn compare_identifiers(left: &str, right: &str) -> Ordering {
    let number = |part: &str| part.parse::<u64>().ok();
    for (left, right) in left.split('.').zip(right.split('.')) {
        let order = match (number(left), number(right)) {
            (Some(left), Some(right)) => left.cmp(&right),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => left.cmp(right),
        };
        if order.is_ne() {
            return order;
        }
    }
    left.split('.').count().cmp(&right.split('.').count())
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.numbers;
        write!(f, "{major}.{minor}.{patch}")?;
        if !self.pre.is_empty() {
            write!(f, "-{}", self.pre)?;
        }
        if !self.meta.is_empty() {
            write!(f, "+{}", self.meta)?;
        }
        Ok(())
    }
}

/// Each line was checked with the client's own parser.
#[test]
fn versions_are_read_as_the_client_reads_them() {
    for (text, canonical) in [
        ("1", "1.0.0"),
        ("1.2", "1.2.0"),
        ("01.2", "1.2.0"),
        ("2.", "2.0.0"),
        ("2.0.0.", "2.0.0"),
        ("1.0-", "1.0.0"),
        ("2+", "2.0.0"),
        ("2-rc1", "2.0.0-rc1"),
        ("1-2+3", "1.0.0-2+3"),
        ("2.0.0+-", "2.0.0+-"),
        ("2.0.0-..", "2.0.0-.."),
        ("2.0.0-rc.01", "2.0.0-rc.01"),
        ("1.0.0-X", "1.0.0-X"),
        ("18446744073709551615", "18446744073709551615.0.0"),
        ("1.0.0-18446744073709551616", "1.0.0-18446744073709551616"),
    ] {
        assert_eq!(
            Version::parse(text).map(|v| v.to_string()).as_deref(),
            Ok(canonical)
        );
    }
    for (text, why) in [
        ("", NotAVersion::Malformed),
        ("2..0", NotAVersion::Malformed),
        (".1", NotAVersion::Malformed),
        ("-1", NotAVersion::Malformed),
        ("2.-rc1", NotAVersion::Malformed),
        ("2.0.0-+a", NotAVersion::Malformed),
        ("2.0.0-rc+1+2", NotAVersion::Malformed),
        ("2.0.0-é", NotAVersion::Malformed),
        ("1.0.0rc1", NotAVersion::Malformed),
        ("1.x", NotAVersion::Malformed),
        (" 1.0.0", NotAVersion::Malformed),
        ("1.0.0 ", NotAVersion::Malformed),
        ("latest", NotAVersion::Malformed),
        ("99999999999999999999x", NotAVersion::Malformed),
        ("v18446744073709551616", NotAVersion::LeadingV),
        ("1.0.0.18446744073709551616", NotAVersion::TooManyParts),
        ("18446744073709551616-rc", NotAVersion::OutOfRange),
    ] {
        assert_eq!(Version::parse(text), Err(why), "{text:?}");
    }
}
