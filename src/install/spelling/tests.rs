use super::*;

fn refused(path: &str) -> Option<String> {
    let scene = tempfile::tempdir().unwrap();
    let provider: ProviderAddr = "bücher.example/acme/demo".parse().unwrap();
    std::fs::create_dir_all(scene.path().join("bücher.example/acme/demo/1.0.0/x")).unwrap();
    std::fs::create_dir_all(scene.path().join(path)).unwrap();
    let into = scene.path();
    let found = refuse_others(into, &provider, &"1.0.0".parse().unwrap());
    let said = found.err().map(|problem| problem.to_string())?;
    Some(said.replace(&crate::error::printable_path(into), ""))
}

#[test]
fn every_spelling_that_clients_normalise_is_found() {
    for (path, expected) in [
        ("BÜCHER.example/acme/demo", ""),
        ("bücher.example:443/acme/demo", ""),
        ("ｂücher.example/acme/demo", ""),
        ("bücher.example/ACME/demo", ""),
        ("bücher.example/acme/ｄemo", ""),
        ("bücher.example/acme/demo/1.0", "/1.0.0"),
        ("bücher.example/acme/demo/01.0.0", "/1.0.0"),
        (
            "bücher.example/acme/demo/Terraform-Provider-demo_1.0.0_linux_amd64.zip",
            "/terraform-provider-demo_1.0.0_linux_amd64.zip",
        ),
        (
            "bücher.example/acme/demo/terraform-provider-demo_1_linux_amd64_x.zip",
            "/terraform-provider-demo_1.0.0_linux_amd64.zip",
        ),
    ] {
        let paths = format!("\n  expected /bücher.example/acme/demo{expected}\n  received /{path}");
        assert!(refused(path).unwrap().ends_with(&paths), "{path}");
    }
}

#[test]
fn other_providers_and_versions_may_be_there() {
    for path in [
        "xn--bcher-kva.example/acme/demo",
        "EXAMPLE.com/acme/demo",
        "bücher.example/ACME/other",
        "bücher.example/acme/demo/1.0.1",
        "bücher.example/acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip",
    ] {
        assert_eq!(refused(path), None, "{path}");
    }
}
