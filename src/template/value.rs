//! Values of expressions, which may be unknown, and the clients' conversions between types ([clients:
//! templates](crate::clients#template-checks)).
//!
//! The type of a value may be known while the value is not, so evaluating a template with three unknown strings checks its types.

use hcl::Value;

use super::expression_error::ExpressionError;
use super::types::Type;

/// The type of an expression, and its value unless that depends on an unknown symbol.
#[derive(Clone, Debug)]
pub(super) struct Term {
    pub of: Type,
    pub value: Option<Value>,
}

impl Term {
    pub(super) fn known(value: impl Into<Value>) -> Self {
        let value = value.into();
        let of = match &value {
            Value::Bool(_) => Type::Bool,
            Value::Number(_) => Type::Number,
            Value::String(_) => Type::String,
            // `null` fits every type. Tuples and objects never become terms.
            _ => Type::Any,
        };
        Self {
            of,
            value: Some(value),
        }
    }

    pub(super) fn unknown(of: Type) -> Self {
        Self { of, value: None }
    }

    pub(super) fn text_or_unknown(text: Option<String>) -> Self {
        text.map_or(Self::unknown(Type::String), Self::known)
    }

    /// Whether this is a literal `null`, which has no type yet.
    pub(super) fn is_untyped_null(&self) -> bool {
        self.of == Type::Any && self.value == Some(Value::Null)
    }

    /// Whether two terms cannot be equal because their types differ. Values may be unknown. `null` has no type.
    pub(super) fn differs_in_type(&self, other: &Self) -> bool {
        let is_typed = |term: &Self| term.of != Type::Any && term.value != Some(Value::Null);
        let is_known = self.value.is_some() || other.value.is_some();
        is_known && is_typed(self) && is_typed(other) && self.of != other.of
    }

    /// Converts to text; `None` if it is unknown.
    pub(super) fn into_text(self) -> Result<Option<String>, ExpressionError> {
        match self.value {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(Value::Bool(value)) => Ok(Some(value.to_string())),
            Some(Value::Number(value)) => Ok(Some(value.to_string())),
            Some(_) => Err(ExpressionError::Null),
        }
    }

    /// Converts to a number; `None` if it is unknown.
    pub(super) fn into_number(self) -> Result<Option<i64>, ExpressionError> {
        match (self.of, self.value) {
            (_, Some(Value::Null)) => Err(ExpressionError::Null),
            (_, Some(Value::Number(value))) => {
                value.as_i64().map(Some).ok_or(ExpressionError::Number)
            }
            (_, Some(Value::String(text))) => match text.parse() {
                Ok(value) => Ok(Some(value)),
                Err(_) => Err(ExpressionError::Text {
                    expected: Type::Number,
                    text,
                }),
            },
            (Type::Bool, _) => Err(ExpressionError::Type {
                expected: Type::Number,
                received: Type::Bool,
            }),
            _ => Ok(None),
        }
    }

    /// Converts to a bool; `None` if it is unknown.
    pub(super) fn into_bool(self) -> Result<Option<bool>, ExpressionError> {
        match (self.of, self.value) {
            (_, Some(Value::Null)) => Err(ExpressionError::Null),
            (_, Some(Value::Bool(value))) => Ok(Some(value)),
            (_, Some(Value::String(text))) => match text.as_str() {
                "true" | "1" => Ok(Some(true)),
                "false" | "0" => Ok(Some(false)),
                _ => Err(ExpressionError::Text {
                    expected: Type::Bool,
                    text,
                }),
            },
            (Type::Number, _) => Err(ExpressionError::Type {
                expected: Type::Bool,
                received: Type::Number,
            }),
            _ => Ok(None),
        }
    }

    /// Converts to the common type of a conditional's branches.
    pub(super) fn into_common(self, of: Type) -> Result<Self, ExpressionError> {
        match self.value {
            Some(Value::Null) | None => Ok(Self { of, ..self }),
            Some(_) if of == Type::String => self.into_text().map(Self::text_or_unknown),
            Some(_) => Ok(self),
        }
    }
}
