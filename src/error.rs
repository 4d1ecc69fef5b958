//! What every error of this crate can answer, and how errors are worded.
//!
//! Each module has its own `Error` beside the code that returns it. They share one form, so that the
//! terminal can print any of them without knowing it: the **first line** of an error's `Display` states
//! what is so, in lower case, without a final stop; each **further line** is one aligned, indented fact
//! (`  expected …`, `  received …`). Causes are [`std::error::Error::source`]s and never pasted into the sentence.

use std::fmt;

/// What kind of thing went wrong: enough to choose an exit code and to decide whether to try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Category {
    /// Something that was asked for is not there.
    NotFound,
    /// Credentials are missing or were refused.
    Unauthorized,
    /// Bytes or signatures are not what they should be. Nothing that did not verify is ever used.
    Untrusted,
    /// What is there already forbids what was asked for.
    Conflict,
    /// The request is understood, and cannot be served by this store, build or format.
    Unsupported,
    /// A server could not be reached, or gave up.
    Unreachable,
    /// A document cannot be understood.
    Malformed,
    /// This machine: files, permissions, space.
    Local,
    /// The command line, a trust file or a template asks for something that cannot be meant.
    Usage,
    /// The user asked to stop.
    Interrupted,
}

impl Category {
    /// The word for this category in JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::Unauthorized => "unauthorized",
            Self::Untrusted => "untrusted",
            Self::Conflict => "conflict",
            Self::Unsupported => "unsupported",
            Self::Unreachable => "unreachable",
            Self::Malformed => "malformed",
            Self::Local => "local",
            Self::Usage => "usage",
            Self::Interrupted => "interrupted",
        }
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Text from a stranger, made safe to show: control and bidirectional characters are replaced, and what is
/// longer than 200 characters is cut.
///
/// A version, a file name or a server's message can otherwise move the cursor, hide a warning, or write a line that
/// looks like ours.
pub fn printable(text: &str) -> String {
    const LONGEST: usize = 200;
    let mut out: String = text
        .chars()
        .take(LONGEST)
        .map(|c| if is_deceptive(c) { '\u{fffd}' } else { c })
        .collect();
    if text.chars().nth(LONGEST).is_some() {
        out.push('…');
    }
    out
}

fn is_deceptive(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{061c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strangers_cannot_move_the_cursor_or_turn_the_text() {
        assert_eq!(
            printable("a\x1b[2Kb\n\u{202e}c"),
            "a\u{fffd}[2Kb\u{fffd}\u{fffd}c"
        );
        assert_eq!(printable(&"x".repeat(201)).chars().count(), 201);
        assert_eq!(printable("bücher"), "bücher");
    }
}
