//! Tests that say which texts are addresses of stores, and which repositories they name.

use super::*;
use crate::error::Category;

#[test]
fn a_template_must_give_names_that_its_registry_takes() {
    let check = |text: &str, providers: &[&str]| {
        let providers: Vec<ProviderAddr> =
            providers.iter().map(|text| text.parse().unwrap()).collect();
        let endpoint = Endpoint::parse(text, false).unwrap();
        endpoint
            .check(&providers)
            .map_err(|error| error.to_string())
    };
    let deep = "docker.io/acme/{namespace}/{type}";
    let provider = "registry.example.net/acme/demo";
    let error = check(deep, &[provider]).unwrap_err();
    assert!(
        error.contains("received docker.io/acme/example-namespace/example-type"),
        "{error}"
    );
    assert!(check("docker.io/acme/${hostname}/${namespace}/${type}", &[]).is_err());
    assert!(check("docker.io/acme/a/demo", &[provider]).is_err());
    assert_eq!(
        check("docker.io/acme/{namespace}-{type}", &[provider]),
        Ok(())
    );
    assert_eq!(
        check("registry.example.net/a/b/{namespace}/{type}", &[provider]),
        Ok(())
    );
    // It fits the placeholder: the others get an error when they are mapped.
    let some = r#"docker.io/acme/%{ if type == "demo" }other/%{ endif }${type}"#;
    assert_eq!(check(some, &[provider]), Ok(()));
    let endpoint = Endpoint::parse(some, false).unwrap();
    let repository = |text: &str| endpoint.repository(&text.parse().unwrap());
    assert!(repository("registry.example.net/acme/more").is_ok());
    let error = repository(provider).unwrap_err();
    assert!(error.to_string().contains("two levels"), "{error}");
    assert_eq!(error.category(), Category::Unsupported);
}

#[test]
fn the_prefix_decides_and_the_directory_is_literal() {
    for text in ["oci-layout:a b/ü", "oci-layout:/m", "oci-layout:///m"] {
        assert!(Endpoint::parse(text, false).is_ok());
    }
    for (text, wanted) in [
        ("oci-layout:", "expected oci-layout:DIR"),
        ("oci-layout:x/${hostname}", "without symbols"),
        ("oci-layout:x/{type}", "without symbols"),
        (
            "oci-layout://m/p",
            "expected oci-layout:m/p or oci-layout:/m/p",
        ),
    ] {
        let message = Endpoint::parse(text, false).unwrap_err().to_string();
        assert!(message.contains(wanted), "{message}");
    }
}
