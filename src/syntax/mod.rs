//! The languages of configuration files, HCL and JSON, as one tree of sections.
//!
//! | language | files | parser |
//! | --- | --- | --- |
//! | HCL 1, or JSON | the clients' CLI configuration | `cli` |
//! | HCL 2 | modules, lock files | `hcl` |
//! | JSON | modules | `json` |
//!
//! One scanner finds names, comments, brackets, quotes and heredocs in both dialects of HCL, and one parser reads bodies from it. In HCL 1, a
//! block is an attribute whose value is an object, and its labels are the names of the objects around it; JSON writes the same with objects
//! and lists. In HCL 2, expressions stay text: to find the providers of a module, tfoci has to know where each of them ends, but it needs
//! the value of only a few, which are parsed on request.
//!
//! The meaning of blocks and arguments is decided in [`config`](crate::config) and [`lockfile`](crate::lockfile). JSON that programs
//! exchange is read by [`json`](crate::json).
//!
//! # Why not hcl-edit
//! hcl-edit refuses line breaks before `?` and `:` within brackets, which clients accept and real modules contain. Its tree also takes
//! eighty times the size of a long list.

mod body;
mod code;
mod error;
mod expression;
mod json;
mod scan;
mod tree;

use crate::text;
pub use error::{Error, SyntaxError};
pub(crate) use expression::Expression;
use scan::{Dialect, Scanner};
pub(crate) use tree::{Block, Member, Section, Value};

/// Parses a file in HCL 2. Its expressions are not checked.
pub(crate) fn hcl(bytes: &[u8]) -> Result<Section<'_>, Error> {
    Scanner::new(decode(bytes)?, 1, Dialect::Hcl2).body(0)
}

/// Parses a file in HCL 1 or JSON. A document that begins with a brace is JSON, as for clients.
pub(crate) fn cli(bytes: &[u8]) -> Result<Section<'_>, Error> {
    let text = decode(bytes)?;
    if !text.trim_start().starts_with('{') {
        return Scanner::new(text, 1, Dialect::Hcl1).body(0);
    }
    match json(bytes)? {
        Value::Section(section) => Ok(section),
        _ => Err(SyntaxError::Json.at(1)),
    }
}

/// Parses a document in JSON.
pub(crate) fn json(bytes: &[u8]) -> Result<Value<'_>, Error> {
    serde_json::from_str(decode(bytes)?).map_err(|error| SyntaxError::Json.at(error.line()))
}

fn decode(bytes: &[u8]) -> Result<&str, Error> {
    text::decode(bytes).map_err(|error| SyntaxError::Text(error).at(1))
}

#[cfg(test)]
mod tests;
