//! What a template refers to: names and functions, wherever they stand.

use hcl::edit::expr::{Expression, ForExpr, FuncCall, FuncName, ObjectKey};
use hcl::edit::template::{ForDirective, Template};
use hcl::edit::visit::{self, Visit};
use hcl::edit::{Decorated, Ident};

/// What a template refers to, in its order.
#[derive(Debug, Default)]
pub(super) struct References {
    /// Names that no loop binds.
    pub symbols: Vec<String>,
    /// Functions.
    pub functions: Vec<String>,
    bound: Vec<String>,
}

impl References {
    pub(super) fn of(template: &Template) -> Self {
        let mut references = Self::default();
        references.visit_template(template);
        references
    }

    /// Looks at what a loop evaluates for each turn, where its variables are bound.
    fn within_loop(
        &mut self,
        variables: (Option<&Decorated<Ident>>, &Decorated<Ident>),
        look: impl FnOnce(&mut Self),
    ) {
        let outer = self.bound.len();
        let names = variables.0.into_iter().chain([variables.1]);
        self.bound
            .extend(names.map(|name| name.as_str().to_owned()));
        look(self);
        self.bound.truncate(outer);
    }
}

fn note(list: &mut Vec<String>, name: String) {
    if !list.contains(&name) {
        list.push(name);
    }
}

/// A function's name with its namespaces.
pub(super) fn function_name(name: &FuncName) -> String {
    let parts: Vec<&str> = name
        .namespace
        .iter()
        .chain([&name.name])
        .map(|part| part.as_str())
        .collect();
    parts.join("::")
}

impl Visit for References {
    fn visit_expr(&mut self, expression: &Expression) {
        match expression {
            Expression::Variable(name)
                if !self.bound.iter().any(|bound| bound == name.as_str()) =>
            {
                note(&mut self.symbols, name.as_str().to_owned());
            }
            other => visit::visit_expr(self, other),
        }
    }

    fn visit_object_key(&mut self, key: &ObjectKey) {
        // A bare name is a key, no reference.
        if let ObjectKey::Expression(expression) = key {
            self.visit_expr(expression);
        }
    }

    fn visit_func_call(&mut self, call: &FuncCall) {
        note(&mut self.functions, function_name(&call.name));
        visit::visit_func_call(self, call);
    }

    fn visit_for_expr(&mut self, each: &ForExpr) {
        self.visit_expr(&each.intro.collection_expr);
        let variables = (each.intro.key_var.as_ref(), &each.intro.value_var);
        self.within_loop(variables, |this| {
            each.key_expr.iter().for_each(|key| this.visit_expr(key));
            this.visit_expr(&each.value_expr);
            each.cond
                .iter()
                .for_each(|only| this.visit_expr(&only.expr));
        });
    }

    fn visit_for_directive(&mut self, each: &ForDirective) {
        let head = &each.for_expr;
        self.visit_expr(&head.collection_expr);
        self.within_loop((head.key_var.as_ref(), &head.value_var), |this| {
            this.visit_template(&head.template);
        });
    }
}
