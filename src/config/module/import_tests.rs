//! Which providers `import` blocks and override files require, by client.

use super::tests::read_for;
use super::*;

/// The types of the providers that a module requires for each client, and if it is not known.
fn types(files: &[(&str, &str)]) -> [String; 3] {
    [Some(Client::OpenTofu), Some(Client::Terraform), None].map(|client| {
        let module = read_for(client, files).unwrap();
        let names: Vec<&str> = module.requirements.keys().map(String::as_str).collect();
        names.join(" ")
    })
}

#[test]
fn an_import_requires_the_provider_of_the_type_in_its_address() {
    for (to, wanted) in [
        ("a_x.y", ["a"; 3]),
        ("a_x.y[\"k.[\"]", ["a"; 3]),
        ("/* b_x. */ a_x . y.0", ["a"; 3]),
        ("a_x.resource", ["a"; 3]),
        // Each client refuses the addresses of the other.
        ("resource.a_x.y", ["a"; 3]),
        ("data.a_x.y[each.key]", ["a"; 3]),
        ("ephemeral.a_x.y", ["a"; 3]),
        // OpenTofu has no kind `resource`.
        ("resource.a", ["resource"; 3]),
        ("module.m.a_x.y", ["a", "", "a"]),
        ("module.m[\"k\"].a_x.y[0]", ["a", "", "a"]),
        ("module.m.0.a_x.y", ["a", "", "a"]),
        ("module.m.module.n[var.x[\"]\"]].a_x.y", ["a", "", "a"]),
        ("module.m.data.a_x.y", ["a", "", "a"]),
        // Both refuse them.
        ("module.m", [""; 3]),
        ("a_x", [""; 3]),
        ("(a_x.y)", [""; 3]),
    ] {
        let native = format!("import {{\n to = {to}\n id = \"1\"\n}}\n");
        assert_eq!(types(&[("main.tf", &native)]), wanted, "{to}");
        let json = format!(r#"{{"import": {{"to": "\n{}"}}}}"#, to.replace('"', "\\\""));
        assert_eq!(types(&[("main.tf.json", &json)]), wanted, "{to}");
    }
}

#[test]
fn two_imports_with_one_address_require_both_providers() {
    let native = r#"
import {
  for_each = { a = 1 }
  to       = a_x.y[each.key]
}
import {
  for_each = { b = 1 }
  to       = a_x.y[each.key]
  provider = b
}
"#;
    let json =
        r#"{"import": [{"to": "a_x.y[each.key]"}, {"to": "a_x.y[each.key]", "provider": "b.c"}]}"#;
    assert_eq!(types(&[("main.tf", native)]), ["a b"; 3]);
    assert_eq!(types(&[("main.tf.json", json)]), ["a b"; 3]);
}

#[test]
fn terraform_takes_the_provider_of_an_import_from_its_resource() {
    let text = "import { to = a_x.y[0] }\nresource \"a_x\" \"y\" { provider = b }\n";
    assert_eq!(types(&[("main.tf", text)]), ["a b", "b", "a b"]);
}

#[test]
fn both_providers_of_an_overridden_ephemeral_resource_or_action_count() {
    for kind in ["ephemeral", "action"] {
        let block = |provider: &str| format!("{kind} \"c_x\" \"y\" {{\n {provider}\n}}\n");
        for (main, changed, wanted) in [
            ("provider = a", "provider = b", "a b"),
            ("", "provider = b", "b c"),
            ("provider = a", "", "a"),
        ] {
            let (main, changed) = (block(main), block(changed));
            let files = [("main.tf", &*main), ("override.tf", &*changed)];
            assert_eq!(types(&files), [wanted; 3], "{main} {changed}");
        }
    }
}
