//! Finds the ends of expressions, through the brackets, quotes and heredocs within them.

use super::Error;
use super::scan::{Scanner, is_name_part, is_name_start};

/// The deepest accepted nesting of brackets and quotes in one expression. Real ones have about twenty levels.
const DEEPEST: usize = 256;

/// A bracket, quote or heredoc that is open, with the line where it begins.
#[derive(Clone, Copy)]
enum OpenDelimiter<'a> {
    /// Brackets, which may be those of `${`.
    Brackets { closing: char, line: usize },
    /// Text in quotes.
    Quotes { line: usize },
    /// A heredoc, which ends at a line with its mark.
    Heredoc { mark: &'a str, line: usize },
}

impl<'a> Scanner<'a> {
    /// Reads the code of an expression. It ends before one of `ends`, or before a closing bracket that was opened before the expression.
    pub(super) fn code(&mut self, ends: &[char]) -> Result<&'a str, Error> {
        let from = self.rest;
        let mut open = Vec::new();
        while !(open.is_empty() && self.ends(ends)) {
            if open.is_empty() && self.separates() {
                return Err(self.mistake());
            }
            self.step(&mut open)?;
            if open.len() > DEEPEST {
                return Err(self.many(DEEPEST, "levels of nesting"));
            }
        }
        let length = from.len() - self.rest.len();
        let code = from.get(..length).unwrap_or_default().trim();
        if code.is_empty() {
            return Err(self.mistake());
        }
        Ok(code)
    }

    /// Reads the part of a reference before a dot: a name with its indexes, or an index that is written as a number between dots.
    pub(super) fn part_of_reference(&mut self, names: &mut Vec<&'a str>) -> Result<(), Error> {
        self.space()?;
        if self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.rest = self.rest.trim_start_matches(|c: char| c.is_ascii_digit());
        } else {
            names.push(self.name()?);
        }
        self.space()?;
        while self.eat("[") {
            self.code(&[])?;
            self.next();
            self.space()?;
        }
        Ok(())
    }

    /// Reads text in quotes, quotes included; `None` if the next character is not a quote.
    pub(super) fn quoted(&mut self) -> Option<&'a str> {
        let from = self.rest;
        if self.peek() != Some('"') {
            return None;
        }
        let mut open = Vec::new();
        self.step(&mut open).ok()?;
        while !open.is_empty() {
            self.step(&mut open).ok()?;
        }
        from.get(..from.len() - self.rest.len())
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

    /// Reads one step within the innermost open bracket, quote or heredoc.
    fn step(&mut self, open: &mut Vec<OpenDelimiter<'a>>) -> Result<(), Error> {
        match open.last().copied() {
            None => self.step_in_code(open, None),
            Some(OpenDelimiter::Brackets { closing, line }) => {
                if self.rest.is_empty() {
                    return Err(Error::malformed(line));
                }
                self.step_in_code(open, Some(closing))
            }
            Some(OpenDelimiter::Quotes { line }) => match self.peek() {
                None | Some('\n') => Err(Error::malformed(line)),
                Some('"') => {
                    self.next();
                    open.pop();
                    Ok(())
                }
                Some('\\') => {
                    self.next();
                    self.next();
                    Ok(())
                }
                Some(_) => {
                    self.step_in_text(open);
                    Ok(())
                }
            },
            Some(OpenDelimiter::Heredoc { mark, line }) => match self.peek() {
                None => Err(Error::malformed(line)),
                Some('\n') => {
                    self.next();
                    if self.at_mark(mark) {
                        self.skip_line();
                        open.pop();
                    }
                    Ok(())
                }
                Some(_) => {
                    self.step_in_text(open);
                    Ok(())
                }
            },
        }
    }

    fn step_in_code(
        &mut self,
        open: &mut Vec<OpenDelimiter<'a>>,
        closing: Option<char>,
    ) -> Result<(), Error> {
        if self.rest.starts_with('#') || self.rest.starts_with("//") {
            self.skip_line();
            return Ok(());
        }
        if self.comment()? {
            return Ok(());
        }
        let line = self.line;
        if let Some(mark) = self.heredoc() {
            open.push(OpenDelimiter::Heredoc { mark, line });
            return Ok(());
        }
        if self.rest.starts_with("<<") {
            return Err(self.mistake());
        }
        let within = |closing| OpenDelimiter::Brackets { closing, line };
        match self.next() {
            Some('"') => open.push(OpenDelimiter::Quotes { line }),
            Some('(') => open.push(within(')')),
            Some('[') => open.push(within(']')),
            Some('{') => open.push(within('}')),
            Some(found @ (')' | ']' | '}')) if closing != Some(found) => {
                return Err(Error::malformed(line));
            }
            Some(')' | ']' | '}') => {
                open.pop();
            }
            // `==`, `!=`, `<=` and `>=` are one operator each.
            Some('=' | '!' | '<' | '>') => {
                self.eat("=");
            }
            _ => {}
        }
        Ok(())
    }

    /// Reads one step within quotes or a heredoc. `$${` and `%%{` are escapes, not interpolations.
    fn step_in_text(&mut self, open: &mut Vec<OpenDelimiter<'a>>) {
        let line = self.line;
        if self.eat("$${") || self.eat("%%{") {
            return;
        }
        if self.eat("${") || self.eat("%{") {
            open.push(OpenDelimiter::Brackets { closing: '}', line });
        } else {
            self.next();
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
