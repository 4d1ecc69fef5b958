//! Reads files in HCL 2, the language of modules and lock files: blocks and attributes, whose expressions stay text.
//!
//! To find the providers of a module, tfoci has to know where each expression ends, but it needs the value of only a few. So it reads
//! a file in one pass that matches brackets, quotes and heredocs. Plain text, lists and objects are parsed on request.
//!
//! # Why not hcl-edit
//! hcl-edit refuses line breaks before `?` and `:` within brackets, which clients accept and real modules contain. Its tree also takes
//! eighty times the size of a long list. hcl-edit still parses the text in quotes.

mod code;
mod error;
mod expression;
mod scan;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::text;
pub use error::{Error, SyntaxError};
pub use expression::Expression;
use scan::Scanner;

/// The deepest accepted nesting of blocks. Providers' schemas have about ten levels.
const DEEPEST: usize = 64;

/// The content of a file or block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body<'a> {
    /// The attributes by name.
    pub attributes: BTreeMap<&'a str, Expression<'a>>,
    /// The blocks, in order.
    pub blocks: Vec<Block<'a>>,
}

/// `NAME "LABEL" { … }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block<'a> {
    /// The line it begins in, from 1.
    pub line: usize,
    /// Its type, such as `resource`.
    pub name: &'a str,
    /// Its labels, quoted or not.
    pub labels: Vec<&'a str>,
    /// The content between its braces.
    pub body: Body<'a>,
}

impl<'a> Body<'a> {
    /// Parses a file.
    ///
    /// # Errors
    /// The text is not HCL, judging by its blocks, attributes, brackets and quotes. Expressions are not checked.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let text = text::decode(bytes).map_err(|error| {
            let sound = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
            Error {
                line: 1 + sound.matches('\n').count(),
                mistake: SyntaxError::Text(error),
            }
        })?;
        Self::read(&mut Scanner::new(text, 1), 0)
    }

    /// The blocks with this name, in order.
    pub fn blocks(&self, name: &str) -> impl Iterator<Item = &Block<'a>> {
        self.blocks.iter().filter(move |block| block.name == name)
    }

    /// Reads up to the end of the file, or up to and including the brace that closes the block.
    fn read(scanner: &mut Scanner<'a>, depth: usize) -> Result<Self, Error> {
        let opened = scanner.line();
        if depth > DEEPEST {
            return Err(scanner.many(DEEPEST, "levels of nesting"));
        }
        let mut body = Self::default();
        loop {
            scanner.space()?;
            match scanner.peek() {
                None if depth == 0 => return Ok(body),
                None => return Err(Error::malformed(opened)),
                Some('}') if depth > 0 => {
                    scanner.next();
                    return Ok(body);
                }
                _ => body.read_item(scanner, depth)?,
            }
            scanner.blanks()?;
            if !scanner.at_end_of_line() {
                return Err(scanner.mistake());
            }
        }
    }

    /// Reads what follows the opening brace of a block.
    fn read_block(scanner: &mut Scanner<'a>, depth: usize) -> Result<Self, Error> {
        let opened = scanner.line();
        scanner.blanks()?;
        if scanner.at_end_of_line() || scanner.peek() == Some('}') {
            return Self::read(scanner, depth);
        }
        let mut body = Self::default();
        body.read_item(scanner, depth)?;
        scanner.blanks()?;
        match scanner.peek() {
            None => Err(Error::malformed(opened)),
            Some('}') if body.blocks.is_empty() => {
                scanner.next();
                Ok(body)
            }
            _ => Err(scanner.mistake()),
        }
    }

    fn read_item(&mut self, scanner: &mut Scanner<'a>, depth: usize) -> Result<(), Error> {
        let line = scanner.line();
        let name = scanner.name()?;
        scanner.count()?;
        scanner.blanks()?;
        if scanner.eat("=") {
            return match self.attributes.entry(name) {
                Entry::Vacant(place) => {
                    place.insert(Expression::read(scanner, &['\n'])?);
                    Ok(())
                }
                Entry::Occupied(_) => Err(Error {
                    line,
                    mistake: SyntaxError::Redefined { name: name.into() },
                }),
            };
        }
        let mut labels = Vec::new();
        while !scanner.eat("{") {
            labels.push(scanner.label()?);
            scanner.count()?;
            scanner.blanks()?;
        }
        let body = Self::read_block(scanner, depth + 1)?;
        self.blocks.push(Block {
            line,
            name,
            labels,
            body,
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests;
