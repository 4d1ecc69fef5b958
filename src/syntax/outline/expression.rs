//! Expressions. Text, references, lists and objects can be parsed.

use hcl_edit::expr::Expression as Parsed;

use super::Error;
use super::scan::Scanner;
use crate::template::nesting;

/// The longest text in quotes that is parsed, in bytes. Addresses, versions and paths have some hundred.
const LONGEST: usize = 1 << 16;

/// An unparsed expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expression<'a> {
    line: usize,
    text: &'a str,
}

impl<'a> Expression<'a> {
    /// Reads an expression that ends before one of `ends`.
    pub(super) fn read(scanner: &mut Scanner<'a>, ends: &[char]) -> Result<Self, Error> {
        scanner.blanks()?;
        let line = scanner.line();
        let text = scanner.code(ends)?;
        Ok(Self { line, text })
    }

    /// The expression that a string of a JSON document holds.
    pub fn of(text: &'a str) -> Self {
        Self { line: 1, text }
    }

    /// The line it begins in, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// Its text, with the comments within it.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The text, if the expression is text in quotes of at most 64 KiB, without interpolations.
    pub fn as_text(&self) -> Option<String> {
        let mut scanner = self.begin();
        let quoted = scanner.quoted()?;
        scanner.space().ok()?;
        let content = quoted.strip_prefix('"')?;
        let is_deep = nesting::depth(content) > nesting::DEEPEST;
        if scanner.peek().is_some() || quoted.len() > LONGEST || is_deep {
            return None;
        }
        match quoted.parse().ok()? {
            Parsed::String(text) => Some(text.into_value()),
            _ => None,
        }
    }

    /// The names in a reference such as `module.net["a"].aws_vpc.main[0]`, without its indexes.
    pub fn as_names(&self) -> Vec<&'a str> {
        let mut scanner = self.begin();
        let mut names = Vec::new();
        let _ = scanner.part_of_reference(&mut names);
        while scanner.eat(".") {
            let _ = scanner.part_of_reference(&mut names);
        }
        names
    }

    /// The first name of a reference such as `aws.west`.
    pub fn as_root(&self) -> Option<&'a str> {
        self.begin().name().ok()
    }

    /// The elements, if it is a list. `[for …]` counts as a list, and its parts as elements.
    pub fn as_list(&self) -> Option<impl Iterator<Item = Result<Self, Error>> + use<'a>> {
        let element = |scanner: &mut Scanner<'a>| Self::read(scanner, &[',']);
        self.open("[").map(|scanner| Parts::new(scanner, element))
    }

    /// The members, if it is an object. `{for …}` counts as an object, and its parts as members.
    pub fn as_object(
        &self,
    ) -> Option<impl Iterator<Item = Result<(&'a str, Self), Error>> + use<'a>> {
        let member = |scanner: &mut Scanner<'a>| {
            let key = scanner.label()?;
            scanner.blanks()?;
            if !scanner.eat("=") && !scanner.eat(":") {
                return Err(scanner.mistake());
            }
            Ok((key, Self::read(scanner, &[',', '\n'])?))
        };
        self.open("{").map(|scanner| Parts::new(scanner, member))
    }

    /// A scanner after the opening bracket; `None` if the expression does not begin with it.
    fn open(&self, bracket: &str) -> Option<Scanner<'a>> {
        let mut scanner = self.begin();
        scanner.eat(bracket).then_some(scanner)
    }

    /// A scanner at the first character that is not part of a comment.
    fn begin(&self) -> Scanner<'a> {
        let mut scanner = Scanner::new(self.text, self.line);
        // An unclosed comment was already an error when the expression was scanned.
        let _ = scanner.space();
        scanner
    }
}

/// The parts of a list or object, between brackets and commas.
struct Parts<'a, F> {
    scanner: Scanner<'a>,
    read: F,
    done: bool,
}

impl<'a, F> Parts<'a, F> {
    fn new(scanner: Scanner<'a>, read: F) -> Self {
        let done = false;
        Self {
            scanner,
            read,
            done,
        }
    }
}

impl<'a, T, F: Fn(&mut Scanner<'a>) -> Result<T, Error>> Parts<'a, F> {
    fn part(&mut self) -> Result<Option<T>, Error> {
        self.scanner.space()?;
        if matches!(self.scanner.peek(), Some(']' | '}') | None) {
            return Ok(None);
        }
        let part = (self.read)(&mut self.scanner)?;
        self.scanner.blanks()?;
        self.scanner.eat(",");
        Ok(Some(part))
    }
}

impl<'a, T, F: Fn(&mut Scanner<'a>) -> Result<T, Error>> Iterator for Parts<'a, F> {
    type Item = Result<T, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let part = self.part().transpose();
        // After an error, the rest cannot be parsed reliably.
        self.done = !matches!(part, Some(Ok(_)));
        part
    }
}
