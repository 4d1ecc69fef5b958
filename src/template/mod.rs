//! `repository_template`: a template for the name of a provider's repository.
//!
//! ```text
//! ghcr.io/acme/${namespace}_${type}                              the clients' form: an HCL template without functions
//! ghcr.io/acme/{namespace}_{type}                                safe in shells: a URI template of level 1
//! ghcr.io/acme/terraform-provider-random                         one repository
//! %{ if namespace == "acme" }a.example%{ else }b.example%{ endif }/${namespace}/${type}
//! ```
//!
//! The symbols are `hostname` (in punycode), `namespace` and `type`. A text that contains `${` or `%{` is HCL; a text that contains only
//! `{` has the other form. Both become an HCL template.
//!
//! Before use, a template is checked as clients check theirs when they load it ([`RepositoryTemplate::check`], [clients: template
//! checks](crate::clients#template-checks)). For every provider, the result must be [a repository
//! name](crate::clients#repository-addresses). Only a template that gives each provider of a host a repository of its own may be written to
//! ([`RepositoryTemplate::check_distinct`]).
//!
//! # What is evaluated
//! Text, symbols, literals, `%{ if }`, conditionals, comparisons, logic, and an index into a literal tuple or object. tfoci evaluates these
//! exactly as clients do, including types, conversions and unknown values. Clients also evaluate the rest of HCL; tfoci refuses it with the
//! name of the construct ([`Construct`]).
//!
//! tfoci checks types by evaluating with unknown strings. [`hcl::eval`] has no unknown values, writes `${null}` as `null`, and does not
//! convert between types. A pass over the syntax tree handles these, and `hcl::eval` computes operators.

mod construct;
mod contents;
mod distinct;
mod error;
mod evaluate;
mod expression_error;
mod index;
mod inverse;
pub(crate) mod nesting;
mod problem;
mod strip;
mod symbol;
mod types;
mod uri;
mod value;

use std::collections::BTreeSet;
use std::fmt;

use hcl::edit::template::{Element, Template};

pub use construct::Construct;
use contents::Contents;
pub use error::Error;
use evaluate::Bindings;
pub use expression_error::ExpressionError;
pub use inverse::InverseTemplate;
pub use problem::{TemplateProblem, Values};
pub use symbol::Symbol;
pub use types::Type;

use crate::address::{ProviderAddr, ProviderPattern};
use crate::oci::Repository;

/// The longest accepted template in bytes. A template that lists a hundred hosts has about 4 KiB.
pub const LONGEST_TEXT: usize = 4096;

/// A parsed template.
#[derive(Clone, Debug)]
pub struct RepositoryTemplate {
    text: String,
    hcl: String,
    template: Template,
    references: Vec<Symbol>,
}

impl RepositoryTemplate {
    /// Parses a template in any of its forms.
    ///
    /// # Errors
    /// The text is too long or does not parse, or contains unknown symbols or refused constructs.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let refuse = |problems| Error::Template {
            text: text.chars().take(LONGEST_TEXT).collect(),
            problems,
        };
        if text.len() > LONGEST_TEXT {
            return Err(refuse(vec![TemplateProblem::TooLong { size: text.len() }]));
        }
        let is_hcl = text.contains("${") || text.contains("%{");
        let hcl = if is_hcl {
            text.to_owned()
        } else {
            uri::to_hcl(text).map_err(refuse)?
        };
        if nesting::depth(&hcl) > nesting::DEEPEST {
            return Err(refuse(vec![TemplateProblem::TooDeep]));
        }
        let template: Template = hcl.parse().map_err(|error| {
            refuse(vec![match nesting::unclosed(&hcl) {
                Some(opening) => TemplateProblem::Unclosed { opening },
                None => TemplateProblem::Syntax { error },
            }])
        })?;
        if let Some(symbol) = foreign_symbol(&template) {
            return Err(refuse(vec![TemplateProblem::Mixed { symbol }]));
        }
        let contents = Contents::of(&template);
        if !contents.problems.is_empty() {
            return Err(refuse(contents.problems));
        }
        Ok(Self {
            text: text.to_owned(),
            hcl,
            references: contents.symbols,
            template,
        })
    }

    /// Checks everything that does not depend on a single provider ([clients: template checks](crate::clients#template-checks)).
    /// `providers` corresponds to the clients' `include`: the template must refer to each symbol that has several values among them, or
    /// to all three symbols if there are no providers.
    ///
    /// An element that does not exist for the clients' placeholder address is accepted, because a table of hosts need not contain it.
    ///
    /// # Errors
    /// All problems of the template.
    pub fn check(&self, providers: &[ProviderAddr]) -> Result<(), Error> {
        self.check_values(|symbol| providers.iter().map(|one| Some(symbol.of(one))).collect())
    }

    /// As [`RepositoryTemplate::check`], for the providers that these patterns match; none means all providers. The template must refer to
    /// a symbol for which a pattern has a wildcard: clients do not require this if another pattern names one value, and then install
    /// several providers from one repository.
    ///
    /// # Errors
    /// All problems of the template, or the first pattern whose providers have no repository.
    pub fn check_patterns(&self, include: &[ProviderPattern]) -> Result<(), Error> {
        self.check_values(|symbol| include.iter().map(|one| symbol.of_pattern(one)).collect())?;
        for pattern in include {
            let Some(Err(error)) = self.example(pattern) else {
                continue;
            };
            // A table of hosts need not contain the placeholder.
            let is_missing = matches!(&error, Error::Provider { problem: TemplateProblem::Expression { mistake, .. }, .. } if mistake.is_missing_element());
            if !is_missing || pattern.provider().is_some() {
                return Err(error.with_pattern(pattern));
            }
        }
        Ok(())
    }

    /// The repository of a provider that the pattern matches. Wildcards are replaced with the clients' placeholders. `None` if it matches
    /// no provider.
    ///
    /// # Errors
    /// As [`RepositoryTemplate::repository`].
    pub fn example(&self, pattern: &ProviderPattern) -> Option<Result<Repository, Error>> {
        let text = pattern.to_string();
        let segments = text.split('/').zip(Symbol::ALL);
        let segments = segments.map(|(segment, symbol)| match segment {
            "*" => symbol.placeholder(),
            segment => segment,
        });
        let provider: ProviderAddr = segments.collect::<Vec<_>>().join("/").parse().ok()?;
        Some(self.repository(&provider))
    }

    fn check_values<'a>(
        &self,
        values: impl Fn(Symbol) -> BTreeSet<Option<&'a str>>,
    ) -> Result<(), Error> {
        let mut problems: Vec<_> = self.missing(values).collect();
        problems.extend(evaluate::problems(&self.template, Bindings::Unknown));
        if problems.is_empty() {
            problems.extend(self.problem_with_placeholder());
        }
        if problems.is_empty() {
            return Ok(());
        }
        Err(Error::Template {
            text: self.text.clone(),
            problems,
        })
    }

    /// The symbols that the template must refer to and does not. The value `None` is a wildcard.
    fn missing<'a>(
        &self,
        values: impl Fn(Symbol) -> BTreeSet<Option<&'a str>>,
    ) -> impl Iterator<Item = TemplateProblem> {
        Symbol::ALL.into_iter().filter_map(move |symbol| {
            let values = values(symbol);
            let values = match values.len() {
                _ if values.contains(&None) => Values::Unknown,
                0 => Values::Unknown,
                1 => return None,
                _ => Values::Differ,
            };
            (!self.references.contains(&symbol))
                .then_some(TemplateProblem::Missing { symbol, values })
        })
    }

    fn problem_with_placeholder(&self) -> Option<TemplateProblem> {
        match self.name(Bindings::Placeholder) {
            Err(TemplateProblem::Expression { mistake, .. }) if mistake.is_missing_element() => {
                None
            }
            other => other
                .and_then(|name| Ok(Repository::in_registry(&name)?))
                .err(),
        }
    }

    /// The repository of a provider.
    ///
    /// # Errors
    /// No OCI repository name can contain the address, an expression has no value for this provider, or the result is not a repository
    /// name.
    pub fn repository(&self, provider: &ProviderAddr) -> Result<Repository, Error> {
        provider.oci_safe()?;
        let name = self.name(Bindings::Provider(provider));
        name.and_then(|name| Ok(Repository::in_registry(&name)?))
            .map_err(|problem| Error::Provider {
                pattern: None,
                text: self.text.clone(),
                provider: Box::new(provider.clone()),
                problem,
            })
    }

    /// The repository of the clients' placeholder address, as an example; `None` if it has none.
    pub fn placeholder(&self) -> Option<Repository> {
        let name = self.name(Bindings::Placeholder).ok()?;
        Repository::in_registry(&name).ok()
    }

    fn name(&self, bindings: Bindings<'_>) -> Result<String, TemplateProblem> {
        let text = evaluate::evaluate(&self.template, bindings)?;
        // A text is unknown only if a symbol is, and all symbols are known here.
        text.ok_or(TemplateProblem::Whole(ExpressionError::Null))
    }

    /// Whether the template refers to no symbol, so that it names one repository.
    pub fn is_constant(&self) -> bool {
        self.references.is_empty()
    }

    /// Whether the repository may hold this provider: the template refers to `type`, or the last component of the repository is the
    /// provider's type, or ends with a dash and the type (`terraform-provider-random`).
    pub fn accepts(&self, provider: &ProviderAddr) -> bool {
        let is_named_so = |name: String| {
            let last = name.rsplit('/').next().unwrap_or_default();
            last.strip_suffix(provider.type_name())
                .is_some_and(|start| start.is_empty() || start.ends_with('-'))
        };
        self.references.contains(&Symbol::Type)
            || self
                .name(Bindings::Provider(provider))
                .is_ok_and(is_named_so)
    }

    /// The template in the form of the CLI configuration.
    pub fn hcl(&self) -> &str {
        &self.hcl
    }

    /// The template in the form of `providers lock -oci-mirror`; `None` if it has directives or expressions other than symbols.
    pub fn uri(&self) -> Option<String> {
        uri::from_hcl(&self.template)
    }
}

/// Writes the text as given.
impl fmt::Display for RepositoryTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A symbol in the other form within literal text. It would not be replaced, and its braces are invalid in a repository name.
fn foreign_symbol(template: &Template) -> Option<Symbol> {
    template.iter().find_map(|element| match element {
        Element::Literal(text) => Symbol::ALL
            .into_iter()
            .find(|symbol| text.value().contains(&format!("{{{symbol}}}"))),
        _ => None,
    })
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
