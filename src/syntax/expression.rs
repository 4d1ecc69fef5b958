//! Expressions. Text, references, lists and objects can be parsed.

use super::Error;
use super::scan::{Dialect, Scanner};

/// The longest text in quotes that is parsed, in bytes. Addresses, versions and paths have some hundred.
const LONGEST: usize = 1 << 16;

/// An unparsed expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Expression<'a> {
    line: usize,
    text: &'a str,
}

impl<'a> Expression<'a> {
    /// Reads an expression that ends before one of `ends`.
    pub(super) fn read(scanner: &mut Scanner<'a>, ends: &[char]) -> Result<Self, Error> {
        scanner.blanks()?;
        let line = scanner.line;
        let text = scanner.code(ends)?;
        Ok(Self { line, text })
    }

    /// The expression that a string of a JSON document holds.
    pub(crate) fn of(text: &'a str) -> Self {
        Self { line: 1, text }
    }

    /// The line it begins in, from 1.
    pub(crate) fn line(&self) -> usize {
        self.line
    }

    /// Its text, with the comments within it.
    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    /// The text, if the expression is text in quotes of at most 64 KiB, without interpolations.
    pub(crate) fn as_text(&self) -> Option<String> {
        let mut scanner = self.begin();
        let text = scanner.text().ok()??;
        scanner.space().ok()?;
        (scanner.rest.is_empty() && text.len() <= LONGEST).then_some(text)
    }

    /// The names in a reference such as `module.net["a"].aws_vpc.main[0]`, without its indexes.
    pub(crate) fn as_names(&self) -> Vec<&'a str> {
        let mut scanner = self.begin();
        let mut names = Vec::new();
        while scanner.space().is_ok() {
            if scanner.eat("[") {
                let _ = scanner.code(&[]);
                scanner.next();
            } else if let Ok(name) = scanner.name() {
                names.push(name);
            } else if !scanner
                .next()
                .is_some_and(|c| c == '.' || c.is_ascii_digit())
            {
                break;
            }
        }
        names
    }

    /// The first name of a reference such as `aws.west`.
    pub(crate) fn as_root(&self) -> Option<&'a str> {
        self.begin().name().ok()
    }

    /// The elements, if it is a list. `[for …]` counts as a list, and its parts as elements.
    pub(crate) fn as_list(&self) -> Result<Option<Vec<Self>>, Error> {
        self.parts("[", |scanner| Self::read(scanner, &[',']))
    }

    /// The members, if it is an object. `{for …}` counts as an object, and its parts as members.
    pub(super) fn as_object(&self) -> Result<Option<Vec<(&'a str, Self)>>, Error> {
        self.parts("{", |scanner| {
            let name = scanner.label()?;
            scanner.blanks()?;
            if !scanner.eat("=") && !scanner.eat(":") {
                return Err(scanner.mistake());
            }
            Ok((name, Self::read(scanner, &[',', '\n'])?))
        })
    }

    /// The parts of a list or object, between brackets and commas; `None` if the expression does not begin with this bracket.
    fn parts<T>(
        &self,
        bracket: &str,
        read: impl Fn(&mut Scanner<'a>) -> Result<T, Error>,
    ) -> Result<Option<Vec<T>>, Error> {
        let mut scanner = self.begin();
        if !scanner.eat(bracket) {
            return Ok(None);
        }
        let mut parts = Vec::new();
        loop {
            scanner.space()?;
            if matches!(scanner.peek(), Some(']' | '}') | None) {
                return Ok(Some(parts));
            }
            scanner.count()?;
            parts.push(read(&mut scanner)?);
            scanner.blanks()?;
            scanner.eat(",");
        }
    }

    /// A scanner at the first character that is not part of a comment.
    fn begin(&self) -> Scanner<'a> {
        let mut scanner = Scanner::new(self.text, self.line, Dialect::Hcl2);
        // An unclosed comment was already an error when the expression was scanned.
        let _ = scanner.space();
        scanner
    }
}
