//! Tuples and objects: making them, reaching into them, and walking over them.

use std::collections::BTreeMap;

use hcl::edit::expr::{Expression, ForExpr, Object, ObjectKey, Traversal, TraversalOperator};
use hcl::edit::{Decorated, Ident};

use super::error::Problem;
use super::evaluate::Evaluation;
use super::value::{Mistake, Type, Value};

/// The variables of a loop: that of the key, where there is one, and that of the value.
pub(super) type Variables<'a> = (Option<&'a Decorated<Ident>>, &'a Decorated<Ident>);

/// The keys and values over which a loop goes; `None` where they are unknown.
pub(super) type Turns = Option<Vec<(Value, Value)>>;

impl<'a> Evaluation<'a> {
    pub(super) fn object(&mut self, object: &'a Object) -> Result<Value, Problem> {
        let mut items = Some(BTreeMap::new());
        for (key, value) in object.iter() {
            let key = self.key(key)?;
            let value = self.expression(value.expr())?;
            items = items.zip(key).map(|(mut items, key)| {
                items.insert(key, value);
                items
            });
        }
        // Without one of its keys, nothing is known of an object.
        Ok(items.map_or(Value::Unknown(Type::Any), Value::Object))
    }

    fn key(&mut self, key: &'a ObjectKey) -> Result<Option<String>, Problem> {
        let expression = match key {
            ObjectKey::Ident(name) => return Ok(Some(name.as_str().to_owned())),
            ObjectKey::Expression(expression) => expression,
        };
        if let Expression::Traversal(traversal) = expression
            && let Expression::Variable(_) = traversal.expr
        {
            return Err(Mistake::AmbiguousKey.at(expression));
        }
        self.expression(expression)?
            .into_text()
            .map_err(|mistake| mistake.at(expression))
    }

    pub(super) fn traversal(
        &mut self,
        traversal: &'a Traversal,
        place: &Expression,
    ) -> Result<Value, Problem> {
        let value = self.expression(&traversal.expr)?;
        self.reach(value, &traversal.operators, place)
    }

    /// Follows attributes and indices.
    fn reach(
        &mut self,
        mut value: Value,
        mut operators: &'a [Decorated<TraversalOperator>],
        place: &Expression,
    ) -> Result<Value, Problem> {
        while let Some((operator, rest)) = operators.split_first() {
            value = match operator.value() {
                TraversalOperator::GetAttr(name) => value.attribute(name.as_str()),
                TraversalOperator::LegacyIndex(index) => match i64::try_from(*index.value()) {
                    Ok(index) => value.element(Value::Number(index)),
                    Err(_) => Err(Mistake::Number),
                },
                TraversalOperator::Index(index) => {
                    let index = self.expression(index)?;
                    value.element(index)
                }
                TraversalOperator::AttrSplat(_) => {
                    let of_each = |next: &TraversalOperator| {
                        matches!(
                            next,
                            TraversalOperator::GetAttr(_) | TraversalOperator::LegacyIndex(_)
                        )
                    };
                    return self.splat(value, rest, of_each, place);
                }
                TraversalOperator::FullSplat(_) => {
                    let of_each =
                        |next: &TraversalOperator| !matches!(next, TraversalOperator::AttrSplat(_));
                    return self.splat(value, rest, of_each, place);
                }
            }
            .map_err(|mistake| mistake.at(place))?;
            operators = rest;
        }
        Ok(value)
    }

    /// Follows the operators that are of each element for every element, and the rest for their tuple. What is no tuple is
    /// one of one element, null one of none.
    fn splat(
        &mut self,
        value: Value,
        operators: &'a [Decorated<TraversalOperator>],
        of_each: impl Fn(&TraversalOperator) -> bool,
        place: &Expression,
    ) -> Result<Value, Problem> {
        let end = operators
            .iter()
            .position(|operator| !of_each(operator.value()))
            .unwrap_or(operators.len());
        let (each, rest) = operators.split_at_checked(end).unwrap_or((operators, &[]));
        let items = match value {
            Value::Unknown(_) => return Ok(Value::Unknown(Type::Any)),
            Value::Null => Vec::new(),
            Value::Tuple(items) => items,
            single => vec![single],
        };
        let items: Result<_, _> = items
            .into_iter()
            .map(|item| {
                self.spend(1)?;
                self.deeper(|this| this.reach(item, each, place))
            })
            .collect();
        self.deeper(|this| this.reach(Value::Tuple(items?), rest, place))
    }

    /// The keys and values of a collection.
    pub(super) fn turns(&mut self, collection: &'a Expression) -> Result<Turns, Problem> {
        self.expression(collection)?
            .into_elements()
            .map_err(|mistake| mistake.at(collection))
    }

    /// What comes of each turn of a loop; `None` where the turns are unknown.
    pub(super) fn each_turn<T>(
        &mut self,
        turns: Turns,
        variables: Variables<'a>,
        mut act: impl FnMut(&mut Self) -> Result<T, Problem>,
    ) -> Result<Option<Vec<T>>, Problem> {
        let Some(turns) = turns else {
            return Ok(None);
        };
        let results: Result<_, _> = turns
            .into_iter()
            .map(|(key, value)| {
                self.spend(1)?;
                let outer = self.locals.len();
                let key = variables.0.map(|name| (name.as_str(), key));
                self.locals
                    .extend(key.into_iter().chain([(variables.1.as_str(), value)]));
                let result = act(self);
                self.locals.truncate(outer);
                result
            })
            .collect();
        results.map(Some)
    }

    pub(super) fn for_expression(
        &mut self,
        each: &'a ForExpr,
        place: &Expression,
    ) -> Result<Value, Problem> {
        let turns = self.turns(&each.intro.collection_expr)?;
        let variables = (each.intro.key_var.as_ref(), &each.intro.value_var);
        let items = self.each_turn(turns, variables, |this| {
            let wanted = match &each.cond {
                Some(only) => this.condition(&only.expr)?,
                None => Some(true),
            };
            match wanted {
                None => Ok(Turn::Unknown),
                Some(false) => Ok(Turn::Left),
                Some(true) => this.turn(each),
            }
        })?;
        let Some(items) = items else {
            return Ok(Value::Unknown(Type::Any));
        };
        match each.key_expr {
            None => Ok(tuple_of(items)),
            Some(_) => object_of(items, each.grouping).map_err(|mistake| mistake.at(place)),
        }
    }

    fn turn(&mut self, each: &'a ForExpr) -> Result<Turn, Problem> {
        let key = match &each.key_expr {
            None => Some(String::new()),
            Some(key) => self
                .expression(key)?
                .into_text()
                .map_err(|mistake| mistake.at(key))?,
        };
        let value = self.expression(&each.value_expr)?;
        Ok(key.map_or(Turn::Unknown, |key| Turn::Item(key, value)))
    }
}

/// What comes of one turn of a `for` expression.
enum Turn {
    /// A key, empty in a tuple, and a value.
    Item(String, Value),
    /// The condition leaves it out.
    Left,
    /// Whether there is an item, or its key, is unknown; nothing is known of the whole then.
    Unknown,
}

fn tuple_of(turns: Vec<Turn>) -> Value {
    let mut items = Vec::new();
    for turn in turns {
        match turn {
            Turn::Item(_, value) => items.push(value),
            Turn::Left => {}
            Turn::Unknown => return Value::Unknown(Type::Any),
        }
    }
    Value::Tuple(items)
}

fn object_of(turns: Vec<Turn>, grouping: bool) -> Result<Value, Mistake> {
    let mut groups: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for turn in turns {
        match turn {
            Turn::Item(key, _) if !grouping && groups.contains_key(&key) => {
                return Err(Mistake::DuplicateKey { key });
            }
            Turn::Item(key, value) => groups.entry(key).or_default().push(value),
            Turn::Left => {}
            Turn::Unknown => return Ok(Value::Unknown(Type::Any)),
        }
    }
    let items = groups
        .into_iter()
        .map(|(key, mut values)| match values.pop() {
            Some(only) if !grouping => (key, only),
            last => {
                values.extend(last);
                (key, Value::Tuple(values))
            }
        });
    Ok(Value::Object(items.collect()))
}
