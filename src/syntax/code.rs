//! Finds the ends of expressions, through the brackets, quotes and heredocs within them.

use super::scan::{Dialect, Scanner, is_name_part, is_name_start};
use super::{Error, SyntaxError};

/// The deepest accepted nesting of brackets and quotes in one expression. Real ones have about twenty levels.
const DEEPEST: usize = 256;

impl<'a> Scanner<'a> {
    /// Reads the code of an expression. It ends before one of `ends`, or before a closing bracket that was opened before the expression.
    pub(super) fn code(&mut self, ends: &[char]) -> Result<&'a str, Error> {
        let from = self.rest;
        while !self.ends(ends) {
            if self.separates() {
                return Err(self.mistake());
            }
            self.token(0)?;
        }
        let length = from.len() - self.rest.len();
        let code = from.get(..length).unwrap_or_default().trim();
        if code.is_empty() {
            return Err(self.mistake());
        }
        Ok(code)
    }

    /// Reads text in quotes; `None` if it has interpolations. In HCL 1, they are text, copied unchanged with quotes and line breaks.
    pub(super) fn text(&mut self) -> Result<Option<String>, Error> {
        let opened = self.line;
        if !self.eat("\"") {
            return Ok(None);
        }
        let is_hcl1 = self.dialect == Dialect::Hcl1;
        let (mut text, mut braces) = (String::new(), 0_usize);
        loop {
            if is_hcl1 && self.eat("${") {
                text.push_str("${");
                braces += 1;
                continue;
            }
            if !is_hcl1 && (self.rest.starts_with("${") || self.rest.starts_with("%{")) {
                return Ok(None);
            }
            if !is_hcl1 && (self.rest.starts_with("$${") || self.rest.starts_with("%%{")) {
                self.next();
            }
            match self.next() {
                Some('"') if braces == 0 => return Ok(Some(text)),
                Some('\\') if braces == 0 => text.push(self.escape()?),
                Some('\n') if braces == 0 => return Err(SyntaxError::Malformed.at(opened)),
                None => return Err(SyntaxError::Malformed.at(opened)),
                Some(c) => {
                    match c {
                        '{' if braces > 0 => braces += 1,
                        '}' => braces = braces.saturating_sub(1),
                        _ => {}
                    }
                    text.push(c);
                }
            }
        }
    }

    fn escape(&mut self) -> Result<char, Error> {
        let digits = match self.next() {
            Some('n') => return Ok('\n'),
            Some('r') => return Ok('\r'),
            Some('t') => return Ok('\t'),
            Some(c @ ('\\' | '"')) => return Ok(c),
            Some('u') => 4,
            Some('U') => 8,
            _ => return Err(self.mistake()),
        };
        let (code, rest) = self.rest.split_at_checked(digits).unwrap_or_default();
        self.rest = rest;
        let number = u32::from_str_radix(code, 16).ok();
        let c = number.and_then(char::from_u32);
        c.ok_or_else(|| self.mistake())
    }

    fn ends(&self, ends: &[char]) -> bool {
        let comment = ends.contains(&'\n') && self.at_end_of_line();
        comment
            || self.rest.is_empty()
            || self.rest.starts_with(ends)
            || self.rest.starts_with([')', ']', '}'])
    }

    /// Whether a character follows that occurs in no expression outside of brackets, such as the second `=` of `a = 1 b = 2`.
    fn separates(&self) -> bool {
        let assigns = self.rest.starts_with('=') && !self.rest.starts_with("==");
        assigns || self.rest.starts_with([',', ';'])
    }

    /// Reads one token, and all that is in the brackets, quotes or heredoc that it opens, below so many others.
    pub(super) fn token(&mut self, depth: usize) -> Result<(), Error> {
        if depth > DEEPEST {
            return Err(self.mistake());
        }
        if self.rest.starts_with('#') || self.rest.starts_with("//") {
            self.skip_line();
            return Ok(());
        }
        if self.comment()? {
            return Ok(());
        }
        if let Some(mark) = self.heredoc() {
            return self.template(Some(mark), depth);
        }
        if self.rest.starts_with("<<") {
            return Err(self.mistake());
        }
        match self.next() {
            Some('"') => self.template(None, depth),
            Some('(') => self.brackets(')', depth),
            Some('[') => self.brackets(']', depth),
            Some('{') => self.brackets('}', depth),
            Some(')' | ']' | '}') => Err(self.mistake()),
            // `==`, `!=`, `<=` and `>=` are one operator each.
            Some('=' | '!' | '<' | '>') => {
                self.eat("=");
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Reads up to and including the closing bracket.
    fn brackets(&mut self, closing: char, depth: usize) -> Result<(), Error> {
        let opened = self.line;
        while self.peek() != Some(closing) {
            if self.rest.is_empty() {
                return Err(SyntaxError::Malformed.at(opened));
            }
            self.token(depth + 1)?;
        }
        self.next();
        Ok(())
    }

    /// Reads up to and including the closing quote, or the line with the mark of a heredoc. `$${` and `%%{` are escapes, not interpolations.
    fn template(&mut self, mark: Option<&str>, depth: usize) -> Result<(), Error> {
        let opened = self.line;
        loop {
            if self.eat("$${") || self.eat("%%{") {
                continue;
            }
            if self.eat("${") || self.eat("%{") {
                self.brackets('}', depth + 1)?;
                continue;
            }
            match (self.next(), mark) {
                (None, _) | (Some('\n'), None) => return Err(SyntaxError::Malformed.at(opened)),
                (Some('"'), None) => return Ok(()),
                (Some('\\'), None) => drop(self.next()),
                (Some('\n'), Some(mark)) if self.at_mark(mark) => {
                    self.skip_line();
                    return Ok(());
                }
                _ => {}
            }
        }
    }

    /// Reads the opening line of a heredoc and returns its mark; `None` if no heredoc begins here.
    fn heredoc(&mut self) -> Option<&'a str> {
        let opened = self.rest.strip_prefix("<<")?;
        let opened = opened.strip_prefix('-').unwrap_or(opened);
        let end = opened.find(|c| !is_name_part(c))?;
        let (mark, rest) = opened.split_at_checked(end)?;
        let rest = rest.trim_start_matches([' ', '\t', '\r']);
        if !mark.starts_with(is_name_start) || !rest.starts_with('\n') {
            return None;
        }
        self.rest = rest;
        Some(mark)
    }

    fn at_mark(&self, mark: &str) -> bool {
        let line = self.rest.split('\n').next().unwrap_or_default();
        line.trim() == mark
    }
}
