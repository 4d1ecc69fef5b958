//! Evaluates templates as clients do: symbols, conversions and conditionals. [`hcl::eval`] evaluates operators, whose operands are known
//! and have the right types.

use hcl::Value;
use hcl::edit::expr::{BinaryOp, Conditional, Expression, UnaryOp};
use hcl::edit::template::{Directive, Element, IfDirective, Template};
use hcl::eval::{Context, Evaluate as _};
use hcl::expr::{BinaryOperator, Operation, UnaryOperator};

use super::construct::Construct;
use super::expression_error::ExpressionError;
use super::problem::TemplateProblem;
use super::symbol::Symbol;
use super::types::Type;
use super::value::Term;
use super::{nesting, strip};
use crate::address::ProviderAddr;

/// The values of the symbols.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bindings<'p> {
    /// Unknown strings, to check types only.
    Unknown,
    /// The clients' placeholder address.
    Placeholder,
    /// The provider whose repository is wanted.
    Provider(&'p ProviderAddr),
}

/// The text of a whole template; `None` if it is unknown.
pub(super) fn evaluate(
    template: &Template,
    bindings: Bindings<'_>,
) -> Result<Option<String>, TemplateProblem> {
    let elements: Vec<_> = template.iter().collect();
    let whole = Evaluation::new(bindings).template(&elements)?;
    whole.into_text().map_err(TemplateProblem::Whole)
}

/// The first problem of each element of a template.
pub(super) fn problems(template: &Template, bindings: Bindings<'_>) -> Vec<TemplateProblem> {
    let elements: Vec<_> = template.iter().collect();
    if let [_] = elements.as_slice() {
        return evaluate(template, bindings).err().into_iter().collect();
    }
    let problem = |element| Evaluation::new(bindings).element(element).err();
    let failures = elements.into_iter().filter_map(problem);
    failures.map(TemplateProblem::from).collect()
}

/// An expression that has no value. Its type may be known nevertheless, and must fit the other branch of a conditional.
#[derive(Debug)]
pub(super) struct EvaluationError {
    of: Type,
    problem: TemplateProblem,
}

impl From<TemplateProblem> for EvaluationError {
    fn from(problem: TemplateProblem) -> Self {
        let of = Type::Any;
        Self { of, problem }
    }
}

impl From<EvaluationError> for TemplateProblem {
    fn from(failure: EvaluationError) -> Self {
        failure.problem
    }
}

/// Adds the type of the expression to its failure.
fn typed<T>(of: Type, result: Result<T, EvaluationError>) -> Result<T, EvaluationError> {
    result.map_err(|failure| EvaluationError { of, ..failure })
}

pub(super) fn refused<T>(construct: Construct) -> Result<T, EvaluationError> {
    Err(TemplateProblem::from(construct).into())
}

/// The state of an evaluation: the values of symbols, and the current depth.
pub(super) struct Evaluation<'a> {
    bindings: Bindings<'a>,
    levels: usize,
}

impl<'a> Evaluation<'a> {
    fn new(bindings: Bindings<'a>) -> Self {
        Self {
            bindings,
            levels: 0,
        }
    }

    pub(super) fn expression(&mut self, expression: &Expression) -> Result<Term, EvaluationError> {
        if self.levels == nesting::MOST_LEVELS {
            return Err(TemplateProblem::Whole(ExpressionError::TooDeep).into());
        }
        self.levels += 1;
        let result = self.within_limits(expression);
        self.levels -= 1;
        result
    }

    fn within_limits(&mut self, expression: &Expression) -> Result<Term, EvaluationError> {
        match expression {
            Expression::Null(_) => Ok(Term::known(Value::Null)),
            Expression::Bool(value) => Ok(Term::known(*value.value())),
            Expression::Number(number) => {
                let whole = number.value().as_i64().map(Term::known);
                Ok(whole.ok_or_else(|| ExpressionError::Number.at(expression))?)
            }
            Expression::String(text) => Ok(Term::known(text.value().as_str())),
            Expression::StringTemplate(template) => {
                self.template(&template.iter().collect::<Vec<_>>())
            }
            Expression::Parenthesis(inner) => self.expression(inner.inner()),
            Expression::Variable(name) => Ok(self.symbol(name.as_str())?),
            Expression::Conditional(conditional) => self.conditional(conditional, expression),
            Expression::Traversal(traversal) => self.traversal(traversal, expression),
            Expression::UnaryOp(operation) => typed(Type::Bool, self.unary(operation)),
            Expression::BinaryOp(operation) => {
                typed(Type::Bool, self.binary(operation, expression))
            }
            // `construct` refuses templates that contain one of these.
            Expression::Array(_) | Expression::Object(_) => refused(Construct::Collection),
            Expression::HeredocTemplate(_) => refused(Construct::Heredoc),
            Expression::FuncCall(call) => refused(Construct::function(call)),
            Expression::ForExpr(_) => refused(Construct::For),
        }
    }

    fn symbol(&self, name: &str) -> Result<Term, TemplateProblem> {
        let symbol = Symbol::named(name).ok_or_else(|| TemplateProblem::Symbol {
            name: name.to_owned(),
        })?;
        Ok(match self.bindings {
            Bindings::Unknown => Term::unknown(Type::String),
            Bindings::Placeholder => Term::known(symbol.placeholder()),
            Bindings::Provider(provider) => Term::known(symbol.of(provider)),
        })
    }

    /// Evaluates both branches for their types, and ignores errors of the branch that is not selected.
    fn conditional(
        &mut self,
        conditional: &Conditional,
        place: &Expression,
    ) -> Result<Term, EvaluationError> {
        let yes = self.expression(&conditional.true_expr);
        let no = self.expression(&conditional.false_expr);
        let of = common_type(&yes, &no).map_err(|mistake| mistake.at(place))?;
        let chosen = match typed(of, self.condition(&conditional.cond_expr))? {
            Some(true) => typed(of, yes)?,
            Some(false) => typed(of, no)?,
            None => return Ok(Term::unknown(of)),
        };
        let converted = chosen.into_common(of);
        Ok(converted.map_err(|mistake| mistake.at(place))?)
    }

    /// The value of a condition; `None` if it is unknown.
    fn condition(&mut self, condition: &Expression) -> Result<Option<bool>, EvaluationError> {
        let known = self.expression(condition)?.into_bool();
        Ok(known.map_err(|mistake| mistake.at(condition))?)
    }

    fn unary(&mut self, operation: &UnaryOp) -> Result<Term, EvaluationError> {
        if *operation.operator.value() == UnaryOperator::Neg {
            return refused(Construct::Arithmetic);
        }
        let known = self.condition(&operation.expr)?;
        Ok(known.map_or(Term::unknown(Type::Bool), |value| Term::known(!value)))
    }

    fn binary(
        &mut self,
        operation: &BinaryOp,
        place: &Expression,
    ) -> Result<Term, EvaluationError> {
        use BinaryOperator::{And, Eq, Greater, GreaterEq, Less, LessEq, NotEq, Or};
        let (left, right) = (&operation.lhs_expr, &operation.rhs_expr);
        let operator = *operation.operator.value();
        let operands = match operator {
            And | Or => return self.logic(operation, place),
            Eq | NotEq => {
                let (left, right) = (self.expression(left), self.expression(right));
                let (left, right) = (left?, right?);
                if left.differs_in_type(&right) {
                    return Ok(Term::known(operator == NotEq));
                }
                left.value.zip(right.value)
            }
            Less | LessEq | Greater | GreaterEq => {
                let (left, right) = (self.number(left), self.number(right));
                left?.map(Value::from).zip(right?.map(Value::from))
            }
            _ => return refused(Construct::Arithmetic),
        };
        compute(operands, operator, place)
    }

    /// A numeric operand; `None` if it is unknown.
    fn number(&mut self, operand: &Expression) -> Result<Option<i64>, EvaluationError> {
        let number = self.expression(operand)?.into_number();
        Ok(number.map_err(|mistake| mistake.at(operand))?)
    }

    /// Evaluates `&&` and `||`. An operand with the decisive value decides, even if the other operand has an error. Clients treat
    /// `null` as `false` here, and fail if it does not decide.
    fn logic(&mut self, operation: &BinaryOp, place: &Expression) -> Result<Term, EvaluationError> {
        let operator = *operation.operator.value();
        let decisive = operator == BinaryOperator::Or;
        let decides = |operand: &Operand| {
            let known = operand.as_ref().ok().and_then(Option::as_ref);
            known.is_some_and(|value| (*value == Value::Bool(true)) == decisive)
        };
        let left = self.operand(&operation.lhs_expr);
        let right = self.operand(&operation.rhs_expr);
        match (left?, right?) {
            (left, right) if decides(&left) || decides(&right) => Ok(Term::known(decisive)),
            // Clients do not evaluate the other operand in this case.
            (Ok(None), _) => Ok(Term::unknown(Type::Bool)),
            (left, right) => compute(left?.zip(right?), operator, place),
        }
    }

    /// Evaluates an operand. An operand of the wrong type is always an error, so this does not depend on the other operand.
    fn operand(&mut self, operand: &Expression) -> Result<Operand, EvaluationError> {
        let term = match self.expression(operand) {
            Ok(term) if term.value == Some(Value::Null) => return Ok(Ok(term.value)),
            Ok(term) => term,
            Err(failure) => return Ok(Err(failure)),
        };
        match term.into_bool() {
            Ok(known) => Ok(Ok(known.map(Value::Bool))),
            Err(mistake) => Err(mistake.at(operand).into()),
        }
    }

    /// The value of a template. A template that is a single interpolation has the value of its expression; any other is text.
    fn template(&mut self, elements: &[&Element]) -> Result<Term, EvaluationError> {
        match elements {
            [Element::Interpolation(only)] => self.expression(&only.expr),
            _ => {
                let text = typed(Type::String, self.text(elements, (false, false)));
                text.map(Term::text_or_unknown)
            }
        }
    }

    /// The text of a template between two markers, which may strip white space; `None` if it is unknown.
    fn text(
        &mut self,
        elements: &[&Element],
        (stripped_before, stripped_behind): (bool, bool),
    ) -> Result<Option<String>, EvaluationError> {
        let mut text = Some(String::new());
        let mut stripped = stripped_before;
        let mut rest = elements.iter().peekable();
        while let Some(element) = rest.next() {
            let next = rest.peek();
            let stripped_next = next.map_or(stripped_behind, |next| strip::of(next).0);
            let part = match element {
                Element::Literal(literal) => {
                    Some(strip::literal(literal.value(), stripped, stripped_next))
                }
                other => self.element(other)?,
            };
            stripped = strip::of(element).1;
            text = text.zip(part).map(|(text, part)| text + &part);
        }
        Ok(text)
    }

    /// The text of an interpolation or directive; `None` if it is unknown.
    fn element(&mut self, element: &Element) -> Result<Option<String>, EvaluationError> {
        match element {
            Element::Literal(literal) => Ok(Some(literal.value().clone())),
            Element::Interpolation(interpolation) => {
                let text = self.expression(&interpolation.expr)?.into_text();
                Ok(text.map_err(|mistake| mistake.at(&interpolation.expr))?)
            }
            Element::Directive(directive) => match directive.as_ref() {
                Directive::If(choice) => self.choice(choice),
                Directive::For(_) => refused(Construct::For),
            },
        }
    }

    /// The text of `%{ if }`, whose branches are evaluated like those of a conditional.
    fn choice(&mut self, choice: &IfDirective) -> Result<Option<String>, EvaluationError> {
        let edges = strip::inside_if(choice);
        let yes = self.branch(&choice.if_expr.template, edges.0);
        let no = match &choice.else_expr {
            Some(other) => self.branch(&other.template, edges.1),
            None => Ok(Some(String::new())),
        };
        match self.condition(&choice.if_expr.cond_expr)? {
            Some(true) => yes,
            Some(false) => no,
            None => Ok(None),
        }
    }

    fn branch(
        &mut self,
        template: &Template,
        edges: (bool, bool),
    ) -> Result<Option<String>, EvaluationError> {
        let elements: Vec<_> = template.iter().collect();
        self.text(&elements, edges)
    }
}

/// An operand of `&&` or `||`: its value, `None` if it is unknown, or an error that the other operand may make irrelevant.
type Operand = Result<Option<Value>, EvaluationError>;

/// Evaluates an operator with known operands.
fn compute(
    operands: Option<(Value, Value)>,
    operator: BinaryOperator,
    place: &Expression,
) -> Result<Term, EvaluationError> {
    let Some((left, right)) = operands else {
        return Ok(Term::unknown(Type::Bool));
    };
    let operation = Operation::from(hcl::expr::BinaryOp::new(left, operator, right));
    let value = operation.evaluate(&Context::new());
    let value = value.map_err(|error| ExpressionError::Operation { error }.at(place))?;
    Ok(Term::known(value))
}

/// The type of a conditional. The selected branch is converted to it.
fn common_type(
    yes: &Result<Term, EvaluationError>,
    no: &Result<Term, EvaluationError>,
) -> Result<Type, ExpressionError> {
    let is_null =
        |branch: &Result<Term, EvaluationError>| branch.as_ref().is_ok_and(Term::is_untyped_null);
    let type_of = |branch: &Result<Term, EvaluationError>| match branch {
        Ok(term) => term.of,
        Err(failure) => failure.of,
    };
    match (type_of(yes), type_of(no)) {
        (_, no) if is_null(yes) => Ok(no),
        (yes, _) if is_null(no) => Ok(yes),
        (Type::Any, _) | (_, Type::Any) => Ok(Type::Any),
        (yes, no) if yes == no => Ok(yes),
        (Type::String, _) | (_, Type::String) => Ok(Type::String),
        (yes, no) => Err(ExpressionError::Inconsistent { yes, no }),
    }
}
