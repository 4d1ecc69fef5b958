//! Repository templates by which two providers of one host can have the same repository, and providers that only some clients have.

use std::fs;

use crate::support::author::Author;
use crate::support::registry::Registry;
use crate::support::scene::Run;

const SHARED: &str = "registry.invalid/mine/${namespace}-${type}";

/// An author with a release in `dist` and in `oci-layout:store`, and files that name the template.
fn scene() -> Author {
    let author = Author::new();
    author.with_pushed();
    let entry = format!(
        "[[provider]]\naddress = \"registry.opentofu.org/acme/demo\"\nto = [\"{SHARED}\"]\n"
    );
    author.scene.write("mirror.toml", entry);
    author
}

fn run(author: &Author, arguments: &str, template: &str) -> Run {
    let words = arguments.split(' ');
    let words = words.map(|one| if one == "T" { template } else { one });
    author.tfoci(&words.collect::<Vec<_>>())
}

#[test]
fn every_command_that_writes_refuses_such_a_template() {
    let author = scene();
    for arguments in [
        "push dist --provider acme/demo --key acme.asc --to T",
        "push dist --provider acme/demo --key acme.asc --to T --dry-run",
        "mirror acme/demo --to T",
        "mirror acme/demo --to oci-layout:other --to T",
        "mirror --file mirror.toml",
        "copy acme/demo --from oci-layout:store --to T",
        "copy --from oci-layout:store --to T",
        "serve --from T --fill --include */*/* --registry-host a.example --plain-http --listen 127.0.0.1:0",
    ] {
        let run = author.untouched(|| run(&author, arguments, SHARED));
        let run = run.exits(2).without_result();
        run.says(&format!("error {SHARED}"));
    }
}

#[test]
fn templates_that_hide_how_providers_meet_are_refused_as_well() {
    let author = scene();
    for template in [
        "registry.invalid/{namespace}-{type}",
        "registry.invalid/mine/{type}",
        "registry.invalid/%{if namespace == \"hashicorp\"}hc%{else}${namespace}%{endif}/${type}",
        "registry.invalid/${hostname}/${namespace == \"acme\" ? \"x\" : namespace}/${type}",
        "${hostname}/${namespace}-${type}",
    ] {
        let run = author.push_to(template, "").exits(2).without_result();
        run.says(&format!("error {template}"));
    }
    author.push_to(SHARED, "--exact-repository").exits(2);
    // The user names one repository, for one provider.
    author.push_to("registry.invalid/mine/demo", "").exits(1);
}

#[test]
fn commands_that_read_warn_once() {
    let author = scene();
    let block = format!(
        "provider_installation {{\n oci_mirror {{ repository_template = \"{SHARED}\" include = [\"acme/demo\"] }}\n}}\n"
    );
    author.scene.write("c.tfrc", block);
    author.scene.write("main.tf", "terraform {\n required_providers {\n  demo = { source = \"registry.opentofu.org/acme/demo\" }\n }\n}\n");
    for arguments in [
        "list --from T",
        "versions acme/demo --from T",
        "inspect acme/demo@1.0.0 --from T",
        "copy acme/demo --from T --to oci-layout:other",
        "install acme/demo --from T --into out",
        "lock --from T",
        "lock --client tofu --cli-config c.tfrc",
        "site out --from T acme/demo",
        "resolve acme/demo --from T",
        "cli-config acme/* --from T",
    ] {
        let told = run(&author, arguments, SHARED).stderr;
        let lines = told.lines().filter(|line| line.contains("   Warning "));
        let warnings = lines.filter(|line| line.contains(SHARED));
        assert_eq!(warnings.count(), 1, "{arguments}\n{told}");
    }
}

#[test]
fn what_such_a_template_has_can_be_copied_to_the_one_of_the_hint() {
    let author = scene();
    let registry = Registry::plain();
    let to = format!("{}/mine/${{namespace}}_${{type}}", registry.host());
    let exact = format!("{}/mine/acme-demo", registry.host());
    let loopback = "--plain-http 127.0.0.1";
    let known = format!("{loopback} --exact-repository");
    author.push_to(&exact, known).succeeds();
    let from = to.replace("}_$", "}-$");
    let copy = format!("copy acme/demo --from {from} --to {to}");
    author.line(format!("{copy} {loopback}")).succeeds();
    let [one, other] = ["mine/acme-demo", "mine/acme_demo"].map(|name| registry.tags(name));
    assert_eq!(one, other);
}

#[test]
fn a_namespace_of_terraform_may_have_underscores() {
    let author = Author::with_release();
    let address = "example.com/my_inc/demo";
    author.push(format!("--provider {address}")).succeeds();
    let install =
        format!("install {address} --from oci-layout:store --into out --platform linux_amd64");
    author.line(&install).succeeds();
    assert!(author.scene.path(format!("out/{address}")).is_dir());
    let needs = format!(
        "terraform {{\n required_providers {{\n  demo = {{ source = \"{address}\" }}\n }}\n}}\n"
    );
    author.scene.write("main.tf", needs);
    let lock = "lock --client terraform --from oci-layout:store";
    author.line(lock).succeeds();
    let lock = fs::read_to_string(author.scene.path(".terraform.lock.hcl")).unwrap();
    assert!(lock.contains(&format!("provider \"{address}\"")), "{lock}");
    // `mirror` reads it in the lock file, and in the directory of a mirror.
    let from = "--from-lock . --from filesystem-mirror:out --to oci-layout:other";
    let mirror = format!("mirror {from} --allow-unsigned example.com/my_inc/*");
    author.line(mirror).succeeds();
    fs::remove_file(author.scene.path(".terraform.lock.hcl")).unwrap();
    let run = author.line("lock --client tofu --from oci-layout:store");
    run.exits(1).says("error my_inc expected letters");
    // Neither `_` nor `___` can stand there in the name of a repository.
    for address in ["example.com/inc_/demo", "example.com/my___inc/demo"] {
        let run = author.push(format!("--provider {address}")).exits(1);
        run.says(&format!("error {address} expected"));
    }
}

#[test]
fn an_archive_is_no_directory_of_layouts() {
    let author = scene();
    author.scene.write("file.tar", "an archive");
    for line in [
        "versions acme/demo --from oci-layout:file.tar",
        "copy acme/demo --from oci-layout:store --to oci-layout:file.tar",
    ] {
        author.line(line).exits(1).says("error file.tar");
    }
}
