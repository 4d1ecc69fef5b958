use proptest::prelude::*;

use super::*;

fn read(files: &[(&str, &str)]) -> Result<Module, Error> {
    read_for(None, files)
}

pub(super) fn read_for(client: Option<Client>, files: &[(&str, &str)]) -> Result<Module, Error> {
    let files: Vec<_> = files
        .iter()
        .map(|(name, text)| SourceFile {
            name,
            bytes: text.as_bytes(),
        })
        .collect();
    Module::read(&files, client, &Hostname::default_origin())
}

fn constraints(one: &Requirement) -> VersionConstraints {
    let stated = one.stated.iter().map(|one| one.constraints.clone());
    stated.reduce(VersionConstraints::and).unwrap_or_default()
}

/// The requirements, each as `NAME ADDRESS CONSTRAINTS`.
fn requirements(files: &[(&str, &str)]) -> Vec<String> {
    let module = read(files).unwrap();
    let line = |(name, one): (&String, &Requirement)| {
        format!("{name} {} {}", one.source, constraints(one))
            .trim_end()
            .to_owned()
    };
    module.requirements.iter().map(line).collect()
}

const MODULE: &str = r#"
terraform {
  required_version = ">= 1.5"
  required_providers {
    aws = { # AWS
      source                = "hashicorp/aws"
      version               = ">= 5.0, < 7.0"
      configuration_aliases = [ aws.east, aws.west ]
    }
    demo   = { source = "example.com/Acme/Demo", version = "~> 1.2" }
    legacy = "~> 2.0"
    random = {}
    core   = { source = "terraform.io/builtin/terraform" }
  }
  backend "s3" {}
}

provider "aws" {
  region = var.region
}
provider "aws" {
  alias   = "west"
  version = "!= 5.3"
}

locals {
  users = {
    for name, user in var.users : name =>
    user.is_admin
    ? { role = "${upper("admin")}}{" }
    : null
  }
  script = <<-EOT
    resource "hidden_thing" "x" {
    %{ for name in keys(local.users) ~}
    ${name} = "${local.users[name].role}"
    %{ endfor ~}
  EOT
}

resource "aws_instance" "web" {
  provider = aws.west
  count    = length(local.users) > 0 ? 1 : 0
}
resource "google_project" "beta" {
  provider = google-beta
}
resource "null_resource" "old" {
  provider = "legacy.alias"
}
resource "tofu_thing" "each" {
  for_each = local.users
  provider = demo.by_user[each.key]
}
data "http" "page" {}
data "terraform_remote_state" "x" {}
resource "terraform_data" "x" {}
ephemeral "vault_token" "x" {}
action "lambda_invoke" "x" {}
check "health" {
  data "dns_a_record_set" "x" {}
}

import { to = kept_thing.x["a"] }
import { to = module.near.hidden_thing.x }

module "near" {
  source    = "./modules/near"
  providers = { aws = aws.west }
}
module "beside" { source = "../beside" }
module "far" {
  source  = "acme/far/aws"
  version = "1.0.0"
}
module "computed" {
  source = "${path.module}/x"
}
"#;

#[test]
fn a_module_requires_what_clients_see_in_it() {
    assert_eq!(
        requirements(&[("main.tf", MODULE)]),
        [
            "aws registry.opentofu.org/hashicorp/aws >= 5.0.0, != 5.3.0, < 7.0.0",
            "demo example.com/acme/demo ~> 1.2",
            "dns registry.opentofu.org/hashicorp/dns",
            "google-beta registry.opentofu.org/hashicorp/google-beta",
            "hidden registry.opentofu.org/hashicorp/hidden",
            "http registry.opentofu.org/hashicorp/http",
            "kept registry.opentofu.org/hashicorp/kept",
            "lambda registry.opentofu.org/hashicorp/lambda",
            "legacy registry.opentofu.org/hashicorp/legacy ~> 2.0",
            "random registry.opentofu.org/hashicorp/random",
            "vault registry.opentofu.org/hashicorp/vault",
        ]
    );
    let calls = read(&[("main.tf", MODULE)]).unwrap().calls;
    let names: Vec<&str> = calls.keys().map(String::as_str).collect();
    assert_eq!(names, ["beside", "computed", "far", "near"]);
}

#[test]
fn json_says_the_same() {
    let json = r#"{
      "//": "a comment",
      "terraform": [{"required_providers": {"//": "x", "demo": {"source": "example.com/acme/demo", "version": "~> 1.2"}, "legacy": "2.0.0"}}],
      "provider": {"aws": [{"version": "< 3"}, {"alias": "west", "version": ">= 1"}]},
      "resource": {"//": "x", "aws_instance": {"web": [{"provider": "aws.west"}]}, "null_resource": {"x": {"provider": "${demo.y}"}}},
      "data": [{"http": {"//": "x", "page": {}}}],
      "ephemeral": {"vault_token": {"x": {}}},
      "action": {"lambda_invoke": {"x": {}}},
      "import": [{"to": "kept_thing.x", "id": "a"}, {"to": "module.near.hidden_thing.x", "id": "b"}],
      "check": {"health": {"data": {"dns_a_record_set": {"x": {}}}}},
      "module": {"near": {"source": "./near"}, "far": {"source": "acme/far/aws"}},
      "locals": {"deep": [[[1, 2.5, -3, null, true]]]}
    }"#;
    let native = r#"
      terraform {
        required_providers {
          demo = {
            source : "example.com/acme/demo", version = "~> 1.2" }
          legacy = "2.0.0"
        }
      }
      provider aws { version = "< 3" }
      provider "aws" {
        alias = "west"
        version = ">= 1"
      }
      resource aws_instance web { provider = aws.west }
      resource "null_resource" "x" { provider = demo.y }
      data "http" "page" {}
      ephemeral "vault_token" "x" {}
      action "lambda_invoke" "x" {}
      check "health" {
        data "dns_a_record_set" "x" {}
      }
      import { to = kept_thing.x }
      import { to = module.near.hidden_thing.x }
      module near { source = "./near" }
      module far { source = "acme/far/aws" }
    "#;
    // JSON has no lines.
    let without_places = |mut module: Module| {
        let all = module.requirements.values_mut();
        all.for_each(|one| one.stated.clear());
        let nowhere = Position {
            path: "".into(),
            line: None,
        };
        let all = module.calls.values_mut();
        all.for_each(|one| one.position = nowhere.clone());
        module
    };
    let module = read(&[("main.tf.json", json)]).unwrap();
    let other = read(&[("main.tf", native)]).unwrap();
    assert_eq!(
        other.requirements["aws"]
            .stated
            .iter()
            .map(|one| (one.position.line, one.constraints.to_string()))
            .collect::<Vec<_>>(),
        [
            (Some(14), String::new()),
            (Some(9), "< 3.0.0".to_owned()),
            (Some(10), ">= 1.0.0".to_owned())
        ]
    );
    assert_eq!(without_places(module.clone()), without_places(other));
    assert_eq!((module.requirements.len(), module.calls.len()), (9, 2));
    assert_eq!(
        constraints(&module.requirements["aws"]).to_string(),
        ">= 1.0.0, < 3.0.0"
    );
}

#[test]
fn sources_without_host_mean_the_host_of_the_client() {
    let text = "terraform {\n required_providers {\n a = { source = \"b\" }\n c = { source = \"d/e\" }\n }\n}";
    let files = [SourceFile {
        name: "x.tf",
        bytes: text.as_bytes(),
    }];
    let module = Module::read(&files, None, &Hostname::predecessor_origin()).unwrap();
    let sources: Vec<_> = module
        .requirements
        .values()
        .map(|one| one.source.to_string())
        .collect();
    assert_eq!(
        sources,
        [
            "registry.terraform.io/hashicorp/b",
            "registry.terraform.io/d/e"
        ]
    );
}

#[test]
fn overriding_files_change_what_others_say() {
    let files = [
        (
            "a_override.tf",
            "terraform {\n required_providers {\n a = { source = \"x/a\" }\n }\n}\nresource \"y_z\" \"one\" { provider = a }\nmodule \"m\" { source = \"./n\" }",
        ),
        (
            "main.tf",
            "terraform {\n required_providers {\n a = \"1.0.0\"\n b = \"1.0.0\"\n }\n}\nresource \"y_z\" \"one\" {}\nmodule \"m\" { source = \"./m\" }\nprovider \"b\" { version = \"!= 2.0.0\" }",
        ),
        (
            "override.tf.json",
            r#"{"resource": {"y_z": {"one": {"count": 1}}}, "provider": {"b": {"version": "!= 3.0.0"}}, "module": {"m": {"version": "1"}}}"#,
        ),
    ];
    assert_eq!(
        requirements(&files),
        [
            "a registry.opentofu.org/x/a",
            "b registry.opentofu.org/hashicorp/b 1.0.0, != 3.0.0"
        ]
    );
    let call = &read(&files).unwrap().calls["m"];
    assert_eq!(call.source, ModuleSource::Local("./n".to_owned()));
    assert_eq!(call.version, Some(Ok("1".to_owned())));
    assert_eq!(call.position.to_string(), "a_override.tf:7");
}

/// The content of `required_providers`, from line 3, and the expected message.
const REQUIREMENTS: &[(&str, &str)] = &[
    (
        "a = 1",
        "the requirement `a` is neither an object nor a version constraint in quotes\n  in main.tf:3",
    ),
    (
        "a = {\nversion = var.x\n}",
        "`version` is not text in quotes\n  in main.tf:4",
    ),
    (
        "a = {\nsource = [\"x\"]\n}",
        "`source` is not text in quotes\n  in main.tf:4",
    ),
    (
        "a = { source = \"b/c/d/e\" }",
        "`b/c/d/e` is not a provider address\n  expected HOSTNAME/NAMESPACE/TYPE\n  in main.tf:3",
    ),
    (
        "a = { source = \"-/c\" }",
        "`-` is not a namespace\n  expected letters, digits and single inner dashes, at most 255 bytes\n  in main.tf:3",
    ),
    (
        "a = \"^1\"",
        "`^1` is not a version constraint\n  expected comparisons such as `>= 1.2.0, < 2.0.0`, `~> 1.2` or `1.2.0`\n  in main.tf:3",
    ),
    (
        "a = {",
        "not valid HCL: an attribute or block is malformed, repeated, or does not end\n  in main.tf:1",
    ),
];

#[test]
fn each_mistake_names_its_file_and_line() {
    let required =
        |inside: &str| format!("terraform {{\n  required_providers {{\n{inside}\n  }}\n}}\n");
    for (inside, message) in REQUIREMENTS.iter().copied() {
        let error = read(&[("main.tf", &required(inside))]).unwrap_err();
        assert_eq!(error.to_string(), message, "{inside}");
    }
    let both = [
        ("a.tf", &*required("")),
        ("b.tf", &("\n".to_owned() + &required(""))),
    ];
    let error = read(&both).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a module has two `required_providers` blocks\n  the first in a.tf:2\n  in b.tf:3"
    );
    for (name, text, message) in [
        (
            "a.tf",
            "resource \"x\" {}",
            "`resource` is not a block with 2 labels\n  in a.tf:1",
        ),
        (
            "a.tf",
            "\nresource \"A_b\" \"c\" { provider = d_e }",
            "`d_e` is not a provider type\n  expected letters, digits and single inner dashes, at most 255 bytes, without `terraform-` or `opentofu-` before them\n  in a.tf:2",
        ),
        (
            "a.tf.json",
            "{\n\"a\": 1,}",
            "not a valid JSON object\n  in a.tf.json:2",
        ),
        ("a.tf.json", "1", "not a valid JSON object\n  in a.tf.json"),
        (
            "a.tf.json",
            "{\"module\": {\"x\": 1}}",
            "`module` is not a block with 1 label\n  in a.tf.json",
        ),
        (
            "a.tf.json",
            "{\"module\": {\"x\": {\"source\": 1}}}",
            "`source` is not text in quotes\n  in a.tf.json",
        ),
    ] {
        assert_eq!(
            read(&[(name, text)]).unwrap_err().to_string(),
            message,
            "{text}"
        );
    }
    let deep = "[".repeat(1000);
    assert!(read(&[("a.tf.json", &deep)]).is_err());
}

proptest! {
    #[test]
    fn never_panics(
        text in "((terraform|required_providers|provider|resource|module|check|data) (\"?[a-z_]{1,4}\"? ?){0,2}\\{?|[a-z]{1,2} ?= ?|\"[a-z/.~> 0-9$\\{]{0,6}\"|[\\{\\}\n\\[\\],]){0,20}",
        json in "[\\[\\]\\{\\}:,\"a-c1]{0,20}|\\{\"(terraform|provider|resource|module|check)\":[\\[\\]\\{\\}:,\"a1]{0,12}\\}",
    ) {
        let _ = read(&[("a.tf", &text), ("a.tf.json", &json)]);
    }

    #[test]
    fn what_is_required_is_found_among_anything_that_is_valid(
        value in "[a-z]\\.[a-z]|\\[(1, ?)*2\\]|\"(\\$\\{\"[a-z}{]\"\\}|\\\\\"|[a-z#{}%$] )*\"|<<E\n[a-z{}\" ]*\nE|\\{ a = (1|\"\\}\"), b = \\[\\] \\}",
        comment in "(# [a-z{}\"]*\n|/\\*[a-z{}\"\n]*\\*/|// \"\n|\n)*",
    ) {
        let text = format!(
            "locals {{\n  x = {value}\n}}\n{comment}\nterraform {{\n  required_providers {{ {comment}\n a = {{ {comment} version = \"1.0.0\" }}\n }}\n}}\n"
        );
        prop_assert_eq!(requirements(&[("a.tf", &text)]), ["a registry.opentofu.org/hashicorp/a 1.0.0"], "{}", text);
    }
}
