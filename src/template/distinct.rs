//! Whether a template gives each provider of a host a repository of its own.

use std::collections::BTreeSet;

use hcl::edit::expr::Expression;
use hcl::edit::template::{Element, Template};
use hcl::edit::visit::Visit as _;

use super::contents::Contents;
use super::{Error, RepositoryTemplate, Symbol, TemplateProblem};

/// What tells the names in a repository apart.
#[derive(Clone, Copy)]
enum Part {
    /// A namespace or a type.
    Name(Symbol),
    /// `/`, `.`, `_` or `--`. No name contains one, but for `_` in a namespace.
    Separator,
}

impl RepositoryTemplate {
    /// Checks that two providers of one host never have the same repository: what is pushed there first would be installed for both. A
    /// template without symbols is meant as the repository of one provider.
    ///
    /// Conditions and tables may be about the host alone. A template is refused if other names occur in them.
    ///
    /// # Errors
    /// [`TemplateProblem::Shared`].
    pub fn check_distinct(&self) -> Result<(), Error> {
        let parts = parts(&self.template);
        if self.is_constant() || parts.is_some_and(|parts| keeps_apart(&parts)) {
            return Ok(());
        }
        let start = self.hcl.split(['$', '%']).next().unwrap_or_default();
        let start = start
            .rsplit_once('/')
            .map_or("REGISTRY", |(start, _)| start);
        let names = match self.references.contains(&Symbol::Hostname) {
            true => "${hostname}_${namespace}_${type}",
            false => "${namespace}_${type}",
        };
        let meant = format!("{start}/{names}");
        Err(Error::Template {
            text: self.text.clone(),
            problems: vec![TemplateProblem::Shared { meant }],
        })
    }
}

/// The names and separators of a template; `None` if it has other expressions with names.
fn parts(template: &Template) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    for element in template.iter() {
        let mut contents = Contents::default();
        contents.visit_element(element);
        let mut names = contents.symbols.iter();
        let has_name = names.any(|symbol| *symbol != Symbol::Hostname);
        match element {
            Element::Literal(text) if text.contains(['/', '.', '_']) || text.contains("--") => {
                parts.push(Part::Separator);
            }
            // It has one value for all providers of a host.
            _ if !has_name => {}
            Element::Interpolation(only) => match &only.expr {
                Expression::Variable(name) => parts.push(Part::Name(Symbol::named(name)?)),
                _ => return None,
            },
            _ => return None,
        }
    }
    Some(parts)
}

/// Whether the names of a provider follow from the name of its repository.
///
/// All providers with the same repository have as many `_` in their namespaces as each other, so they have the same text between the same
/// separators. If only one of the two names occurs in such a text, its length follows, so the name does, and then the length of the other name.
fn keeps_apart(parts: &[Part]) -> bool {
    let texts = parts.split(|part| matches!(part, Part::Separator));
    let texts: Vec<BTreeSet<Symbol>> = texts
        .map(|text| {
            let names = text.iter().filter_map(|part| match part {
                Part::Name(symbol) => Some(*symbol),
                Part::Separator => None,
            });
            names.collect()
        })
        .collect();
    let names: BTreeSet<&Symbol> = texts.iter().flatten().collect();
    names.len() == 2 && texts.iter().any(|names| names.len() == 1)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::address::ProviderAddr;
    use proptest::prelude::*;

    /// The message about two providers; empty if there are none.
    fn told(text: &str) -> String {
        let checked = RepositoryTemplate::parse(text).unwrap().check_distinct();
        checked
            .err()
            .map_or_else(String::new, |error| error.to_string())
    }

    const APART: &str = r#"
r.io/terraform-provider-random
r.io/${namespace}/${type}
r.io/{namespace}_{type}
r.io/${type}_${namespace}
r.io/${namespace}__${type}
r.io/${namespace}.${type}
r.io/${namespace}--${type}
r.io/${type}/terraform-${namespace}-${type}
r.io/${namespace}_${type}-${namespace}_${type}
${namespace}/${type}
r.io/${hostname}/${namespace}/${type}
${{ "a.example" = "x.io", "b.example" = "y.io" }[hostname]}/${namespace}/${type}
r.io/%{ if hostname == "a.example" }x%{ else }y%{ endif }/${namespace}/${type}
"#;

    const SHARED: &str = r#"
r.io/${namespace}-${type}
r.io/{namespace}-{type}
r.io/${namespace}${type}
r.io/${namespace}x${type}
r.io/${namespace}-provider-${type}
r.io/${namespace}-${hostname}-${type}
r.io/${namespace}-${type}/${type}-${namespace}
r.io/a.b/${namespace}-${type}/c_d
r.io/${type}
r.io/${namespace}
r.io/${hostname}
r.io/${hostname}/terraform-provider-random
r.io/${namespace}/x-${namespace}
r.io/%{ if namespace == "hashicorp" }hc%{ else }${namespace}%{ endif }/${type}
r.io/%{ if namespace == "hashicorp" }core/%{ else }${namespace}/%{ endif }${type}
r.io/%{ if namespace == "my_ns" }core%{ else }${namespace}%{ endif }/${type}
r.io/%{ if namespace == "hashicorp" }nscore%{ else }ns${namespace}%{ endif }/${type}
r.io/%{ if namespace == "hashicorp" }my-%{ endif }${namespace}/${type}
r.io/%{ if namespace != "hashicorp" }${namespace}-%{ endif }${type}
r.io/${namespace == "hashicorp" ? "official" : namespace}/${type}
r.io/${namespace == type ? "same" : "other-${namespace}"}/${type == "same" ? "x" : type}
r.io/${{ hashicorp = "hc", acme = "hc" }[namespace]}/${type}
r.io/${{ (namespace) = "hc", acme = "ac" }[namespace]}/${type}
r.io/${type == "random"}/${namespace}
r.io/${namespace < 10 ? "few" : "many"}/${type}
r.io/%{ if hostname == "a.example" }${namespace}-%{ else }${namespace}/%{ endif }${type}
r.io/%{ if hostname == "a.example" }${namespace}_%{ else }${namespace}/%{ endif }${type}
r.io/%{ if hostname == "intranet" }x%{ else }${namespace}%{ endif }/${type}
r.io/%{ if hostname == "a.example" }${namespace}/%{ endif }${type}
r.io/%{ if namespace == "hashicorp" }hashi.core%{ else }${namespace}%{ endif }/${type}
r.io/${namespace == "hashicorp" ? "the-big-hashi-corp" : "the-${namespace}"}/${type}
r.io/%{ if "${hostname}/${namespace}" == "corp.example/acme" }x%{ else }${namespace}%{ endif }/${type}
r.io/${{ localhost = "x", "example.com" = namespace }[hostname]}/${type}
r.io/${hostname == "xn--bcher-kva.example" ? "x" : namespace}/${type}
r.io/${namespace == "type" ? "core" : namespace}/${type}
"#;

    #[test]
    fn templates_that_keep_providers_apart_and_others() {
        for text in APART.trim().lines() {
            assert_eq!(told(text), "", "{text}");
        }
        for text in SHARED.trim().lines() {
            let told = told(text);
            assert!(told.contains("the same repository"), "{text}\n{told}");
        }
    }

    proptest! {
        #[test]
        fn what_is_proven_holds_for_short_names(parts in proptest::collection::vec("\\{namespace\\}|\\{type\\}|[/._ab-]|__|--", 2..8)) {
            let text = format!("r.io/x{}", parts.concat());
            let template = RepositoryTemplate::parse(&text).unwrap();
            if template.check_distinct().is_ok() && !template.is_constant() {
                let names = ["a", "b", "aa", "ab", "ba", "a-a", "a-b", "b-a", "a_a", "a_b", "a__b", "b_a-a"];
                let mut seen = BTreeMap::new();
                for (namespace, type_name) in names.iter().flat_map(|one| names.iter().map(move |other| (one, other))) {
                    let provider: Result<ProviderAddr, _> = format!("a.example/{namespace}/{type_name}").parse();
                    let repository = provider.ok().and_then(|provider| template.repository(&provider).ok());
                    if let Some(repository) = repository {
                        let other = seen.insert(repository, (namespace, type_name));
                        prop_assert_eq!(other, None, "{} {} {}", text, namespace, type_name);
                    }
                }
            }
        }
    }
}
