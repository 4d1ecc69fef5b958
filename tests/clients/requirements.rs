//! Terraform and OpenTofu read the same requirements from a configuration as tfoci.

use std::collections::BTreeMap;

use tfoci::address::ProviderAddr;
use tfoci::configuration::{ReadAs, Requirements};
use tfoci::constraint::VersionConstraints;

use super::run;
use crate::support::programs::has;
use crate::support::scene::Scene;

const ROOT: &str = r#"
terraform {
  required_providers {
    aws = { # AWS
      source                = "hashicorp/aws"
      version               = ">= 5.0, < 7.0"
      configuration_aliases = [aws.east]
    }
    demo   = { source = "example.com/Acme/Demo", version = "~> 1.2" }
    legacy = "~> 2.0"
    random = {}
  }
}
provider "aws" {
  alias   = "west"
  version = "!= 5.3"
}
variable "users" {}
locals {
  users = {
    for name, user in var.users : name =>
    user.is_admin
    ? { role = "${upper("admin")}}{" }
    : null
  }
  script = <<-EOT
    resource "hidden_thing" "x" {
    %{for name in keys(local.users)~}
    ${name} = "${local.users[name].role}"
    %{endfor~}
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
  provider = "legacy"
}
resource "plain" "x" {}
data "http" "page" {}
data "terraform_remote_state" "x" {}
resource "terraform_data" "x" {}
check "health" {
  data "dns_a_record_set" "x" {}
  assert {
    condition     = data.dns_a_record_set.x.host != ""
    error_message = "never"
  }
}
module "near" {
  source = "./near"
}
module "beside" {
  source = "../beside"
}
"#;

const NEAR: &str = r#"{
  "//": "a comment",
  "terraform": {"required_providers": {"cloud": {"source": "hashicorp/aws", "version": "!= 6.0.0"}}},
  "resource": {"time_sleep": {"x": {"create_duration": "1s"}}},
  "module": {"beside": {"source": "../../beside"}}
}"#;

/// The requirements of all modules in the client's output.
fn seen_by(client: &str, scene: &Scene) -> BTreeMap<ProviderAddr, VersionConstraints> {
    let root = scene.path("root");
    run(scene, &root, client, ["get", "-no-color"]).succeeds();
    let said = run(scene, &root, client, ["providers", "-no-color"]).succeeds();
    let mut seen: BTreeMap<ProviderAddr, VersionConstraints> = BTreeMap::new();
    for line in said.stdout.lines() {
        let Some((_, provider)) = line.split_once("provider[") else {
            continue;
        };
        let (address, constraints) = provider.split_once(']').unwrap();
        if address.contains("/builtin/") {
            continue;
        }
        let known = seen.entry(address.parse().unwrap()).or_default();
        *known = known.clone().and(constraints.trim().parse().unwrap());
    }
    seen
}

#[test]
fn clients_require_the_providers_that_we_find() {
    for (client, host) in [
        ("terraform", "registry.terraform.io"),
        ("tofu", "registry.opentofu.org"),
    ] {
        if !has(client) {
            continue;
        }
        let scene = Scene::new();
        scene.write("client.tfrc", "");
        scene.write("root/main.tf", ROOT);
        scene.write("root/near/near.tf.json", NEAR);
        scene.write("beside/a.tf", "data \"http\" \"x\" {}\n");
        let version = |version| {
            format!("terraform {{\n  required_providers {{\n    http = \"{version}\"\n  }}\n}}\n")
        };
        scene.write("beside/b.tf", version("~> 3.0"));
        scene.write("beside/b_override.tf", version("~> 3.1"));
        let read_as = ReadAs {
            client: None,
            default_host: host.parse().unwrap(),
            data: ".terraform".into(),
        };
        let found = Requirements::read(&scene.path("root"), &read_as).unwrap();
        let seen = seen_by(client, &scene);
        assert_eq!(found.providers, seen, "{client}");
        assert_eq!(found.providers.len(), 9);
    }
}
