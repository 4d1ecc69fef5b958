use std::collections::BTreeMap;

use super::*;
use crate::address::ProviderAddr;
use proptest::prelude::*;

fn keeps_apart(text: &str) -> bool {
    let template = RepositoryTemplate::parse(text).unwrap();
    template.check_distinct().is_ok()
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
${hostname == "a.example" ? "x.io" : "y.io"}/${namespace}/${type}
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
r.io/${type == "random"}/${namespace}
r.io/%{ if hostname == "a.example" }${namespace}-%{ else }${namespace}/%{ endif }${type}
r.io/%{ if hostname == "a.example" }${namespace}_%{ else }${namespace}/%{ endif }${type}
r.io/%{ if hostname == "intranet" }x%{ else }${namespace}%{ endif }/${type}
r.io/%{ if hostname == "a.example" }${namespace}/%{ endif }${type}
r.io/%{ if namespace == "hashicorp" }hashi.core%{ else }${namespace}%{ endif }/${type}
r.io/${namespace == "hashicorp" ? "the-big-hashi-corp" : "the-${namespace}"}/${type}
r.io/%{ if "${hostname}/${namespace}" == "corp.example/acme" }x%{ else }${namespace}%{ endif }/${type}
r.io/${hostname == "xn--bcher-kva.example" ? "x" : namespace}/${type}
r.io/${namespace == "type" ? "core" : namespace}/${type}
"#;

#[test]
fn templates_that_keep_providers_apart_and_others() {
    for text in APART.trim().lines() {
        assert!(keeps_apart(text), "{text}");
    }
    for text in SHARED.trim().lines() {
        assert!(!keeps_apart(text), "{text}");
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
