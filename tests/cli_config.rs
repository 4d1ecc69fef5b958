//! `tfoci cli-config`: the printed block, real clients that read it, and the check of existing configurations.

use tfoci::platform::Platform;

use crate::clients::{clients, init, requiring};
use crate::install::{DEMO, push};
use crate::readme::block;
use crate::schema::follows;
use crate::support::release::ReleaseFolder;
use crate::support::scene::{Run, Scene};

/// `--check`.
mod check;

const TEMPLATE: &str = "h.example/${hostname}/${namespace}/${type}";

/// Prints the block where `mirror` is a directory. Words are separated by `|`.
fn print(arguments: &str) -> Run {
    let scene = Scene::new();
    let package = "acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip";
    for host in ["registry.opentofu.org", "registry.terraform.io"] {
        scene.write(format!("mirror/{host}/{package}"), "");
    }
    let arguments = arguments.replace("TEMPLATE", TEMPLATE);
    let words = arguments.split('|').filter(|word| !word.is_empty());
    scene.tfoci(["cli-config"].into_iter().chain(words))
}

#[test]
fn the_document_has_the_block_that_is_printed() {
    for arguments in [
        "acme/*|--from|TEMPLATE",
        "--from|h.example/{hostname}/{namespace}/{type}",
        "acme/demo|--client=terraform|--into=mirror",
        "acme/*|--url|https://m.example/v1",
        "acme/demo|--exact-repository|--from=h.example/any/name",
        r#"acme/*|--from=${hostname == "a.example" ? "h.example" : "i.example"}/${namespace}/${type}"#,
    ] {
        let block = print(arguments).succeeds().stdout;
        let run = print(&format!("{arguments}|--format|json"));
        let document = run.succeeds().json();
        follows("cli-config", &document);
        assert_eq!(document["configuration"], block);
    }
}

/// The first line names nothing. Clients accept the template of the line with `*/*/*`, and install every provider from one repository.
const REFUSED: &str = "
--from|TEMPLATE|--client|terraform
--from|oci-layout:store
--url|http://m.example/
acme/*|--from|h.example/{namespace}
*/*/*|acme/demo|--from|h.example/acme/demo
acme/demo|acme/more|--from|h.example/acme/demo
bücher/*|--from|TEMPLATE
a.example:8443/acme/*|--from|TEMPLATE
acme|--into|mirror
--client|terraform
--into|a|--url|b
--check|acme/demo
--check|own.tfrc";

#[test]
fn blocks_with_which_no_client_could_install_are_refused() {
    for arguments in REFUSED.lines() {
        print(arguments).exits(2).without_result();
    }
    let scene = Scene::new();
    scene.write("store/a.example/acme/demo/index.json", "{}");
    scene.write("store/a.example/acme/demo/oci-layout", "{}");
    for into in ["store", "oci-layout:store"] {
        let run = scene.tfoci(["cli-config", "--into", into]);
        run.exits(2).without_result();
    }
}

#[test]
fn clients_install_from_a_directory_with_any_name() {
    let here = Platform::current().to_string();
    for client in clients() {
        let scene = Scene::new();
        let release = ReleaseFolder::new("demo", "1.0.0").platform(&here);
        push(&scene, DEMO, "1.0.0", &release);
        let into = r#"mirror "${a}" %{b} \ $${c}"#;
        let install = ["install", "--from", "oci-layout:store", "--into", into];
        let installed = scene.tfoci(install).succeeds().stderr;
        let print = ["cli-config", DEMO, "--into", into, "--client", client];
        let block = scene.tfoci(print).succeeds().stdout;
        // Both commands print the same block.
        let (_, after) = installed.split_once("CLI configuration:\n\n").unwrap();
        assert_eq!(after, block);
        let root = scene.path("").canonicalize().unwrap();
        let root = root.to_str().unwrap().trim_end_matches('/');
        scene.write("client.tfrc", block.replace("[TMP]", root));
        scene.write("project/main.tf", requiring(&[(DEMO, "")]));
        init(&scene, "project", client).succeeds();
        assert!(scene.path("project/.terraform.lock.hcl").exists());
    }
}

#[test]
fn the_block_in_the_readme_is_printed() {
    let template = "ghcr.io/acme/providers/${hostname}/${namespace}/${type}";
    let printed = print(&format!("example.com/acme/*|--from|{template}"));
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = words(&block("hcl", "include             = "));
    assert_eq!(shown, words(&printed.succeeds().stdout));
}

/// Terraform users name its default host once, in the environment, and `lock` then writes for Terraform.
#[test]
fn the_default_host_of_terraform_says_which_client_it_is_for() {
    let scene = Scene::new().env("TFOCI_DEFAULT_HOST", "registry.terraform.io");
    let arguments = format!("cli-config acme/demo --from {TEMPLATE}");
    scene.line(&arguments).exits(2).without_result();
    let run = scene.line(format!("{arguments} --client tofu"));
    let included = "include             = [\"registry.terraform.io/acme/demo\"]";
    assert!(run.succeeds().stdout.contains(included));
    scene.write(".terraformrc", "plugin_cache_dir = \"none\"\n");
    let said = scene.line("cli-config --check").exits(1).stdout;
    assert!(said.contains(".terraformrc"), "{said}");
}
