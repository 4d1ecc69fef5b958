//! The `{name}` form: a URI template of level 1 (RFC 6570), as in `providers lock -oci-mirror` ([clients: repository
//! templates](crate::clients#repository-templates)). Shells leave it unchanged.
//!
//! Clients percent-encode the values. This changes only characters that no repository name can contain, and the colon in the host of a
//! provider if that host is used as the registry: there clients find no repository with this form, but tfoci does.

use hcl_edit::expr::Expression;
use hcl_edit::template::{Element, Template};

use super::error::TemplateProblem;

/// Converts a template to the HCL form.
pub(super) fn to_hcl(text: &str) -> Result<String, TemplateProblem> {
    let mut parts = text.split('{');
    let mut hcl = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, literal) = part.split_once('}').unwrap_or((part, ""));
        hcl.push_str(&format!("${{{}}}{literal}", TemplateProblem::symbol(name)?));
    }
    Ok(hcl)
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
            Expression::Variable(name) => Some(format!("{{{}}}", name.as_str())),
            _ => None,
        },
        Element::Directive(_) => None,
    }
}
