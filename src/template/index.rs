//! Indices and attributes of literal tuples and objects.

use std::collections::BTreeMap;

use hcl::Value;
use hcl::edit::expr::{Expression, Object, ObjectKey, Traversal, TraversalOperator};

use super::construct::Construct;
use super::evaluate::{Evaluation, EvaluationError, refused};
use super::expression_error::ExpressionError;
use super::types::Type;
use super::value::Term;

/// The expression before an index.
enum Indexed {
    Term(Term),
    Tuple(Vec<Term>),
    Object(BTreeMap<String, Term>),
}

/// `.name` or `[…]`.
enum Key {
    Attribute(String),
    Index(Term),
}

impl Evaluation<'_> {
    pub(super) fn traversal(
        &mut self,
        traversal: &Traversal,
        place: &Expression,
    ) -> Result<Term, EvaluationError> {
        let mut value = self.indexed(&traversal.expr)?;
        for operator in &traversal.operators {
            let key = self.key(operator.value(), place)?;
            let element = value.element(key).map_err(|mistake| mistake.at(place))?;
            value = Indexed::Term(element);
        }
        match value {
            Indexed::Term(term) => Ok(term),
            _ => refused(Construct::Collection),
        }
    }

    fn indexed(&mut self, head: &Expression) -> Result<Indexed, EvaluationError> {
        match head {
            Expression::Parenthesis(inner) => self.indexed(inner.inner()),
            Expression::Array(items) => {
                let items: Result<_, _> = items.iter().map(|item| self.expression(item)).collect();
                items.map(Indexed::Tuple)
            }
            Expression::Object(items) => self.object(items),
            other => self.expression(other).map(Indexed::Term),
        }
    }

    fn object(&mut self, object: &Object) -> Result<Indexed, EvaluationError> {
        let mut items = Some(BTreeMap::new());
        for (key, value) in object.iter() {
            let key = self.object_key(key)?;
            let value = self.expression(value.expr())?;
            items = items.zip(key).map(|(mut items, key)| {
                items.insert(key, value);
                items
            });
        }
        // If one key is unknown, the whole object is unknown.
        let unknown = || Indexed::Term(Term::unknown(Type::Any));
        Ok(items.map_or_else(unknown, Indexed::Object))
    }

    fn object_key(&mut self, key: &ObjectKey) -> Result<Option<String>, EvaluationError> {
        let expression = match key {
            ObjectKey::Ident(name) => return Ok(Some(name.as_str().to_owned())),
            ObjectKey::Expression(Expression::Null(_)) => return Ok(Some("null".to_owned())),
            ObjectKey::Expression(expression) => expression,
        };
        if let Expression::Traversal(traversal) = expression
            && let Expression::Variable(_) = traversal.expr
        {
            return Err(ExpressionError::AmbiguousKey.at(expression).into());
        }
        let text = self.expression(expression)?.into_text();
        Ok(text.map_err(|mistake| mistake.at(expression))?)
    }

    fn key(
        &mut self,
        operator: &TraversalOperator,
        place: &Expression,
    ) -> Result<Key, EvaluationError> {
        match operator {
            TraversalOperator::GetAttr(name) => Ok(Key::Attribute(name.as_str().to_owned())),
            TraversalOperator::Index(index) => self.expression(index).map(Key::Index),
            TraversalOperator::LegacyIndex(index) => match i64::try_from(*index.value()) {
                Ok(index) => Ok(Key::Index(Term::known(index))),
                Err(_) => Err(ExpressionError::Number.at(place).into()),
            },
            TraversalOperator::AttrSplat(_) | TraversalOperator::FullSplat(_) => {
                refused(Construct::Splat)
            }
        }
    }
}

impl Indexed {
    /// The element with this key; unknown if the key or the collection is.
    fn element(self, key: Key) -> Result<Term, ExpressionError> {
        let unknown = || Term::unknown(Type::Any);
        match (self, key) {
            (Self::Term(term), _) if term.value == Some(Value::Null) => Err(ExpressionError::Null),
            (_, Key::Index(key)) if key.value == Some(Value::Null) => Err(ExpressionError::Null),
            (Self::Term(Term { of: Type::Any, .. }), _)
            | (_, Key::Index(Term { of: Type::Any, .. })) => Ok(unknown()),
            (Self::Term(term), _) => Err(ExpressionError::NoElements { received: term.of }),
            (Self::Tuple(_), Key::Attribute(_)) => Err(ExpressionError::NoAttributes),
            (Self::Tuple(items), Key::Index(key)) => {
                let Some(index) = key.into_number()? else {
                    return Ok(unknown());
                };
                let item = usize::try_from(index).ok();
                let item = item.and_then(|index| items.into_iter().nth(index));
                let key = index.to_string();
                item.ok_or(ExpressionError::NoElement { key })
            }
            (Self::Object(mut items), key) => {
                let key = match key {
                    Key::Attribute(name) => Some(name),
                    Key::Index(key) => key.into_text()?,
                };
                let Some(key) = key else {
                    return Ok(unknown());
                };
                items.remove(&key).ok_or(ExpressionError::NoElement { key })
            }
        }
    }
}
