//! Parses bodies: blocks and attributes, and the values of HCL 1.

use std::collections::HashSet;

use super::scan::{Dialect, Scanner, is_name_part};
use super::{Error, Expression, Member, Section, SyntaxError, Value};

/// The deepest accepted nesting of blocks. Providers' schemas have about ten levels.
const DEEPEST: usize = 64;

impl<'a> Scanner<'a> {
    /// Reads items up to the end of the file, or up to and including the brace that closes the block.
    pub(super) fn body(&mut self, depth: usize) -> Result<Section<'a>, Error> {
        let opened = self.line;
        if depth > DEEPEST {
            return Err(self.mistake());
        }
        let is_hcl1 = self.dialect == Dialect::Hcl1;
        self.blanks()?;
        // In HCL 2, such a block has one attribute and no block.
        let is_one_line = depth > 0 && !is_hcl1 && !self.at_end_of_line();
        let (mut members, mut names) = (Vec::new(), HashSet::new());
        loop {
            self.space()?;
            match self.peek() {
                None if depth == 0 => return Ok(Section(members)),
                None => return Err(SyntaxError::Malformed.at(opened)),
                Some('}') if depth > 0 => {
                    self.next();
                    return Ok(Section(members));
                }
                Some(',') if is_hcl1 => {
                    self.next();
                    continue;
                }
                _ => {}
            }
            let line = self.line;
            self.count()?;
            let name = match is_hcl1 {
                true => self.label()?,
                false => self.name()?,
            };
            let (labels, value) = self.item(depth)?;
            let is_block = matches!(value, Value::Section(_));
            members.push(Member {
                name: name.into(),
                labels,
                value,
                line: Some(line),
            });
            if is_hcl1 {
                continue;
            }
            if !is_block && !names.insert(name) {
                return Err(SyntaxError::Malformed.at(line));
            }
            self.blanks()?;
            let ends = match is_one_line {
                true => self.peek() == Some('}') && !is_block,
                false => self.at_end_of_line(),
            };
            if !ends {
                return Err(self.mistake());
            }
        }
    }

    /// Reads what follows a name: labels and a block, or a value. In HCL 1, an object may have no `=` before it, and then is a block.
    fn item(&mut self, depth: usize) -> Result<(Vec<&'a str>, Value<'a>), Error> {
        let mut labels = Vec::new();
        loop {
            match self.dialect {
                Dialect::Hcl1 => self.space()?,
                Dialect::Hcl2 => self.blanks()?,
            }
            if self.eat("{") {
                return Ok((labels, Value::Section(self.body(depth + 1)?)));
            }
            if labels.is_empty() && self.eat("=") {
                let value = match self.dialect {
                    Dialect::Hcl1 => self.value(depth)?,
                    Dialect::Hcl2 => Value::Code(Expression::read(self, &['\n'])?),
                };
                return Ok((labels, value));
            }
            self.count()?;
            labels.push(self.label()?);
        }
    }

    /// Reads a value of HCL 1.
    fn value(&mut self, depth: usize) -> Result<Value<'a>, Error> {
        self.space()?;
        match self.peek() {
            Some('{') => {
                self.next();
                self.body(depth + 1).map(Value::Section)
            }
            Some('[') => self.list(depth + 1),
            Some('"') => self.text()?.map(Value::Text).ok_or_else(|| self.mistake()),
            Some('<') if self.rest.starts_with("<<") => self.token(0).map(|()| Value::Other),
            _ => {
                let is_word = |c: char| is_name_part(c) || c == '.' || c == '+';
                let end = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
                let (word, rest) = self.rest.split_at_checked(end).unwrap_or_default();
                let value = match word {
                    "true" => Value::Flag(true),
                    "false" => Value::Flag(false),
                    word if word.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
                        Value::Other
                    }
                    _ => return Err(self.mistake()),
                };
                self.rest = rest;
                Ok(value)
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value<'a>, Error> {
        if depth > DEEPEST {
            return Err(self.mistake());
        }
        self.next();
        let mut values = Vec::new();
        loop {
            self.space()?;
            if self.eat("]") {
                return Ok(Value::List(values));
            }
            values.push(self.value(depth)?);
            self.space()?;
            if !self.eat(",") && self.peek() != Some(']') {
                return Err(self.mistake());
            }
        }
    }
}
