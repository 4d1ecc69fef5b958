//! The gate for changes by others, as `tfoci help lock` describes it: nothing from which `init` takes a provider gets past it.

use crate::clients::run;
use crate::support::origin::Origin;
use crate::support::programs::has;
use crate::support::scene::{Run, Scene};

use super::{clients, given, read};

/// What a change adds to the project, file by file. `[HOST]` stands for the origin.
type Change = &'static [(&'static str, &'static str)];

const MODULE: &str =
    "terraform {\n  required_providers {\n    x = { source = \"[HOST]/acme/other\" }\n  }\n}\n";
const CALL: &str = "module \"m\" {\n  source = \"./helper\"\n}\n";
const RUN: &str = "run \"x\" {\n  module {\n    source = \"./helper\"\n  }\n}\n";
const RUN_JSON: &str = r#"{"run": {"x": {"module": {"source": "./helper"}}}}"#;
const STATE: &str = r#"{"version": 4, "terraform_version": "1.9.0", "serial": 1, "lineage": "a", "outputs": {}, "resources": [
  {"mode": "managed", "type": "x_y", "name": "z", "provider": "provider[\"[HOST]/acme/other\"]", "instances": []}]}"#;
/// Clients read both members.
const RUN_TWICE: &str = r#"{"run": {"x": {"module": {"source": "./helper"}, "module": null}}}"#;
const PACKAGE: &str =
    "terraform.d/plugins/[HOST]/acme/other/9.9.9/any_any/terraform-provider-other";

/// The changes by which `init` of both clients installs another provider.
const CHANGES: [Change; 4] = [
    &[("more.tf", CALL), ("helper/main.tf", MODULE)],
    &[("x.tftest.hcl", RUN), ("helper/main.tf", MODULE)],
    &[("tests/x.tftest.hcl", RUN), ("helper/main.tf", MODULE)],
    &[
        ("tests/x.tftest.json", RUN_JSON),
        ("helper/main.tf", MODULE),
    ],
];

/// The changes that only OpenTofu sees.
const OF_TOFU: [Change; 3] = [
    &[("x.tofutest.hcl", RUN), ("helper/main.tf", MODULE)],
    &[
        ("tests/x.tofutest.json", RUN_JSON),
        ("helper/main.tf", MODULE),
    ],
    &[("tests/x.tofutest.hcl", "provider \"null\" {}\n")],
];

struct Project {
    scene: Scene,
    origin: Origin,
    client: &'static str,
}

impl Project {
    fn of(client: &'static str) -> Self {
        let (origin, scene) = given();
        Self {
            scene,
            origin,
            client,
        }
    }

    /// Writes the project as it is on the protected branch, and locks it.
    fn locked(&self, directory: &str) {
        let main = MODULE.replace("other", "demo");
        self.add(directory, &[("main.tf", &main)]);
        let client = self.client;
        let lock = format!("lock --h1 --client {client} --chdir {directory}");
        self.scene.line(lock).succeeds();
    }

    fn add(&self, directory: &str, files: &[(&str, &str)]) {
        for (name, text) in files {
            let written = |text: &str| text.replace("[HOST]", self.origin.host());
            let path = format!("{directory}/{}", written(name));
            self.scene.write(path, written(text));
        }
    }

    fn check(&self, directory: &str) -> Run {
        let check = format!("lock --check --client {} --chdir", self.client);
        self.scene.line(format!("{check} {directory}"))
    }

    fn init(&self, directory: &str, more: &[&str]) -> Run {
        let init = ["init", "-no-color", "-input=false"].iter().chain(more);
        run(&self.scene, &self.scene.path(directory), self.client, init)
    }

    /// Whether the directory has this provider.
    fn has(&self, directory: &str, provider: &str) -> bool {
        let installed = format!("{directory}/.terraform/providers/{provider}");
        self.scene.path(installed).exists()
    }
}

#[test]
fn no_change_brings_a_provider_past_the_gate() {
    for client in clients() {
        let project = Project::of(client);
        project.locked("clean");
        project.check("clean").succeeds();
        project.init("clean", &["-lockfile=readonly"]).succeeds();
        let of_tofu = OF_TOFU.iter().filter(|_| client == "tofu");
        for (number, change) in CHANGES.iter().chain(of_tofu).enumerate() {
            let directory = number.to_string();
            project.locked(&directory);
            project.add(&directory, change);
            let stranger = match change {
                [(_, text)] if text.starts_with("provider") => {
                    "registry.opentofu.org/hashicorp/null".to_owned()
                }
                _ => project.origin.address("acme/other"),
            };
            let run = project.check(&directory).exits(4);
            run.tells(format!("  {stranger} "))
                .tells(format!(" {directory}/"));
            assert!(!project.has(&directory, &stranger));
            // Without the gate, the client installs it; and it is locked like any other.
            project.init(&directory, &[]).succeeds();
            assert!(project.has(&directory, &stranger), "{client}, {change:?}");
            let lock = format!("{directory}/.terraform.lock.hcl");
            let of_client = read(&project.scene, &lock);
            let again = format!("lock --chdir {directory}");
            project.scene.line(again).succeeds();
            let now = read(&project.scene, &lock);
            assert_eq!(now, of_client, "{client}, {change:?}");
        }
    }
}

/// What clients read in another way than it looks: no provider hides in it.
#[test]
fn what_clients_read_in_another_way_does_not_pass() {
    let heredoc = "resource \"x_y\" \"z\" {\n  provider = <<E\nnull\nE\n}\n";
    let decomposed = CALL.replace("helper", "e\u{301}");
    let composed = ("\u{e9}/main.tf", MODULE);
    let project = Project::of("terraform");
    let exits = |directory: &str, change: &[(&str, &str)], code: i32| {
        project.locked(directory);
        project.add(directory, change);
        project.check(directory).exits(code);
    };
    let decomposed = [
        ("more.tf", &*decomposed),
        ("e\u{301}/main.tf", "locals {}\n"),
    ];
    exits("0", &[&decomposed[..], &[composed]].concat(), 4);
    let twice = [("x.tftest.json", RUN_TWICE), ("helper/main.tf", MODULE)];
    exits("1", &twice, 4);
    exits("2", &[("more.tf", heredoc)], 1);
}

#[test]
fn a_package_beside_the_configuration_needs_an_entry() {
    let project = Project::of("terraform");
    project.locked("project");
    project.add("project", &[(PACKAGE, "")]);
    let run = project.check("project").exits(4);
    run.tells(project.origin.address("acme/other"));
    run.tells("project/terraform.d/plugins");
}

/// The second line of the gate holds where the first one only warns.
#[test]
fn a_state_is_named() {
    let project = Project::of("terraform");
    let backend = "terraform {\n  backend \"s3\" {\n    bucket = \"x\"\n  }\n}\n";
    let json = r#"{"terraform": {"backend": {"http": {}}}}"#;
    let changes = [
        ("terraform.tfstate", STATE, "0/terraform.tfstate."),
        ("terraform.tfstate.d/x/y", "", "1/terraform.tfstate.d."),
        (".terraform/terraform.tfstate", "", "2/.terraform/"),
        ("b.tf", backend, "`s3`"),
        ("b.tf", "terraform {\n  cloud {}\n}\n", "`cloud`"),
        ("b.tf.json", json, "`http`"),
    ];
    for (number, (name, text, state)) in changes.iter().enumerate() {
        let directory = number.to_string();
        project.locked(&directory);
        project.add(&directory, &[(name, text)]);
        let run = project.check(&directory).succeeds();
        let warning = run.stderr.lines().next().unwrap();
        let named = format!("   Warning {directory}/.terraform.lock.hcl: ");
        let is_named = warning.starts_with(&named) && warning.contains(state);
        assert!(is_named && warning.contains("`terraform init -lockfile=readonly`"));
    }
    if has("terraform") {
        let run = project.init("0", &["-lockfile=readonly"]).exits(1);
        run.tells("Provider dependency changes detected");
    }
}

#[test]
fn a_configuration_requires_a_limited_number_of_providers() {
    let project = Project::of("tofu");
    let required = |count: usize, line: &dyn Fn(usize) -> String| {
        let lines: String = (0..count).map(line).collect();
        project.add("project", &[("main.tf", &lines)]);
        project.check("project")
    };
    let resource = |number| format!("resource \"p{number:06}_x\" \"y\" {{}}\n");
    required(60_000, &resource).exits(1).tells("2000");
    // Not the limit, but the empty lock file.
    required(2_000, &resource).exits(4);
}

#[test]
fn expressions_that_decide_a_module_are_named() {
    let project = Project::of("tofu");
    for source in ["var.source", "\"./${var.dir}\""] {
        let call = CALL.replace("\"./helper\"", source);
        project.add("project", &[("main.tf", &call)]);
        project.check("project").exits(1).tells(source);
    }
}

#[test]
fn constraints_that_clients_refuse_are_refused() {
    let project = Project::of("tofu");
    for constraint in ["", " ", ">= 1.0,"] {
        let required =
            format!("demo = {{ source = \"[HOST]/acme/demo\", version = \"{constraint}\" }}");
        let text = MODULE.replace("x = { source = \"[HOST]/acme/other\" }", &required);
        let provider = format!("provider \"x\" {{\n  version = \"{constraint}\"\n}}\n");
        for text in [text, provider] {
            project.add("project", &[("main.tf", &text)]);
            project.check("project").exits(1).tells("main.tf:");
        }
    }
}
