//! Evaluates the part of HCL that templates of repositories use: text, symbols and conditions.
//!
//! An expression is text or a condition, whatever the values of the symbols are, and both branches of a choice are evaluated. A template that
//! has a value for one provider therefore has a value for every provider. Clients compute the same value.

use std::collections::BTreeSet;

use hcl_edit::expr::{BinaryOp, Expression};
use hcl_edit::expr::{BinaryOperator, UnaryOperator};
use hcl_edit::template::{Directive, Element, IfDirective, Strip};

use super::error::TemplateProblem;
use super::symbol::Symbol;

/// The deepest accepted nesting of expressions, which the stack can hold. The parser alone allows 64 nested expressions and 128 operators
/// in a row, in each quoted text.
const MOST_LEVELS: usize = 200;

/// The value of an expression.
#[derive(PartialEq)]
enum Value {
    Condition(bool),
    Text(String),
}

/// An evaluation for one provider.
pub(super) struct Evaluation<'a> {
    value_of: &'a dyn Fn(Symbol) -> &'a str,
    /// The symbols that occurred.
    pub symbols: BTreeSet<Symbol>,
    levels: usize,
}

type Result<T> = std::result::Result<T, TemplateProblem>;

impl<'a> Evaluation<'a> {
    pub(super) fn new(value_of: &'a dyn Fn(Symbol) -> &'a str) -> Self {
        Self {
            value_of,
            symbols: BTreeSet::new(),
            levels: 0,
        }
    }

    /// The text of elements. Markers that strip white space are refused: no name of a repository has any.
    pub(super) fn text<'t>(
        &mut self,
        elements: impl IntoIterator<Item = &'t Element>,
    ) -> Result<String> {
        let mut text = String::new();
        for element in elements {
            match element {
                Element::Literal(literal) => text.push_str(literal.value()),
                Element::Interpolation(only) => {
                    unmarked([only.strip])?;
                    match self.value(&only.expr)? {
                        Value::Text(value) => text.push_str(&value),
                        Value::Condition(value) => text.push_str(&value.to_string()),
                    }
                }
                Element::Directive(directive) => match directive.as_ref() {
                    Directive::If(choice) => text.push_str(&self.choice(choice)?),
                    Directive::For(_) => return Err(refused("%{ for }")),
                },
            }
        }
        Ok(text)
    }

    fn choice(&mut self, choice: &IfDirective) -> Result<String> {
        unmarked([choice.if_expr.strip, choice.endif_expr.strip])?;
        let is_met = self.condition(&choice.if_expr.cond_expr)?;
        let yes = self.text(choice.if_expr.template.iter())?;
        let no = match &choice.else_expr {
            Some(other) => {
                unmarked([other.strip])?;
                self.text(other.template.iter())?
            }
            None => String::new(),
        };
        Ok(if is_met { yes } else { no })
    }

    fn condition(&mut self, expression: &Expression) -> Result<bool> {
        match self.value(expression)? {
            Value::Condition(is_met) => Ok(is_met),
            Value::Text(_) => Err(refused(expression)),
        }
    }

    fn value(&mut self, expression: &Expression) -> Result<Value> {
        if self.levels == MOST_LEVELS {
            return Err(TemplateProblem::TooLarge);
        }
        self.levels += 1;
        let value = self.within_limits(expression);
        self.levels -= 1;
        value
    }

    fn within_limits(&mut self, expression: &Expression) -> Result<Value> {
        match expression {
            Expression::Bool(value) => Ok(Value::Condition(*value.value())),
            Expression::String(text) => Ok(Value::Text(text.value().clone())),
            Expression::Variable(name) => {
                let symbol = TemplateProblem::symbol(name.as_str())?;
                self.symbols.insert(symbol);
                Ok(Value::Text((self.value_of)(symbol).to_owned()))
            }
            Expression::Parenthesis(inner) => self.value(inner.inner()),
            Expression::StringTemplate(template) => {
                let mut elements = template.iter();
                match (elements.next(), elements.next()) {
                    // Clients do not convert it to text.
                    (Some(Element::Interpolation(only)), None) => self.value(&only.expr),
                    _ => self.text(template).map(Value::Text),
                }
            }
            Expression::Conditional(choice) => {
                let is_met = self.condition(&choice.cond_expr)?;
                let branches = (&choice.true_expr, &choice.false_expr);
                let (yes, no) = self.alike(branches, expression)?;
                Ok(if is_met { yes } else { no })
            }
            Expression::UnaryOp(not) if *not.operator.value() == UnaryOperator::Not => {
                Ok(Value::Condition(!self.condition(&not.expr)?))
            }
            Expression::BinaryOp(operation) => self.binary(operation, expression),
            _ => Err(refused(expression)),
        }
    }

    fn binary(&mut self, operation: &BinaryOp, place: &Expression) -> Result<Value> {
        use BinaryOperator::{And, Eq, NotEq, Or};
        let operands = (&operation.lhs_expr, &operation.rhs_expr);
        let operator = *operation.operator.value();
        let is_met = match operator {
            Eq | NotEq => {
                let (left, right) = self.alike(operands, place)?;
                (left == right) == (operator == Eq)
            }
            And => self.condition(operands.0)? & self.condition(operands.1)?,
            Or => self.condition(operands.0)? | self.condition(operands.1)?,
            _ => return Err(refused(place)),
        };
        Ok(Value::Condition(is_met))
    }

    /// Two values. Clients convert one of them unless both are text, or both are conditions; tfoci refuses that.
    fn alike(
        &mut self,
        (one, other): (&Expression, &Expression),
        place: &Expression,
    ) -> Result<(Value, Value)> {
        match (self.value(one)?, self.value(other)?) {
            (one @ Value::Text(_), other @ Value::Text(_)) => Ok((one, other)),
            (one @ Value::Condition(_), other @ Value::Condition(_)) => Ok((one, other)),
            _ => Err(refused(place)),
        }
    }
}

fn refused(part: impl ToString) -> TemplateProblem {
    TemplateProblem::Refused {
        part: part.to_string().trim().to_owned(),
    }
}

fn unmarked<const N: usize>(strips: [Strip; N]) -> Result<()> {
    match strips.iter().all(|strip| *strip == Strip::None) {
        true => Ok(()),
        false => Err(refused("~")),
    }
}
