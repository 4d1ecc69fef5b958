use super::*;

/// The provider that a template reads in the name of a repository.
fn provider(template: &str, repository: &str) -> Option<String> {
    let template = RepositoryTemplate::parse(template).unwrap();
    let repository = Repository::in_registry(repository).unwrap();
    let host = "registry.opentofu.org".parse().unwrap();
    let provider = template.inverse()?.provider(&repository, &host)?;
    Some(provider.to_string())
}

#[test]
fn names_are_read_as_the_template_writes_them() {
    let deep = "r.example/tofu/{hostname}/{namespace}/{type}";
    for (template, repository, expected) in [
        (
            deep,
            "r.example/tofu/a.example/acme/demo",
            Some("a.example/acme/demo"),
        ),
        (deep, "r.example/tofu/acme/demo", None),
        (deep, "r.example/other/a.example/acme/demo", None),
        (deep, "r.example/tofu/a.example/acme/demo/more", None),
        (
            "r.example/{namespace}/{type}",
            "r.example/acme/demo",
            Some("registry.opentofu.org/acme/demo"),
        ),
        (
            "r.example/${namespace}/terraform-provider-${type}",
            "r.example/acme/terraform-provider-demo",
            Some("registry.opentofu.org/acme/demo"),
        ),
        (
            "r.example/{namespace}-{type}",
            "r.example/acme-demo",
            Some("registry.opentofu.org/acme/demo"),
        ),
        (
            "r.example/{namespace}-{type}",
            "r.example/acme-demo-more",
            None,
        ),
        (
            "r.example/{type}/{namespace}/{type}",
            "r.example/demo/acme/demo",
            Some("registry.opentofu.org/acme/demo"),
        ),
        (
            "r.example/{type}/{namespace}/{type}",
            "r.example/demo/acme/more",
            None,
        ),
    ] {
        assert_eq!(
            provider(template, repository).as_deref(),
            expected,
            "{template} {repository}"
        );
    }
}

#[test]
fn only_text_and_symbols_are_read_backwards() {
    for template in [
        "r.example/acme/demo",
        "r.example/acme/{type}",
        "r.example/{namespace}{type}",
        "{hostname}/{namespace}/{type}",
        r#"r.example/%{ if type == "a" }b%{ else }${namespace}/${type}%{ endif }"#,
    ] {
        assert!(
            RepositoryTemplate::parse(template)
                .unwrap()
                .inverse()
                .is_none(),
            "{template}"
        );
    }
}
