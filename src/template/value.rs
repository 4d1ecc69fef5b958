//! The values of a template's expressions, and how clients convert them
//! ([clients: template checks](crate::clients#template-checks)).
//!
//! A value may be unknown while its type is known: with all three symbols unknown strings, evaluating a template is checking
//! its types.

use std::collections::BTreeMap;
use std::fmt;

use hcl::edit::expr::Expression;

use super::error::Problem;
use crate::error::printable;
use crate::oci::repository_name::LONGEST;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Number(i64),
    String(String),
    Tuple(Vec<Value>),
    Object(BTreeMap<String, Value>),
    /// Any value of a type.
    Unknown(Type),
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Not known, as that of `null`.
    Any,
    /// `true` or `false`.
    Bool,
    /// A whole number. Clients calculate with fractions too, which no repository has in its name.
    Number,
    /// Text.
    String,
    /// `[a, b]`
    Tuple,
    /// `{a = b}`
    Object,
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Any => "any value",
            Self::Bool => "a bool",
            Self::Number => "a whole number",
            Self::String => "a string",
            Self::Tuple => "a tuple",
            Self::Object => "an object",
        })
    }
}

/// Why an expression has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Mistake {
    /// Null where a value is needed.
    #[error("is null")]
    Null,
    /// A value that cannot be converted.
    #[error("is {received}, expected {expected}")]
    Type {
        /// What is needed.
        expected: Type,
        /// What is there.
        received: Type,
    },
    /// Text that does not say what is needed.
    #[error("is the string `{}`, expected {expected}", printable(.text))]
    Text {
        /// What is needed.
        expected: Type,
        /// The text.
        text: String,
    },
    /// An attribute or index of something that has none.
    #[error("is {received}, which has no elements")]
    NoElements {
        /// What is there.
        received: Type,
    },
    /// An element that does not exist.
    #[error("has no element `{}`", printable(.key))]
    NoElement {
        /// Its name or number.
        key: String,
    },
    /// The two results of a conditional have no common type.
    #[error("is either {yes} or {no}, expected one type")]
    Inconsistent {
        /// The type of the result if the condition holds.
        yes: Type,
        /// The other one.
        no: Type,
    },
    /// A number with a fraction, or one of more than 64 bits.
    #[error("is not a whole number of 64 bits")]
    Number,
    /// Two items of a `for` have the same key.
    #[error("has the key `{}` twice", printable(.key))]
    DuplicateKey {
        /// The key.
        key: String,
    },
    /// A key that may be meant as a reference or as a name.
    #[error("is not a key, expected quotes or parentheses around it")]
    AmbiguousKey,
    /// Text beyond the longest name.
    #[error("is longer than {LONGEST} bytes")]
    TooLong,
    /// It takes more steps or levels than an honest template does.
    #[error("takes too many steps")]
    TooMuchWork,
}

impl Mistake {
    /// The problem of the expression that has it.
    pub(super) fn at(self, expression: &Expression) -> Problem {
        Problem::Expression {
            expression: expression.to_string().trim().to_owned(),
            mistake: self,
        }
    }

    /// Whether it depends on the values of symbols: with other values, there may be such an element.
    pub(super) fn is_missing_element(&self) -> bool {
        matches!(self, Self::NoElement { .. })
    }
}

impl Value {
    /// Text, unless it is longer than any result can be.
    pub(super) fn string(text: &str) -> Result<Self, Mistake> {
        if text.len() > LONGEST {
            return Err(Mistake::TooLong);
        }
        Ok(Self::String(text.to_owned()))
    }

    pub(super) fn type_of(&self) -> Type {
        match self {
            Self::Null => Type::Any,
            Self::Bool(_) => Type::Bool,
            Self::Number(_) => Type::Number,
            Self::String(_) => Type::String,
            Self::Tuple(_) => Type::Tuple,
            Self::Object(_) => Type::Object,
            Self::Unknown(of) => *of,
        }
    }

    /// How many values it holds, itself included: what copying it costs.
    pub(super) fn size(&self) -> usize {
        1 + match self {
            Self::Tuple(items) => items.iter().map(Self::size).sum(),
            Self::Object(items) => items.values().map(Self::size).sum(),
            _ => 0,
        }
    }

    /// As text; `None` where it is unknown.
    pub(super) fn into_text(self) -> Result<Option<String>, Mistake> {
        match self {
            Self::String(text) => Ok(Some(text)),
            Self::Bool(value) => Ok(Some(value.to_string())),
            Self::Number(value) => Ok(Some(value.to_string())),
            Self::Unknown(Type::Any | Type::Bool | Type::Number | Type::String) => Ok(None),
            other => Err(other.unlike(Type::String)),
        }
    }

    /// As a number; `None` where it is unknown.
    pub(super) fn into_number(self) -> Result<Option<i64>, Mistake> {
        match self {
            Self::Number(value) => Ok(Some(value)),
            Self::String(text) => match text.parse() {
                Ok(value) => Ok(Some(value)),
                Err(_) => Err(Mistake::Text {
                    expected: Type::Number,
                    text,
                }),
            },
            Self::Unknown(Type::Any | Type::Number | Type::String) => Ok(None),
            other => Err(other.unlike(Type::Number)),
        }
    }

    /// As a bool; `None` where it is unknown.
    pub(super) fn into_bool(self) -> Result<Option<bool>, Mistake> {
        match self {
            Self::Bool(value) => Ok(Some(value)),
            Self::String(text) => match text.as_str() {
                "true" | "1" => Ok(Some(true)),
                "false" | "0" => Ok(Some(false)),
                _ => Err(Mistake::Text {
                    expected: Type::Bool,
                    text,
                }),
            },
            Self::Unknown(Type::Any | Type::Bool | Type::String) => Ok(None),
            other => Err(other.unlike(Type::Bool)),
        }
    }

    /// The element at a key; unknown where either is.
    pub(super) fn element(self, key: Self) -> Result<Self, Mistake> {
        match (self, key) {
            (Self::Null, _) | (_, Self::Null) => Err(Mistake::Null),
            (Self::Unknown(Type::Any), _) => Ok(Self::Unknown(Type::Any)),
            (value @ (Self::Tuple(_) | Self::Unknown(Type::Tuple)), key) => {
                match key.into_number()? {
                    Some(index) => value.at(index),
                    None => Ok(Self::Unknown(Type::Any)),
                }
            }
            (value @ (Self::Object(_) | Self::Unknown(Type::Object)), key) => {
                match key.into_text()? {
                    Some(name) => value.attribute(&name),
                    None => Ok(Self::Unknown(Type::Any)),
                }
            }
            (value, _) => Err(Mistake::NoElements {
                received: value.type_of(),
            }),
        }
    }

    fn at(self, index: i64) -> Result<Self, Mistake> {
        let Self::Tuple(mut items) = self else {
            return Ok(Self::Unknown(Type::Any));
        };
        match usize::try_from(index) {
            Ok(index) if index < items.len() => Ok(items.swap_remove(index)),
            _ => Err(Mistake::NoElement {
                key: index.to_string(),
            }),
        }
    }

    /// The attribute of that name.
    pub(super) fn attribute(self, name: &str) -> Result<Self, Mistake> {
        match self {
            Self::Object(mut items) => items.remove(name).ok_or_else(|| Mistake::NoElement {
                key: name.to_owned(),
            }),
            Self::Unknown(Type::Any | Type::Object) => Ok(Self::Unknown(Type::Any)),
            Self::Null => Err(Mistake::Null),
            other => Err(Mistake::NoElements {
                received: other.type_of(),
            }),
        }
    }

    /// Keys and elements, in the order in which `for` sees them; `None` where they are unknown.
    pub(super) fn into_elements(self) -> Result<Option<Vec<(Self, Self)>>, Mistake> {
        match self {
            Self::Tuple(items) => Ok(Some((0..).map(Self::Number).zip(items).collect())),
            Self::Object(items) => Ok(Some(
                items
                    .into_iter()
                    .map(|(key, value)| (Self::String(key), value))
                    .collect(),
            )),
            Self::Unknown(Type::Any | Type::Tuple | Type::Object) => Ok(None),
            Self::Null => Err(Mistake::Null),
            other => Err(Mistake::NoElements {
                received: other.type_of(),
            }),
        }
    }

    /// Whether two values are the same, types included; `None` where that is unknown.
    pub(super) fn same(&self, other: &Self) -> Option<bool> {
        match (self, other) {
            (Self::Unknown(_), _) | (_, Self::Unknown(_)) => None,
            (Self::Tuple(left), Self::Tuple(right)) if left.len() == right.len() => {
                all_same(left.iter().zip(right))
            }
            (Self::Object(left), Self::Object(right)) if left.keys().eq(right.keys()) => {
                all_same(left.values().zip(right.values()))
            }
            _ => Some(self == other),
        }
    }

    fn unlike(&self, expected: Type) -> Mistake {
        match self {
            Self::Null => Mistake::Null,
            other => Mistake::Type {
                expected,
                received: other.type_of(),
            },
        }
    }
}

fn all_same<'a>(pairs: impl Iterator<Item = (&'a Value, &'a Value)>) -> Option<bool> {
    let answers: Vec<_> = pairs.map(|(left, right)| left.same(right)).collect();
    if answers.contains(&Some(false)) {
        return Some(false);
    }
    (!answers.contains(&None)).then_some(true)
}
