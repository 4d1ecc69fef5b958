//! The types of values.

use std::fmt;

/// What a value is, for messages, which do not show the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum ValueType {
    Null,
    Flag,
    Number,
    Text,
    List,
    Texts,
    OtherList,
    Object,
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "null",
            Self::Flag => "true or false",
            Self::Number => "a number",
            Self::Text => "text",
            Self::List => "a list",
            Self::Texts => "a list of text",
            Self::OtherList => "a list of something else",
            Self::Object => "an object",
        })
    }
}
