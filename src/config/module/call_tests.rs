//! Which modules a module calls.

use super::*;

/// The calls of one file, each as `NAME SOURCE VERSION`.
fn calls(name: &str, text: &str) -> Vec<String> {
    let file = SourceFile {
        name,
        bytes: text.as_bytes(),
    };
    let module = Module::read(&[file], None, &Hostname::default_origin()).unwrap();
    let line = |(name, call): (&String, &ModuleCall)| {
        let version = match &call.version {
            None => "-",
            Some(Ok(version) | Err(version)) => version,
        };
        format!("{name} {:?} {version}", call.source)
    };
    module.calls.iter().map(line).collect()
}

#[test]
fn sources_are_directories_or_elsewhere_or_computed() {
    let native = r#"
module "a" { source = "./near" }
module "b" { source = "../beside" }
module "c" { source = ".\\near\\deep" }
module "d" { source = "..\\beside" }
module "e" {
  source  = "acme/far/aws"
  version = "~> 1.0"
}
module "f" {
  source  = "${path.module}/x"
  version = var.version
}
module "g" { source = var.source }
module "h" { source = "./$${x}" }
module "i" {
  version = "1"
}
"#;
    assert_eq!(
        calls("main.tf", native),
        [
            "a Local(\"./near\") -",
            "b Local(\"../beside\") -",
            "c Local(\"./near/deep\") -",
            "d Local(\"../beside\") -",
            "e Elsewhere(\"acme/far/aws\") ~> 1.0",
            "f Computed(\"\\\"${path.module}/x\\\"\") var.version",
            "g Computed(\"var.source\") -",
            "h Local(\"./${x}\") -",
        ]
    );
}

/// OpenTofu evaluates them, so that the directory of their text is not the one that is called.
#[test]
fn templates_in_json_are_computed() {
    let json = r#"{"module": {
      "a": {"source": "./${var.kind}", "version": "${var.version}"},
      "b": {"source": "./%{if true}x%{endif}"},
      "c": {"source": "./$${x}"},
      "d": {"source": ".\\near"},
      "e": {"source": "acme/far/aws", "version": "1.0.0"}
    }}"#;
    assert_eq!(
        calls("main.tf.json", json),
        [
            "a Computed(\"./${var.kind}\") ${var.version}",
            "b Computed(\"./%{if true}x%{endif}\") -",
            "c Computed(\"./$${x}\") -",
            "d Local(\"./near\") -",
            "e Elsewhere(\"acme/far/aws\") 1.0.0",
        ]
    );
}
