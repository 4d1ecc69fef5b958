//! Operators: logic, comparison and arithmetic of whole numbers.

use hcl::edit::expr::{BinaryOp, BinaryOperator, Expression, UnaryOp, UnaryOperator};

use super::error::Problem;
use super::evaluate::Evaluation;
use super::value::{Mistake, Type, Value};

impl<'a> Evaluation<'a> {
    pub(super) fn unary(&mut self, operation: &'a UnaryOp) -> Result<Value, Problem> {
        let value = self.expression(&operation.expr)?;
        match operation.operator.value() {
            UnaryOperator::Not => value
                .into_bool()
                .map(|known| bool_or_unknown(known.map(|value| !value))),
            UnaryOperator::Neg => value.into_number().and_then(|known| {
                let negated = known.map(|value| value.checked_neg().ok_or(Mistake::Number));
                negated.transpose().map(number_or_unknown)
            }),
        }
        .map_err(|mistake| mistake.at(&operation.expr))
    }

    pub(super) fn binary(
        &mut self,
        operation: &'a BinaryOp,
        place: &Expression,
    ) -> Result<Value, Problem> {
        let left = self.expression(&operation.lhs_expr);
        let right = self.expression(&operation.rhs_expr);
        let operator = *operation.operator.value();
        match operator {
            BinaryOperator::And | BinaryOperator::Or => {
                let left = operand(left, &operation.lhs_expr)?;
                let right = operand(right, &operation.rhs_expr)?;
                logic(left, right, operator == BinaryOperator::Or)
            }
            BinaryOperator::Eq => Ok(bool_or_unknown(left?.same(&right?))),
            BinaryOperator::NotEq => Ok(bool_or_unknown(left?.same(&right?).map(|same| !same))),
            _ => {
                let read = |value: Value, side: &Expression| {
                    value.into_number().map_err(|mistake| mistake.at(side))
                };
                let left = read(left?, &operation.lhs_expr)?;
                let right = read(right?, &operation.rhs_expr)?;
                calculate(left, operator, right).map_err(|mistake| mistake.at(place))
            }
        }
    }
}

/// Whether an operand is known, unknown, or has a problem that the other operand may make irrelevant.
type Operand = Result<Option<bool>, Problem>;

/// An operand of the wrong type is wrong whatever the other one says.
fn operand(value: Result<Value, Problem>, place: &Expression) -> Result<Operand, Problem> {
    match value.map(Value::into_bool) {
        Ok(Err(mistake)) => Err(mistake.at(place)),
        Ok(Ok(known)) => Ok(Ok(known)),
        Err(problem) => Ok(Err(problem)),
    }
}

/// `&&` and `||`: one operand with the decisive value decides, even if the other has no value.
fn logic(left: Operand, right: Operand, decisive: bool) -> Result<Value, Problem> {
    match (left, right) {
        (Ok(Some(value)), _) | (_, Ok(Some(value))) if value == decisive => {
            Ok(Value::Bool(decisive))
        }
        // What a client does not get to see, it does not refuse.
        (Ok(None), _) => Ok(Value::Unknown(Type::Bool)),
        (left, right) => Ok(bool_or_unknown(left?.and(right?))),
    }
}

fn calculate(
    left: Option<i64>,
    operator: BinaryOperator,
    right: Option<i64>,
) -> Result<Value, Mistake> {
    use BinaryOperator::{Div, Greater, GreaterEq, Less, LessEq, Minus, Mod, Mul, Plus};
    let is_comparison = matches!(operator, Less | LessEq | Greater | GreaterEq);
    let Some((left, right)) = left.zip(right) else {
        let of = if is_comparison {
            Type::Bool
        } else {
            Type::Number
        };
        return Ok(Value::Unknown(of));
    };
    let number = match operator {
        Less => return Ok(Value::Bool(left < right)),
        LessEq => return Ok(Value::Bool(left <= right)),
        Greater => return Ok(Value::Bool(left > right)),
        GreaterEq => return Ok(Value::Bool(left >= right)),
        Plus => left.checked_add(right),
        Minus => left.checked_sub(right),
        Mul => left.checked_mul(right),
        Div if left.checked_rem(right) == Some(0) => left.checked_div(right),
        // Clients leave the dividend as it is.
        Mod if right == 0 => Some(left),
        Mod => left.checked_rem(right),
        _ => None,
    };
    number.map(Value::Number).ok_or(Mistake::Number)
}

fn bool_or_unknown(value: Option<bool>) -> Value {
    value.map_or(Value::Unknown(Type::Bool), Value::Bool)
}

fn number_or_unknown(value: Option<i64>) -> Value {
    value.map_or(Value::Unknown(Type::Number), Value::Number)
}
