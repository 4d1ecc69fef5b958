//! Whether a template gives each provider of a host a repository of its own.

use std::collections::{BTreeMap, BTreeSet};

use hcl::edit::expr::Expression;
use hcl::edit::template::Element;
use hcl::edit::visit::Visit as _;

use super::contents::Contents;
use super::{Error, RepositoryTemplate, Symbol, TemplateProblem};
use crate::address::{Hostname, ProviderAddr};

/// The most words of a template to try. One with more counts as one that does not keep providers apart, since trying takes their cube.
const MOST_WORDS: usize = 20;

/// Names to try with every template.
const NAMES: [&str; 3] = ["acme", "acme-acme", "demo"];

/// Words of templates that are no names.
const KEYWORDS: [&str; 6] = ["else", "endif", "hostname", "if", "namespace", "type"];

impl RepositoryTemplate {
    /// Checks that two providers of one host never have the same repository: what is pushed there first would be installed for both. A
    /// template without symbols is meant as the repository of one provider.
    ///
    /// For a template of text and symbols, the result is proven. Any other template is tried with the names that its text suggests.
    ///
    /// # Errors
    /// [`TemplateProblem::Shared`].
    pub fn check_distinct(&self) -> Result<(), Error> {
        let is_apart = self.keeps_apart();
        if self.is_constant() || is_apart == Some(true) {
            return Ok(());
        }
        let start = self.hcl.split(['$', '%']).next().unwrap_or_default();
        let start = start.rsplit_once('/').map_or("", |(start, _)| start);
        let words = words(self.hcl.strip_prefix(start).unwrap_or_default());
        let providers = self.shared(&words);
        if is_apart.is_none() && providers.is_none() && words.len() <= MOST_WORDS {
            return Ok(());
        }
        let start = if start.is_empty() { "REGISTRY" } else { start };
        let names = match self.references.contains(&Symbol::Hostname) {
            true => "${hostname}_${namespace}_${type}",
            false => "${namespace}_${type}",
        };
        let meant = format!("{start}/{names}");
        Err(Error::Template {
            text: self.text.clone(),
            problems: vec![TemplateProblem::Shared { meant, providers }],
        })
    }

    /// Whether the names of a provider follow from the name of its repository; `None` if the template has expressions with them.
    ///
    /// A separator is `/`, `.`, `_` or `--`. Names contain none, but for `_` in a namespace. All providers with the same repository have as many
    /// `_` in their namespaces as each other, so they have the same text between the same separators. If only one of the two names occurs in
    /// such a text, its length follows, so the name does, and then the length of the other name.
    fn keeps_apart(&self) -> Option<bool> {
        let mut texts = vec![BTreeSet::new()];
        for element in self.template.iter() {
            let mut contents = Contents::default();
            contents.visit_element(element);
            let mut symbols = contents.symbols.into_iter();
            let name = symbols.find(|symbol| *symbol != Symbol::Hostname);
            match (element, name) {
                (Element::Literal(text), _) => {
                    if text.contains(['/', '.', '_']) || text.contains("--") {
                        texts.push(BTreeSet::new());
                    }
                }
                // It has one value for all providers of a host.
                (_, None) => {}
                (Element::Interpolation(only), Some(name)) if is_symbol(&only.expr) => {
                    texts.last_mut()?.insert(name);
                }
                _ => return None,
            }
        }
        let names: BTreeSet<&Symbol> = texts.iter().flatten().collect();
        Some(names.len() == 2 && texts.iter().any(|names| names.len() == 1))
    }

    /// Two providers of one host that have the same repository, if there are such among those with these words in their names.
    fn shared(&self, words: &BTreeSet<&str>) -> Option<Box<[ProviderAddr; 2]>> {
        let words = || words.iter().copied().take(MOST_WORDS);
        let pairs = words().flat_map(|one| words().map(move |other| (one, other)));
        let names = pairs.flat_map(|(one, other)| {
            let rest = one.strip_prefix(other).unwrap_or(one).to_owned();
            [rest, one.to_owned() + other, format!("{one}-{other}")]
        });
        let names: BTreeSet<String> = words().map(str::to_owned).chain(names).collect();
        let is_compared = self.references.contains(&Symbol::Hostname);
        let quoted = self.hcl.split('"').filter(|_| is_compared);
        let quoted = quoted.chain([Symbol::Hostname.placeholder()]);
        let hosts: BTreeSet<Hostname> = quoted.filter_map(|host| host.parse().ok()).collect();
        for host in hosts {
            let mut seen = BTreeMap::new();
            let pairs = names
                .iter()
                .flat_map(|name| words().map(move |word| [name.as_str(), word]));
            for [name, word] in pairs {
                for (namespace, type_name) in [(name, word), (word, name)] {
                    let provider = ProviderAddr::new(host.clone(), namespace, type_name).ok();
                    let tried = provider.and_then(|one| Some((self.repository(&one).ok()?, one)));
                    let Some((repository, provider)) = tried else {
                        continue;
                    };
                    let other = seen.insert(repository, provider.clone());
                    if let Some(other) = other.filter(|other| *other != provider) {
                        return Some(Box::new([other, provider]));
                    }
                }
            }
        }
        None
    }
}

fn is_symbol(expression: &Expression) -> bool {
    matches!(expression, Expression::Variable(_))
}

/// The words with which a template may compare names, or which it may write beside them.
fn words(text: &str) -> BTreeSet<&str> {
    let words = ["-_", "-", ""].into_iter().flat_map(|inner| {
        let words = text.split(move |c: char| !c.is_ascii_alphanumeric() && !inner.contains(c));
        words.map(|word| word.trim_matches(['-', '_']))
    });
    let words = words.filter(|word| !word.is_empty() && !KEYWORDS.contains(word));
    words.chain(NAMES).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
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
r.io/%{ if hostname == "a.example" }${namespace}_%{ else }${namespace}/%{ endif }${type}
r.io/%{ if namespace == "hashicorp" }hashi.core%{ else }${namespace}%{ endif }/${type}
r.io/${namespace == "hashicorp" ? "official" : "other/${namespace}"}/${type}
r.io/${{ hashicorp = "hc", acme = "ac" }[namespace]}/${type}
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
r.io/%{ if hostname == "intranet" }x%{ else }${namespace}%{ endif }/${type}
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
        assert_eq!(
            told("r.io/${namespace}-${type}"),
            "the repository template `r.io/${namespace}-${type}` is wrong\n  it can give two providers of one host the same repository, such as example.com/acme/acme-acme and example.com/acme-acme/acme"
        );
    }

    #[test]
    fn a_template_with_too_many_words_is_not_tried() {
        let table: Vec<String> = (1..60)
            .map(|number| format!("a{number} = \"b{number}\""))
            .collect();
        let text = format!("r.io/${{{{ {} }}[namespace]}}/${{type}}", table.join(", "));
        assert!(
            told(&text).ends_with("\n  it can give two providers of one host the same repository")
        );
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
