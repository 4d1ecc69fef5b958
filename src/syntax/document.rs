//! A configuration file in either language.

use super::block::{Section, Value};
use super::{Error, hcl1};
use crate::text;

/// Parses either language. A document that begins with a brace is JSON, as for clients.
pub(crate) fn parse(bytes: &[u8]) -> Result<Section, Error> {
    let text = text::decode(bytes).map_err(Error::Text)?;
    if text.trim_start().starts_with('{') {
        let value = serde_json::from_str(text).map_err(|error| Error::Json {
            line: error.line(),
            column: error.column(),
        })?;
        return match value {
            Value::Section(section) => Ok(section),
            _ => Err(Error::Text(text::Error)),
        };
    }
    hcl1::parse(text)
}
