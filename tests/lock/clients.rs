use crate::clients::{init, run, said};
use crate::support::origin::Origin;
use crate::support::scene::Scene;

use super::{clients, given, platforms, read};

const LOCK: &str = ".terraform.lock.hcl";

/// A project, and how it is locked.
struct Case {
    name: String,
    /// The files of the project. `[HOST]` stands for the origin.
    files: Vec<(String, String)>,
    /// Words: `everywhere` (for both platforms), `modules` (which the client has to fetch first), `upgrade`, and `keyless` (releases without
    /// keys, of a provider on the default host, are accepted).
    how: &'static str,
}

/// A project with this `required_providers`.
fn project(name: &str, required: &str) -> Case {
    let file = format!("terraform {{\n  required_providers {{\n    {required}\n  }}\n}}\n");
    Case {
        name: name.to_owned(),
        files: vec![("main.tf".to_owned(), file)],
        how: "",
    }
}

/// A project that requires `acme/demo` with a constraint.
fn constraint(text: &str) -> Case {
    let required = format!("demo = {{ source = \"[HOST]/acme/demo\", version = \"{text}\" }}");
    project(text, &required)
}

/// A project that requires one provider without a constraint.
fn provider(address: &str) -> Case {
    project(address, &format!("x = {{ source = \"{address}\" }}"))
}

impl Case {
    fn file(mut self, name: &str, text: &str) -> Self {
        self.files.push((name.to_owned(), text.to_owned()));
        self
    }

    /// A lock file with this content below its header.
    fn lock(self, program: &str, entries: &str) -> Self {
        let header = format!("# This file is maintained automatically by \"{program} init\".");
        let text = format!("{header}\n# Manual edits may be lost in future updates.\n{entries}");
        self.file(LOCK, &text)
    }

    fn named(mut self, name: &str) -> Self {
        self.name = name.to_owned();
        self
    }

    fn how(mut self, how: &'static str) -> Self {
        self.how = how;
        self
    }

    fn is(&self, word: &str) -> bool {
        self.how.contains(word)
    }

    /// Whether the client accepts the release: only OpenTofu accepts those without keys, and only on its default host.
    fn is_for(&self, client: &str) -> bool {
        client == "tofu" || !self.is("keyless")
    }

    fn write(&self, scene: &Scene, directory: &str, origin: &Origin) {
        for (name, text) in &self.files {
            let text = text.replace("[HOST]", origin.host());
            scene.write(format!("{directory}/{name}"), text);
        }
    }

    /// Asserts that the client and tfoci write the same lock file.
    #[track_caller]
    fn assert_same(&self, number: usize, client: &str, scene: &Scene, origin: &Origin) {
        let place = format!("{client}-{number}");
        let (theirs, ours) = (format!("{place}/theirs"), format!("{place}/ours"));
        self.write(scene, &theirs, origin);
        self.write(scene, &ours, origin);
        let directory = scene.path(&theirs);
        let wanted = platforms().into_iter();
        let wanted: Vec<String> = match self.is("everywhere") {
            true => wanted.collect(),
            false => wanted.take(1).collect(),
        };
        let case = &self.name;
        let theirs_run = |arguments: &str| {
            let arguments = arguments.split_whitespace().chain(["-no-color"]);
            run(scene, &directory, client, arguments).succeeds();
        };
        if self.is("modules") {
            theirs_run("get");
        }
        let upgrade = match self.is("upgrade") {
            true => {
                theirs_run("init -upgrade");
                "--upgrade"
            }
            false => {
                let options = wanted.iter().map(|one| format!(" -platform={one}"));
                theirs_run(&format!("providers lock {}", options.collect::<String>()));
                ""
            }
        };
        let wanted = wanted.iter().map(|one| format!(" --platform {one}"));
        let accepted = match self.is("keyless") {
            true => "--allow-unsigned registry.opentofu.org/hashicorp/keyless",
            false => "",
        };
        let arguments = format!("--chdir {ours} --client {client} {accepted}");
        let wanted: String = wanted.collect();
        let lock = format!("lock --h1 {arguments} {upgrade} {wanted}");
        scene.line(lock).succeeds();
        let lock = |directory: &str| read(scene, &format!("{directory}/{LOCK}"));
        assert_eq!(lock(&ours), lock(&theirs), "{client}: {case}");
        let before = lock(&ours);
        let check = scene.line(format!("lock --check {arguments}"));
        assert_eq!(check.status, Some(0), "{client}: {case}: {}", check.stdout);
        assert_eq!(lock(&ours), before);
    }
}

/// Entries of a provider that the project does not require, and of one that it does.
const KEPT: &str = r#"
provider "[HOST]/acme/demo" {
  version     = "1.0.1"
  constraints = ">= 1.0.0"
  hashes = [
    "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
    "h9:unknown",
  ]
}

provider "registry.example.com/acme/kept" {
  version = "7.0.0"
  hashes = [
    "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
  ]
}
"#;

const PREDECESSOR: &str = r#"
provider "registry.terraform.io/hashicorp/null" {
  version     = "3.2.1"
  constraints = "~> 3.0"
  hashes = [
    "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
  ]
}
"#;

fn cases() -> Vec<Case> {
    let constraints = "1.0.0|= 1.0.0|1.1|2|>= 1|>1.0|<2|<= 1.1.0|!= 2.0.0|~> 1|~> 1.0|~> 1.0.0|~>1.1\
        |>= 1.0, < 2.0|>= 1.0.0, >= 1.0.0| >= 1.0 , < 2.0 |2.1.0-beta.1|= 2.1.0-beta.1|> 1.0.0,<=2.0.0,!=1.1.0\
        |01.0.0|~> 1.0, != 1.2.0, >= 0.9|~> 1.0, ~> 1.0.0|< 2, <= 1.1, > 0.9, >= 1";
    let two = "demo = { source = \"[HOST]/acme/demo\", version = \"< 2\" }\n    other = { source = \"[HOST]/acme/other\" }";
    let called = "terraform {\n  required_providers {\n    d = { source = \"[HOST]/acme/demo\", version = \"!= 1.2.0\" }\n    o = { source = \"[HOST]/acme/other\" }\n  }\n}\n";
    let mut cases: Vec<Case> = constraints.split('|').map(constraint).collect();
    cases.extend([
        provider("[HOST]/acme/demo"),
        provider("[HOST]/Acme/Demo").named("an address in another case"),
        provider("[HOST]/acme/directories").named("directory entries").how("everywhere"),
        provider("[HOST]/acme/crlf"),
        provider("[HOST]/acme/sbom"),
        provider("[HOST]/acme/bare"),
        provider("hashicorp/keyless").how("keyless"),
        provider("hashicorp/keyless").named("keyless, two platforms").how("keyless everywhere"),
        project("two providers, two platforms", two).how("everywhere"),
        project("two names of one provider", "a = { source = \"[HOST]/acme/demo\", version = \">= 1\" }\n    b = { source = \"[HOST]/acme/demo\", version = \"< 1.2\" }"),
        project("the default host", "null = \"~> 3.0\""),
        project("no `required_providers`", "").file("main.tf", "resource \"null_resource\" \"x\" {}\n"),
        constraint(">= 1").named("an override").file("x_override.tf", "terraform {\n  required_providers {\n    demo = { source = \"[HOST]/acme/demo\", version = \"~> 1.0.0\" }\n  }\n}\n"),
        constraint(">= 1").named("a `provider` block").file("p.tf", "provider \"demo\" {\n  version = \"< 1.1\"\n}\n"),
        constraint(">= 1").named("JSON").file("more.tf.json", "{\"resource\":{\"null_resource\":{\"x\":{}}}}"),
        constraint("~> 1.0").named("a module").file("calls.tf", "module \"m\" {\n  source = \"./m\"\n}\n").file("m/main.tf", called).how("modules"),
        constraint(">= 1").named("kept entries").lock("tofu", KEPT).how("everywhere"),
        constraint(">= 1").named("the header of another client").lock("terraform", KEPT),
        project("nothing, and kept entries", "").lock("terraform", KEPT),
        project("the predecessor's version", "null = { source = \"hashicorp/null\" }").lock("terraform", PREDECESSOR),
        constraint("~> 1.0").named("an upgrade").lock("tofu", "\nprovider \"[HOST]/acme/demo\" {\n  version = \"1.0.1\"\n  hashes = [\n    \"zh:0000000000000000000000000000000000000000000000000000000000000000\",\n  ]\n}\n").how("upgrade"),
    ]);
    cases
}

#[test]
fn clients_write_the_same_lock_file() {
    let cases = cases();
    assert!(cases.len() >= 40, "{}", cases.len());
    let (origin, scene) = given();
    for client in clients() {
        for (number, case) in cases.iter().enumerate() {
            if case.is_for(client) {
                case.assert_same(number, client, &scene, &origin);
            }
        }
    }
}

/// `providers lock` would write a file of its header alone.
#[test]
fn without_providers_there_is_no_lock_file_as_after_init() {
    let scene = Scene::new();
    scene.write("project/main.tf", "locals {\n  a = 1\n}\n");
    for client in clients() {
        init(&scene, "project", client).succeeds();
        assert!(!scene.path(format!("project/{LOCK}")).exists(), "{client}");
    }
    let line = format!(" Unchanged project/{LOCK}\n");
    for command in ["lock --check", "lock", "install", "install --locked"] {
        let arguments = format!("{command} --chdir project");
        let run = scene.line(arguments).succeeds();
        assert_eq!(run.stderr, line, "{command}");
        assert!(!scene.path(format!("project/{LOCK}")).exists(), "{command}");
    }
}

/// Neither client accepts a release without a key from another host.
#[test]
fn keyless_releases_of_other_hosts_are_refused() {
    let (origin, scene) = given();
    for client in clients() {
        let case = provider("[HOST]/acme/keyless");
        case.write(&scene, client, &origin);
        let lock = ["providers", "lock", "-no-color"];
        let said = said(&run(&scene, &scene.path(client), client, lock).exits(1));
        assert!(said.contains("signature from unknown issuer"), "{said}");
        let lock = format!("lock --client {client} --chdir {client}");
        scene.line(lock).exits(3);
        let path = scene.path(format!("{client}/{LOCK}"));
        assert!(!path.exists(), "{client}");
    }
}
