//! From an address to a repository, by every form of a store address.

use crate::support::scene::Scene;

fn resolve(arguments: &str) -> String {
    let run = Scene::new().line(format!("resolve {arguments}"));
    run.succeeds().stdout
}

#[test]
fn both_spellings_of_a_template_give_the_same_repository() {
    let expected = "registry.example.net/tofu/registry.opentofu.org/acme/demo
hcl  registry.example.net/tofu/${hostname}/${namespace}/${type}
uri  registry.example.net/tofu/{hostname}/{namespace}/{type}
";
    for template in [
        "registry.example.net/tofu/${hostname}/${namespace}/${type}",
        "registry.example.net/tofu/{hostname}/{namespace}/{type}",
    ] {
        let resolved = resolve(&format!("acme/demo --from {template}"));
        assert_eq!(resolved, expected);
    }
}

#[test]
fn mixed_spellings_of_expressions_are_refused() {
    let template =
        r#"ghcr.io/%{ if namespace == "acme" }ours%{ else }theirs%{ endif }/${namespace}-${type}"#;
    // The template has spaces.
    let run = Scene::new().tfoci(["resolve", "acme/demo", "--from", template]);
    let text = run.succeeds().stdout;
    let expected = format!("ghcr.io/ours/acme-demo\nhcl  {template}\nuri  none");
    assert!(text.starts_with(&expected), "{text}");
}

#[test]
fn json_has_the_same_repository() {
    let text = resolve("acme/demo --from r.example/{namespace}-{type} --format json");
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    let expected = serde_json::json!({
        "schema": 1,
        "provider": "registry.opentofu.org/acme/demo",
        "reference": "r.example/acme-demo",
        "template": {"hcl": "r.example/${namespace}-${type}", "uri": "r.example/{namespace}-{type}"},
    });
    assert_eq!(document, expected);
}

#[test]
fn a_layout_resolves_to_a_directory() {
    for (arguments, place) in [
        (
            "bücher.example:8443/acme/demo",
            "/xn--bcher-kva.example_8443/acme/demo",
        ),
        ("acme/demo --exact-repository", ""),
    ] {
        let resolved = resolve(&format!("{arguments} --from oci-layout:store"));
        assert_eq!(resolved, format!("oci-layout:store{place}\n"));
    }
}

#[test]
fn a_template_without_expressions_is_one_repository() {
    let random = "r.example/terraform-provider-random";
    assert!(resolve(&format!("hashicorp/random --from {random}")).starts_with(random));
    let scene = Scene::new();
    let other = format!("resolve hashicorp/aws --from {random}");
    scene.line(&other).exits(2);
    scene.line(format!("{other} --exact-repository")).succeeds();
}

#[test]
fn an_address_that_a_template_cannot_map_has_exit_code_1() {
    for arguments in [
        "acme/ünder --from r.example/{namespace}/{type}",
        "example.com:8443/acme/demo --from r.example/{hostname}/{type}",
    ] {
        Scene::new().line(format!("resolve {arguments}")).exits(1);
    }
}

#[test]
fn a_name_that_becomes_too_long_is_refused() {
    let template = format!("registry.example.net/{}", "{type}".repeat(60));
    // Every template is tried with examples first.
    let name = template.replace("{type}", "example-type");
    let (shown, name) = (template.split_at(200).0, name.split_at(200).0);
    let run = Scene::new().line(format!("resolve acme/demodemodemo --from {template}"));
    run.exits(2).says(&format!("error {shown}… {name}…"));
}
