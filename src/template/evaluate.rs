//! Evaluating a template as clients do: text of literals, interpolations and directives, and the values of expressions.

use hcl::edit::expr::{Array, Conditional, Expression};
use hcl::edit::template::{Directive, Element, Template};

use super::error::Problem;
use super::strip;
use super::symbol::Symbol;
use super::value::{Mistake, Type, Value};
use crate::address::ProviderAddr;
use crate::oci::repository_name::LONGEST;

/// The most steps of one evaluation: an expression, a turn of a loop and each copied value are one each. A text of 4 KiB has no
/// more than about 2,000 expressions; nested loops over tuples can have any number of turns.
const MOST_STEPS: usize = 20_000;
/// The most levels of expressions, so that the stack is enough for them. The parser allows 64 nested ones and 128 operators
/// in a row; an honest template has ten.
const MOST_LEVELS: usize = 100;

/// What the symbols stand for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Given<'p> {
    /// Any string: only types are looked at.
    Unknown,
    /// The clients' placeholder.
    Placeholder,
    /// A provider.
    Provider(&'p ProviderAddr),
}

/// The value of a whole template.
pub(super) fn evaluate(template: &Template, given: Given<'_>) -> Result<Value, Problem> {
    let elements: Vec<_> = template.iter().collect();
    Evaluation::new(given).template(&elements)
}

/// The first problem of each element of a template.
pub(super) fn problems(template: &Template, given: Given<'_>) -> Vec<Problem> {
    let elements: Vec<_> = template.iter().collect();
    if let [_] = elements.as_slice() {
        return evaluate(template, given).err().into_iter().collect();
    }
    elements
        .into_iter()
        .filter_map(|element| Evaluation::new(given).element(element).err())
        .collect()
}

/// One evaluation: what names stand for, and how much work has been done.
pub(super) struct Evaluation<'a> {
    given: Given<'a>,
    /// The variables of the loops around the place that is being evaluated, innermost last.
    pub(super) locals: Vec<(&'a str, Value)>,
    steps: usize,
    levels: usize,
}

impl<'a> Evaluation<'a> {
    fn new(given: Given<'a>) -> Self {
        Self {
            given,
            locals: Vec::new(),
            steps: 0,
            levels: 0,
        }
    }

    /// Does work, unless it is too much.
    pub(super) fn spend(&mut self, steps: usize) -> Result<(), Problem> {
        self.steps += steps;
        if self.steps > MOST_STEPS {
            return Err(Problem::Whole(Mistake::TooMuchWork));
        }
        Ok(())
    }

    /// Does something one level deeper, unless that is too deep.
    pub(super) fn deeper<T>(
        &mut self,
        act: impl FnOnce(&mut Self) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        if self.levels == MOST_LEVELS {
            return Err(Problem::Whole(Mistake::TooMuchWork));
        }
        self.levels += 1;
        let result = act(self);
        self.levels -= 1;
        result
    }

    /// The value of an expression.
    pub(super) fn expression(&mut self, expression: &'a Expression) -> Result<Value, Problem> {
        self.spend(1)?;
        self.deeper(|this| match expression {
            Expression::Null(_) => Ok(Value::Null),
            Expression::Bool(value) => Ok(Value::Bool(*value.value())),
            Expression::Number(value) => value
                .value()
                .as_i64()
                .map(Value::Number)
                .ok_or_else(|| Mistake::Number.at(expression)),
            Expression::String(text) => {
                Value::string(text.value()).map_err(|mistake| mistake.at(expression))
            }
            Expression::Array(items) => this.tuple(items),
            Expression::Object(items) => this.object(items),
            Expression::StringTemplate(template) => {
                this.template(&template.iter().collect::<Vec<_>>())
            }
            Expression::HeredocTemplate(heredoc) => {
                this.template(&heredoc.template.iter().collect::<Vec<_>>())
            }
            Expression::Parenthesis(inner) => this.expression(inner.inner()),
            Expression::Variable(name) => this.variable(name.as_str(), expression),
            Expression::Conditional(conditional) => this.conditional(conditional, expression),
            Expression::FuncCall(call) => Err(Problem::Function {
                name: super::references::function_name(&call.name),
            }),
            Expression::Traversal(traversal) => this.traversal(traversal, expression),
            Expression::UnaryOp(operation) => this.unary(operation),
            Expression::BinaryOp(operation) => this.binary(operation, expression),
            Expression::ForExpr(each) => this.for_expression(each, expression),
        })
    }

    fn variable(&mut self, name: &str, place: &Expression) -> Result<Value, Problem> {
        if let Some((_, value)) = self.locals.iter().rfind(|(local, _)| *local == name) {
            let value = value.clone();
            self.spend(value.size())?;
            return Ok(value);
        }
        let symbol = Symbol::named(name).ok_or_else(|| Problem::Symbol {
            name: name.to_owned(),
        })?;
        match self.given {
            Given::Unknown => Ok(Value::Unknown(Type::String)),
            Given::Placeholder => Ok(Value::String(symbol.placeholder().to_owned())),
            Given::Provider(provider) => {
                Value::string(symbol.of(provider)).map_err(|mistake| mistake.at(place))
            }
        }
    }

    fn tuple(&mut self, items: &'a Array) -> Result<Value, Problem> {
        let items: Result<_, _> = items.iter().map(|item| self.expression(item)).collect();
        items.map(Value::Tuple)
    }

    fn conditional(
        &mut self,
        conditional: &'a Conditional,
        place: &Expression,
    ) -> Result<Value, Problem> {
        let yes = self.expression(&conditional.true_expr);
        let no = self.expression(&conditional.false_expr);
        let common = common_type(&yes, &no).map_err(|mistake| mistake.at(place))?;
        let chosen = match self.condition(&conditional.cond_expr)? {
            Some(true) => yes?,
            Some(false) => no?,
            None => return Ok(Value::Unknown(common)),
        };
        if common == Type::String && chosen != Value::Null {
            return chosen
                .into_text()
                .map(text_or_unknown)
                .map_err(|mistake| mistake.at(place));
        }
        Ok(chosen)
    }

    /// Whether a condition holds; `None` where that is unknown.
    pub(super) fn condition(&mut self, condition: &'a Expression) -> Result<Option<bool>, Problem> {
        self.expression(condition)?
            .into_bool()
            .map_err(|mistake| mistake.at(condition))
    }

    /// The value of a template: that of its expression if it is a single interpolation, else text.
    fn template(&mut self, elements: &[&'a Element]) -> Result<Value, Problem> {
        match elements {
            [Element::Interpolation(only)] => self.expression(&only.expr),
            _ => self.text(elements, (false, false)).map(text_or_unknown),
        }
    }

    /// The text of a template between two markers, which may eat white space; `None` where it is unknown.
    fn text(
        &mut self,
        elements: &[&'a Element],
        (eaten_before, eaten_behind): (bool, bool),
    ) -> Result<Option<String>, Problem> {
        let mut text = Some(String::new());
        let mut eaten = eaten_before;
        let mut rest = elements.iter().peekable();
        while let Some(element) = rest.next() {
            let eaten_next = rest.peek().map_or(eaten_behind, |next| strip::of(next).0);
            let part = match element {
                Element::Literal(literal) => {
                    Some(strip::literal(literal.value(), eaten, eaten_next))
                }
                other => self.element(other)?,
            };
            eaten = strip::of(element).1;
            text = within_bounds(text.zip(part).map(|(text, part)| text + &part))?;
        }
        Ok(text)
    }

    /// The text of an interpolation or directive; `None` where it is unknown.
    fn element(&mut self, element: &'a Element) -> Result<Option<String>, Problem> {
        let directive = match element {
            Element::Literal(literal) => return Ok(Some(literal.value().clone())),
            Element::Interpolation(interpolation) => {
                let value = self.expression(&interpolation.expr)?;
                // Clients do not look at the type of what is unknown here.
                return match value {
                    Value::Unknown(_) => Ok(None),
                    known => known
                        .into_text()
                        .map_err(|mistake| mistake.at(&interpolation.expr)),
                };
            }
            Element::Directive(directive) => directive.as_ref(),
        };
        match directive {
            Directive::If(choice) => {
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
            Directive::For(each) => {
                let head = &each.for_expr;
                let edges = (head.strip.strip_end(), each.endfor_expr.strip.strip_start());
                let variables = (head.key_var.as_ref(), &head.value_var);
                let turns = self.turns(&head.collection_expr)?;
                let parts =
                    self.each_turn(turns, variables, |this| this.branch(&head.template, edges))?;
                let text = parts.and_then(|parts| parts.into_iter().collect::<Option<String>>());
                within_bounds(text)
            }
        }
    }

    fn branch(
        &mut self,
        template: &'a Template,
        edges: (bool, bool),
    ) -> Result<Option<String>, Problem> {
        let elements: Vec<_> = template.iter().collect();
        self.text(&elements, edges)
    }
}

fn within_bounds(text: Option<String>) -> Result<Option<String>, Problem> {
    match text {
        Some(text) if text.len() > LONGEST => Err(Problem::Whole(Mistake::TooLong)),
        sound => Ok(sound),
    }
}

fn text_or_unknown(text: Option<String>) -> Value {
    text.map_or(Value::Unknown(Type::String), Value::String)
}

/// The type of a conditional's result. A result that has no value can still become of any type.
fn common_type(yes: &Result<Value, Problem>, no: &Result<Value, Problem>) -> Result<Type, Mistake> {
    let type_of =
        |result: &Result<Value, Problem>| result.as_ref().map_or(Type::Any, Value::type_of);
    match (type_of(yes), type_of(no)) {
        (Type::Any, other) | (other, Type::Any) => Ok(other),
        (left, right) if left == right => Ok(left),
        (Type::String, Type::Bool | Type::Number) | (Type::Bool | Type::Number, Type::String) => {
            Ok(Type::String)
        }
        (yes, no) => Err(Mistake::Inconsistent { yes, no }),
    }
}
