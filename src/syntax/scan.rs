//! Reads names and labels, and skips white space and comments.

use icu_properties::CodePointSetData;
use icu_properties::props::{IdContinue, IdStart};

use super::{Error, SyntaxError};

/// The most blocks, labels and attributes of a file. A file of 4 MiB, the largest that is read, has an item in every twenty bytes then;
/// each takes up to a hundred bytes of memory.
const MOST_ITEMS: usize = 200_000;

/// The dialects of HCL. In the first one, names may be quoted or have dots, line breaks or commas between items are optional, an object is a
/// body, and `${…}` in text is plain text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Hcl1,
    Hcl2,
}

/// A position in the text, with its line.
#[derive(Clone, Debug)]
pub(super) struct Scanner<'a> {
    pub(super) rest: &'a str,
    pub(super) line: usize,
    pub(super) dialect: Dialect,
    /// The number of items that were read.
    items: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(rest: &'a str, line: usize, dialect: Dialect) -> Self {
        Self {
            rest,
            line,
            dialect,
            items: 0,
        }
    }

    /// Counts a block, label or attribute.
    pub(super) fn count(&mut self) -> Result<(), Error> {
        self.items += 1;
        match self.items > MOST_ITEMS {
            true => Err(self.mistake()),
            false => Ok(()),
        }
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next();
        self.rest = chars.as_str();
        self.line += usize::from(next == Some('\n'));
        next
    }

    /// Skips a token without line breaks; returns whether it is next.
    pub(super) fn eat(&mut self, token: &str) -> bool {
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    pub(super) fn mistake(&self) -> Error {
        SyntaxError::Malformed.at(self.line)
    }

    /// Skips white space, line breaks and comments.
    pub(super) fn space(&mut self) -> Result<(), Error> {
        loop {
            self.blanks()?;
            if self.peek().is_none() || !self.at_end_of_line() {
                return Ok(());
            }
            self.skip_line();
            self.next();
        }
    }

    /// Skips white space and `/* … */` comments, but no line break outside of them.
    pub(super) fn blanks(&mut self) -> Result<(), Error> {
        while self.eat(" ") || self.eat("\t") || self.eat("\r") || self.comment()? {}
        Ok(())
    }

    /// Whether the rest of the line is empty or a comment.
    pub(super) fn at_end_of_line(&self) -> bool {
        self.rest.is_empty() || self.rest.starts_with(['\n', '#']) || self.rest.starts_with("//")
    }

    /// Skips to the line break.
    pub(super) fn skip_line(&mut self) {
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        self.rest = self.rest.get(end..).unwrap_or_default();
    }

    /// Skips `/* … */`; returns whether it is next.
    pub(super) fn comment(&mut self) -> Result<bool, Error> {
        let Some(comment) = self.rest.strip_prefix("/*") else {
            return Ok(false);
        };
        let (comment, rest) = comment.split_once("*/").ok_or_else(|| self.mistake())?;
        self.line += comment.matches('\n').count();
        self.rest = rest;
        Ok(true)
    }

    /// Reads the name of an attribute or block.
    pub(super) fn name(&mut self) -> Result<&'a str, Error> {
        if !self.rest.starts_with(is_name_start) {
            return Err(self.mistake());
        }
        let is_part = |c| is_name_part(c) || c == '.' && self.dialect == Dialect::Hcl1;
        let end = self.rest.find(|c| !is_part(c));
        let end = end.unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        self.rest = rest;
        Ok(name)
    }

    /// Reads a label, in quotes or not.
    pub(super) fn label(&mut self) -> Result<&'a str, Error> {
        if !self.eat("\"") {
            return self.name();
        }
        let end = self.rest.find(['"', '\n']).unwrap_or(self.rest.len());
        let (label, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        let is_plain = !label.contains('\\') && !label.contains("${") && !label.contains("%{");
        if !is_plain || !rest.starts_with('"') {
            return Err(self.mistake());
        }
        self.rest = rest;
        self.next();
        Ok(label)
    }
}

/// Whether a name or the mark of a heredoc begins.
pub(super) fn is_name_start(c: char) -> bool {
    CodePointSetData::new::<IdStart>().contains(c) || c == '_'
}

/// Whether a name or the mark of a heredoc goes on. Combining marks belong to it: a heredoc whose mark were cut off would hide what follows.
pub(super) fn is_name_part(c: char) -> bool {
    CodePointSetData::new::<IdContinue>().contains(c) || c == '-'
}
