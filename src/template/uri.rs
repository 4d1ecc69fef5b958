//! The `{name}` form: a URI template of level 1 (RFC 6570), as in `providers lock -oci-mirror` ([clients: repository
//! templates](crate::clients#repository-templates)). Shells leave it unchanged.
//!
//! Clients percent-encode the values. This changes only characters that no repository name can contain, and the colon in the host of a
//! provider if that host is used as the registry: there clients find no repository with this form, but tfoci does.

use hcl::edit::expr::Expression;
use hcl::edit::template::{Element, Strip, Template};

use super::problem::TemplateProblem;
use super::symbol::Symbol;

/// Converts a template to the HCL form.
pub(super) fn to_hcl(text: &str) -> Result<String, Vec<TemplateProblem>> {
    let mut hcl = String::new();
    let mut problems = Vec::new();
    let mut parts = text.split('{');
    // The text before the first brace contains no symbol.
    let literal = parts.next().unwrap_or_default();
    problems.extend(stray_brace(literal));
    hcl.push_str(literal);
    for part in parts {
        let Some((name, literal)) = part.split_once('}') else {
            problems.push(TemplateProblem::Brace { brace: '{' });
            continue;
        };
        match Symbol::named(name) {
            Some(symbol) => hcl.push_str(&format!("${{{symbol}}}")),
            None => problems.push(TemplateProblem::Symbol {
                name: name.to_owned(),
            }),
        }
        problems.extend(stray_brace(literal));
        hcl.push_str(literal);
    }
    if problems.is_empty() {
        Ok(hcl)
    } else {
        Err(problems)
    }
}

fn stray_brace(literal: &str) -> Option<TemplateProblem> {
    literal
        .contains('}')
        .then_some(TemplateProblem::Brace { brace: '}' })
}

/// Converts a template to the `{name}` form; `None` if that cannot express it.
pub(super) fn from_hcl(template: &Template) -> Option<String> {
    template.iter().map(part).collect()
}

fn part(element: &Element) -> Option<String> {
    match element {
        Element::Literal(text) => {
            let is_plain = !text.value().contains(['{', '}', '%']);
            is_plain.then(|| text.value().clone())
        }
        Element::Interpolation(interpolation) => match &interpolation.expr {
            Expression::Variable(name) if interpolation.strip == Strip::None => {
                Symbol::named(name.as_str()).map(|symbol| format!("{{{symbol}}}"))
            }
            _ => None,
        },
        Element::Directive(_) => None,
    }
}
