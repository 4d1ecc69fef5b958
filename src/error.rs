//! Categories of errors, and the form of error messages.
//!
//! Each module has its own `Error` type. All have the same form, so that the terminal can print any of them. The **first line** of the
//! `Display` text states the problem, in lower case, without a full stop. Each **further line** is an indented fact (`  expected …`, `
//! received …`). Causes are the [`std::error::Error::source`] and not part of the text.

use std::error::Error;
use std::fmt;
use std::path::Path;

/// The category of an error. It decides the exit code and whether to retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Category {
    /// A requested object does not exist.
    NotFound,
    /// Credentials are missing or were refused.
    Unauthorized,
    /// Bytes or signatures failed verification. They are never used.
    Untrusted,
    /// Existing data conflicts with the request.
    Conflict,
    /// The store, the build or the format does not support the request.
    Unsupported,
    /// A server cannot be reached or failed.
    Unreachable,
    /// A document is invalid.
    Malformed,
    /// An error of this machine: files, permissions, disk space.
    Local,
    /// The command line, a trust file or a template is invalid.
    Usage,
    /// What was compared differs.
    Differs,
    /// The user interrupted the run.
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
            Self::Differs => "differs",
            Self::Interrupted => "interrupted",
        }
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a user can do about an error.
pub trait Hint {
    /// One sentence with at most one command, of at most 120 characters, that follows from the error alone. `None` where the next step is obvious,
    /// or nothing helps.
    fn hint(&self) -> Option<String>;
}

/// The text of an error on one line: its facts follow a colon, with commas between them.
pub fn flat(error: &(impl fmt::Display + ?Sized)) -> String {
    let text = error.to_string();
    let mut lines = text.lines().map(str::trim);
    let problem = lines.next().unwrap_or_default();
    match lines.collect::<Vec<_>>().join(", ") {
        facts if facts.is_empty() => problem.to_owned(),
        facts => format!("{problem}: {facts}"),
    }
}

/// The causes of an error, the nearest first.
pub fn causes(error: &dyn Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |cause| (*cause).source())
}

/// An error and its causes, on one line.
pub fn one_line(error: &dyn Error) -> String {
    let causes = causes(error).map(flat);
    let texts: Vec<String> = std::iter::once(flat(error)).chain(causes).collect();
    texts.join(": ")
}

/// The problem that an error states, without its facts.
pub fn first_line(error: &impl fmt::Display) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or_default().to_owned()
}

/// Makes untrusted text safe to print: replaces control and bidirectional characters, and truncates after 200 characters.
///
/// Otherwise a version, a file name or a server's message could move the cursor, hide a warning, or imitate a message of tfoci.
pub fn printable(text: &str) -> String {
    // Fits versions, file names and a sentence of a server.
    safe(text, 200)
}

/// Makes a path with untrusted parts safe to print.
pub fn printable_path(path: &Path) -> String {
    // About five lines of a terminal; honest paths are shorter.
    safe(&path.to_string_lossy(), 800)
}

fn safe(text: &str, longest: usize) -> String {
    let mut out: String = text
        .chars()
        .take(longest)
        .map(|c| if is_deceptive(c) { '\u{fffd}' } else { c })
        .collect();
    if text.chars().nth(longest).is_some() {
        out.push('…');
    }
    out
}

/// What another party said, in brackets, to follow a status; nothing if it said nothing.
pub(crate) fn said(answer: &str) -> String {
    match answer {
        "" => String::new(),
        answer => format!(" ({answer})"),
    }
}

/// The items of a list that fit on a line or two.
pub const FEW: usize = 4;

/// More items than honest lists have in a message, such as the platforms of a version.
pub const MANY: usize = 20;

/// `1 package`, `2 packages`.
pub fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// The first items of a list with commas between them, and how many more there are. Some lists are as long as another party likes.
pub fn listed<I>(items: I, most: usize) -> String
where
    I: IntoIterator<Item: fmt::Display, IntoIter: ExactSizeIterator>,
{
    let items = items.into_iter();
    let more = items.len().saturating_sub(most);
    let shown: Vec<String> = items.take(most).map(|item| item.to_string()).collect();
    let shown = shown.join(", ");
    match more {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Whether a character is invisible, controls a terminal, or changes the direction of text.
pub fn is_deceptive(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{00ad}' | '\u{034f}' | '\u{061c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untrusted_text_cannot_move_the_cursor_or_change_direction() {
        assert_eq!(
            printable("a\x1b[2Kb\n\u{202e}c"),
            "a\u{fffd}[2Kb\u{fffd}\u{fffd}c"
        );
        assert_eq!(printable(&"x".repeat(201)).chars().count(), 201);
        assert_eq!(printable("bücher"), "bücher");
        assert_eq!(
            printable("a\u{ad}b\u{e0041}\u{180e}"),
            "a\u{fffd}b\u{fffd}\u{fffd}"
        );
    }

    #[test]
    fn lists_are_short() {
        assert_eq!(listed([1, 2, 3, 4], FEW), "1, 2, 3, 4");
        assert_eq!(listed([1, 2, 3, 4, 5, 6], FEW), "1, 2, 3, 4 and 2 more");
        assert_eq!(listed(["a", "b", "c"], 1), "a and 2 more");
    }

    #[test]
    fn facts_follow_on_the_same_line() {
        for (text, expected) in [
            ("a zip", "a zip"),
            (
                "a zip differs\n  expected a\n  received b",
                "a zip differs: expected a, received b",
            ),
        ] {
            assert_eq!(flat(text), expected);
        }
    }
}
