//! Whether a template gives each provider of a host a repository of its own.

use std::collections::BTreeSet;

use hcl_edit::expr::Expression;
use hcl_edit::template::{Element, Template};

use super::evaluate::Evaluation;
use super::{Error, RepositoryTemplate, Symbol, TemplateProblem};

impl RepositoryTemplate {
    /// Checks that two providers of one host never have the same repository: what is pushed there first would be installed for both. A
    /// template without symbols is meant as the repository of one provider.
    ///
    /// Conditions may be about the host alone. A template is refused if other names occur in them.
    ///
    /// # Errors
    /// [`TemplateProblem::Shared`].
    pub fn check_distinct(&self) -> Result<(), Error> {
        let texts = texts(&self.template);
        if self.is_constant() || texts.is_some_and(|texts| keeps_apart(&texts)) {
            return Ok(());
        }
        Err(Error::Template {
            text: self.text.clone(),
            problem: TemplateProblem::Shared,
        })
    }
}

/// The namespaces and types of each text between separators: `/`, `.`, `_` or `--`. No name contains one, but for `_` in a namespace. `None`
/// if the template has other expressions with names.
fn texts(template: &Template) -> Option<Vec<BTreeSet<Symbol>>> {
    let (mut texts, mut text) = (Vec::new(), BTreeSet::new());
    for element in template.iter() {
        let mut evaluation = Evaluation::new(&Symbol::placeholder);
        evaluation.text([element]).ok()?;
        // A host has one value for all its providers.
        evaluation.symbols.remove(&Symbol::Hostname);
        match element {
            Element::Literal(literal)
                if literal.contains(['/', '.', '_']) || literal.contains("--") =>
            {
                texts.push(std::mem::take(&mut text));
            }
            _ if evaluation.symbols.is_empty() => {}
            Element::Interpolation(only) if matches!(only.expr, Expression::Variable(_)) => {
                text.append(&mut evaluation.symbols);
            }
            _ => return None,
        }
    }
    texts.push(text);
    Some(texts)
}

/// Whether the names of a provider follow from the name of its repository.
///
/// All providers with the same repository have as many `_` in their namespaces as each other, so they have the same text between the same
/// separators. If only one of the two names occurs in such a text, its length follows, so the name does, and then the length of the other name.
fn keeps_apart(texts: &[BTreeSet<Symbol>]) -> bool {
    let names: BTreeSet<&Symbol> = texts.iter().flatten().collect();
    names.len() == 2 && texts.iter().any(|names| names.len() == 1)
}

#[cfg(test)]
mod tests;
