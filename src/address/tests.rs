use super::*;
use crate::error::Category;
use proptest::prelude::*;

fn parse(text: &str) -> Result<ProviderAddr, Error> {
    ProviderAddr::parse(text, &"registry.example.com".parse().unwrap())
}

/// The expected results come from the clients' own code, with another default host.
#[test]
fn two_or_three_segments_are_read_in_any_case() {
    for (text, shown, ascii) in [
        (
            "acme/demo",
            "registry.example.com/acme/demo",
            "registry.example.com/acme/demo",
        ),
        (
            "Acme/DEMO",
            "registry.example.com/acme/demo",
            "registry.example.com/acme/demo",
        ),
        (
            "example.com:443/hashicorp/google-beta",
            "example.com/hashicorp/google-beta",
            "example.com/hashicorp/google-beta",
        ),
        (
            "BÜCHER.example:8443/Ünï/ßtraße",
            "bücher.example:8443/ünï/ßtraße",
            "xn--bcher-kva.example:8443/ünï/ßtraße",
        ),
        (
            "a/1",
            "registry.example.com/a/1",
            "registry.example.com/a/1",
        ),
        (
            "terraform.io/acme/terraform",
            "terraform.io/acme/terraform",
            "terraform.io/acme/terraform",
        ),
        (
            "terraform/tofu-opentofu-x",
            "registry.example.com/terraform/tofu-opentofu-x",
            "registry.example.com/terraform/tofu-opentofu-x",
        ),
    ] {
        let address = parse(text).unwrap();
        assert_eq!(address.to_string(), shown);
        assert_eq!(address.to_ascii(), ascii);
        assert_eq!(address.to_string().parse(), Ok(address.clone()));
        assert_eq!(ProviderAddr::from_ascii(ascii), Ok(address));
    }
}

#[test]
fn documents_must_name_the_host() {
    assert!(matches!(
        "acme/demo".parse::<ProviderAddr>(),
        Err(Error::Segments { .. })
    ));
    assert!(matches!(
        ProviderAddr::from_ascii("acme/demo"),
        Err(Error::Segments { .. })
    ));
}

#[test]
fn refusals_say_what_to_write() {
    let message = |text: &str| parse(text).unwrap_err().to_string();
    for (text, expected) in [
        (
            "",
            "`` is not a provider address\n  expected HOSTNAME/NAMESPACE/TYPE",
        ),
        (
            "random",
            "`random` is not a provider address\n  expected HOSTNAME/NAMESPACE/TYPE",
        ),
        (
            "a/b/c/d",
            "`a/b/c/d` is not a provider address\n  expected HOSTNAME/NAMESPACE/TYPE",
        ),
        (
            "a_b/c/d",
            "`a_b` is not a host name\n  expected HOST or HOST:PORT in Unicode, of letters, digits, dots and inner dashes, as long as DNS allows",
        ),
        (
            "acme/a_b",
            "`a_b` is not a provider type\n  expected letters, digits and single inner dashes, at most 255 bytes, without `terraform-` or `opentofu-` before them",
        ),
        (
            "acme/OpenTofu-demo",
            "`OpenTofu-demo` is not a provider type\n  expected letters, digits and single inner dashes, at most 255 bytes, without `terraform-` or `opentofu-` before them",
        ),
        (
            "-/aws",
            "`-` is not a namespace\n  expected letters, digits and single inner dashes, at most 255 bytes",
        ),
        (
            "terraform.io/builtin/terraform",
            "`terraform.io/builtin/terraform` is built into the client and never installed",
        ),
        (
            "OpenTofu.org:443/Builtin/x",
            "`opentofu.org/builtin/x` is built into the client and never installed",
        ),
    ] {
        assert_eq!(message(text), expected);
    }
    assert!(parse("terraform.io:8443/builtin/terraform").is_ok());
}

/// So `_` between namespace and type keeps the two names apart.
#[test]
fn only_namespaces_of_other_hosts_than_that_of_opentofu_have_underscores() {
    for (text, is_for_oci) in [
        ("my_inc/demo", true),
        ("registry.terraform.io/My__Inc/demo", true),
        ("example.com/_acme/demo", false),
        ("example.com/acme_/demo", false),
        ("example.com/a___b/demo", false),
    ] {
        let address = parse(text).unwrap();
        assert_eq!(address.to_string().parse(), Ok(address.clone()));
        assert_eq!(address.oci_safe().is_ok(), is_for_oci, "{text}");
        let pattern = format!("{}/{}/*", address.hostname(), address.namespace());
        assert!(
            pattern
                .parse::<ProviderPattern>()
                .unwrap()
                .matches(&address)
        );
    }
    let long = format!("example.com/{}/demo", ["a"; 129].join("_"));
    for text in [
        "registry.opentofu.org/my_inc/demo",
        "example.com/acme/my_demo",
        "example.com/_/demo",
        "example.com/a_-b/demo",
        &long,
    ] {
        assert!(text.parse::<ProviderAddr>().is_err(), "{text}");
        assert!(text.parse::<ProviderPattern>().is_err(), "{text}");
    }
}

#[test]
fn oci_holds_ascii_names_on_any_host() {
    assert_eq!(
        parse("bücher.example:8443/acme/demo-1").unwrap().oci_safe(),
        Ok(())
    );
    for text in ["ünï/demo", "acme/démo"] {
        let error = parse(text).unwrap().oci_safe().unwrap_err();
        assert!(matches!(error, Error::NotForOci { .. }));
        assert_eq!(error.category(), Category::Unsupported);
    }
}

#[test]
fn addresses_sort_as_in_a_lock_file() {
    let sorted = [
        "b.example/z/z",
        "é.example/a/a",
        "é.example/a/b",
        "é.example/b/a",
        "xn.example/a/a",
    ];
    let addresses = sorted.map(|text| parse(text).unwrap());
    assert!(addresses.is_sorted());
    assert_eq!(
        serde_json::to_string(&addresses[1]).unwrap(),
        "\"é.example/a/a\""
    );
}

proptest! {
    #[test]
    fn never_panics_and_prints_back(
        text in "\\PC{0,20}|([a-zA-Zé.-]{1,9}(:[0-9]{1,4})?/)?[a-zA-Z0-9ÜßЖ例_.-]{0,7}/(terraform-|opentofu-)?[\\PC&&[^/]]{0,9}",
    ) {
        if let Ok(address) = parse(&text) {
            prop_assert_eq!(ProviderAddr::from_ascii(&address.to_ascii()), Ok(address.clone()));
            prop_assert_eq!(address.to_string().parse(), Ok(address));
        }
    }
}
