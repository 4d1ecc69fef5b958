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
//! Text, symbols, `true` and `false`, `%{ if }`, conditionals, `==`, `!=`, `&&`, `||` and `!`. Clients also evaluate the rest of HCL; tfoci
//! refuses it and names the expression ([`TemplateProblem::Refused`]).
//!
//! The evaluator of `hcl-rs` does not serve: it accepts types that clients refuse or convert, and strips other white space.

mod distinct;
mod error;
mod evaluate;
mod inverse;
mod nesting;
mod symbol;
mod uri;

use std::collections::BTreeSet;
use std::fmt;

use hcl_edit::template::Template;

pub use error::{Error, TemplateProblem};
use evaluate::Evaluation;
pub use symbol::Symbol;

use crate::address::{ProviderAddr, ProviderPattern};
use crate::oci::Repository;

/// The longest accepted template in bytes. A template that asks for fifty hosts has about 4 KiB.
pub const LONGEST_TEXT: usize = 4096;

/// The hosts of Docker Hub, which answers any other number of levels than two with a refusal of the credentials.
pub const DOCKER_HUB: [&str; 3] = ["docker.io", "index.docker.io", "registry-1.docker.io"];

/// A parsed template.
#[derive(Clone, Debug)]
pub struct RepositoryTemplate {
    text: String,
    hcl: String,
    template: Template,
    /// The symbols that it refers to.
    symbols: BTreeSet<Symbol>,
}

impl RepositoryTemplate {
    /// Parses a template in any of its forms.
    ///
    /// # Errors
    /// The text is too long or does not parse, or contains unknown symbols or refused expressions.
    pub fn parse(text: &str) -> Result<Self, Error> {
        parsed(text).map_err(|problem| Error::Template {
            text: text.chars().take(LONGEST_TEXT).collect(),
            problem,
        })
    }

    /// Checks everything that does not depend on a single provider ([clients: template checks](crate::clients#template-checks)).
    /// `providers` corresponds to the clients' `include`: the template must refer to each symbol that has several values among them, or
    /// to all three symbols if there are no providers.
    ///
    /// # Errors
    /// The first problem of the template.
    pub fn check(&self, providers: &[ProviderAddr]) -> Result<(), Error> {
        self.check_values(|symbol| providers.iter().map(|one| Some(symbol.of(one))).collect())
    }

    /// As [`RepositoryTemplate::check`], for the providers that these patterns match; none means all providers. The template must refer to
    /// a symbol for which a pattern has a wildcard: clients do not require this if another pattern names one value, and then install
    /// several providers from one repository.
    ///
    /// # Errors
    /// The first problem of the template, or the first pattern whose providers have no repository.
    pub fn check_patterns(&self, include: &[ProviderPattern]) -> Result<(), Error> {
        self.check_values(|symbol| include.iter().map(|one| symbol.of_pattern(one)).collect())?;
        let mut examples = include.iter().filter_map(|pattern| self.example(pattern));
        examples.try_for_each(|example| example.map(drop))
    }

    /// The repository of a provider that the pattern matches. Wildcards are replaced with the clients' placeholders. `None` if it matches
    /// no provider.
    ///
    /// # Errors
    /// As [`RepositoryTemplate::repository`].
    pub fn example(&self, pattern: &ProviderPattern) -> Option<Result<Repository, Error>> {
        let segments = Symbol::ALL.map(|symbol| {
            let segment = symbol.of_pattern(pattern);
            segment.unwrap_or(symbol.placeholder())
        });
        let provider = ProviderAddr::from_ascii(&segments.join("/")).ok()?;
        Some(self.repository(&provider))
    }

    /// `None` among the values of a symbol is a wildcard.
    fn check_values<'a>(
        &self,
        values: impl Fn(Symbol) -> BTreeSet<Option<&'a str>>,
    ) -> Result<(), Error> {
        let is_missing = |symbol: &Symbol| {
            let values = values(*symbol);
            let is_one = values.len() == 1 && !values.contains(&None);
            !is_one && !self.symbols.contains(symbol)
        };
        let checked = match Symbol::ALL.into_iter().find(is_missing) {
            Some(symbol) => Err(TemplateProblem::Missing { symbol }),
            None => self.mapped(&Symbol::placeholder).map(drop),
        };
        checked.map_err(|problem| Error::Template {
            text: self.text.clone(),
            problem,
        })
    }

    /// The repository of a provider.
    ///
    /// # Errors
    /// No OCI repository name can contain the address, or the result is not a repository name.
    pub fn repository(&self, provider: &ProviderAddr) -> Result<Repository, Error> {
        provider.oci_safe()?;
        self.mapped(&|symbol| symbol.of(provider))
            .map_err(|problem| Error::Provider {
                text: self.text.clone(),
                provider: Box::new(provider.clone()),
                problem,
            })
    }

    /// The repository of the clients' placeholder address, as an example; `None` if it has none.
    pub fn placeholder(&self) -> Option<Repository> {
        self.mapped(&Symbol::placeholder).ok()
    }

    fn mapped<'a>(
        &self,
        value_of: &'a dyn Fn(Symbol) -> &'a str,
    ) -> Result<Repository, TemplateProblem> {
        let elements = self.template.iter();
        let name = Evaluation::new(value_of).text(elements)?;
        let repository = Repository::in_registry(&name)?;
        let (host, name) = repository.host_and_name();
        match DOCKER_HUB.contains(&host) && name.split('/').count() != 2 {
            true => Err(TemplateProblem::Levels(repository)),
            false => Ok(repository),
        }
    }

    /// Whether the template refers to no symbol, so that it names one repository.
    pub fn is_constant(&self) -> bool {
        self.symbols.is_empty()
    }

    /// Whether the repository may hold this provider: the template refers to `type`, or the last component of the repository is the
    /// provider's type, or ends with a dash and the type (`terraform-provider-random`).
    pub fn accepts(&self, provider: &ProviderAddr) -> bool {
        let is_named_so = |repository: Repository| {
            let last = repository.as_str().rsplit('/').next().unwrap_or_default();
            last.strip_suffix(provider.type_name())
                .is_some_and(|start| start.is_empty() || start.ends_with('-'))
        };
        self.symbols.contains(&Symbol::Type)
            || self
                .mapped(&|symbol| symbol.of(provider))
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

fn parsed(text: &str) -> Result<RepositoryTemplate, TemplateProblem> {
    if text.len() > LONGEST_TEXT {
        return Err(TemplateProblem::TooLarge);
    }
    let is_hcl = text.contains("${") || text.contains("%{");
    let hcl = match is_hcl {
        true => text.to_owned(),
        false => uri::to_hcl(text)?,
    };
    if nesting::depth(&hcl) > nesting::DEEPEST {
        return Err(TemplateProblem::TooLarge);
    }
    let parsed = hcl.parse();
    let template: Template = parsed.map_err(|error| TemplateProblem::Syntax { error })?;
    let mut evaluation = Evaluation::new(&Symbol::placeholder);
    evaluation.text(template.iter())?;
    Ok(RepositoryTemplate {
        text: text.to_owned(),
        symbols: evaluation.symbols,
        hcl,
        template,
    })
}

/// Writes the text as given.
impl fmt::Display for RepositoryTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests;
