//! The symbols of a template, and what it must not contain.

use hcl::edit::expr::{
    Array, BinaryOp, Expression, ForExpr, FuncCall, Object, ObjectKey, Traversal,
    TraversalOperator, UnaryOp,
};
use hcl::edit::template::{ForDirective, HeredocTemplate, Template};
use hcl::edit::visit::{self, Visit};
use hcl::expr::{BinaryOperator, UnaryOperator};

use super::construct::Construct;
use super::problem::TemplateProblem;
use super::symbol::Symbol;

/// The symbols and problems of a template, in order, without duplicates.
#[derive(Debug, Default)]
pub(super) struct Contents {
    /// The symbols that it refers to.
    pub symbols: Vec<Symbol>,
    /// Unknown names, and refused constructs. The content of refused constructs is not checked.
    pub problems: Vec<TemplateProblem>,
}

impl Contents {
    pub(super) fn of(template: &Template) -> Self {
        let mut contents = Self::default();
        contents.visit_template(template);
        contents
    }

    fn refuse(&mut self, construct: Construct) {
        note(&mut self.problems, construct.into());
    }
}

fn note<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

impl Visit for Contents {
    fn visit_expr(&mut self, expression: &Expression) {
        match expression {
            Expression::Variable(name) => match Symbol::named(name.as_str()) {
                Some(symbol) => note(&mut self.symbols, symbol),
                None => {
                    let name = name.as_str().to_owned();
                    note(&mut self.problems, TemplateProblem::Symbol { name });
                }
            },
            other => visit::visit_expr(self, other),
        }
    }

    fn visit_traversal(&mut self, traversal: &Traversal) {
        let mut head = &traversal.expr;
        while let Expression::Parenthesis(inner) = head {
            head = inner.inner();
        }
        match head {
            Expression::Array(items) => visit::visit_array(self, items),
            Expression::Object(items) => visit::visit_object(self, items),
            other => self.visit_expr(other),
        }
        for operator in &traversal.operators {
            self.visit_traversal_operator(operator);
        }
    }

    fn visit_traversal_operator(&mut self, operator: &TraversalOperator) {
        match operator {
            TraversalOperator::AttrSplat(_) | TraversalOperator::FullSplat(_) => {
                self.refuse(Construct::Splat)
            }
            other => visit::visit_traversal_operator(self, other),
        }
    }

    fn visit_object_key(&mut self, key: &ObjectKey) {
        // A bare name is a key of the object, not a reference.
        if let ObjectKey::Expression(expression) = key {
            self.visit_expr(expression);
        }
    }

    fn visit_unary_op(&mut self, operation: &UnaryOp) {
        if *operation.operator.value() == UnaryOperator::Neg {
            self.refuse(Construct::Arithmetic);
        }
        visit::visit_unary_op(self, operation);
    }

    fn visit_binary_op(&mut self, operation: &BinaryOp) {
        use BinaryOperator::{Div, Minus, Mod, Mul, Plus};
        if matches!(operation.operator.value(), Plus | Minus | Mul | Div | Mod) {
            self.refuse(Construct::Arithmetic);
        }
        visit::visit_binary_op(self, operation);
    }

    fn visit_func_call(&mut self, call: &FuncCall) {
        self.refuse(Construct::function(call));
        visit::visit_func_call(self, call);
    }

    fn visit_array(&mut self, _: &Array) {
        self.refuse(Construct::Collection);
    }

    fn visit_object(&mut self, _: &Object) {
        self.refuse(Construct::Collection);
    }

    fn visit_heredoc_template(&mut self, _: &HeredocTemplate) {
        self.refuse(Construct::Heredoc);
    }

    fn visit_for_expr(&mut self, _: &ForExpr) {
        self.refuse(Construct::For);
    }

    fn visit_for_directive(&mut self, _: &ForDirective) {
        self.refuse(Construct::For);
    }
}
