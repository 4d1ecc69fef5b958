//! Hints that a newcomer can follow: none leads in a circle, and none leads to a command that fails too.

use std::fs;

use crate::support::author::Author;
use crate::support::scene::Run;

const LAYOUT: &str = "oci-layout:store/registry.opentofu.org/acme/demo";

/// Runs a line of words.
fn run(author: &Author, line: &str) -> Run {
    let words: Vec<&str> = line.split_whitespace().collect();
    author.tfoci(&words)
}

#[test]
fn a_layout_in_the_place_of_the_store_around_it() {
    let author = Author::new();
    author.with_pushed();
    let is_layout = "store/registry.opentofu.org/acme/demo is itself an OCI image layout\n  expected a directory of layouts\n";
    for command in ["list", "serve --plain-http", "install --into out"] {
        run(&author, &format!("{command} --from {LAYOUT}"))
            .exits(2)
            .says(&format!(
                "error: {is_layout}\nhint: did you mean oci-layout:store?\n"
            ));
    }
    for command in ["list", "serve --plain-http"] {
        run(&author, &format!("{command} --from {LAYOUT} --exact-repository"))
            .exits(2)
            .says(&format!(
                "error: {LAYOUT} names one repository for several providers\n\nhint: leave out `--exact-repository`, and name oci-layout:store\n"
            ));
    }
    run(&author, "list --from oci-layout:store").succeeds();
}

#[test]
fn a_layout_in_no_store() {
    let author = Author::new();
    author.with_pushed();
    fs::rename(author.repository(""), author.scene.path("alone")).unwrap();
    for command in ["list", "serve --plain-http"] {
        run(&author, &format!("{command} --from oci-layout:alone"))
            .exits(2)
            .says(
                "
error: alone is itself an OCI image layout
  expected a directory of layouts

hint: move it to DIR/HOSTNAME/NAMESPACE/TYPE, and name `oci-layout:DIR`
",
            );
    }
    let run = run(&author, "list --from oci-layout:nowhere").exits(1);
    assert!(!run.stderr.contains("--exact-repository"), "{}", run.stderr);
}

/// `--upgrade` cannot help if the store has no version that the constraints admit.
#[test]
fn a_store_without_the_locked_version() {
    let author = Author::new();
    author.with_pushed();
    let locked = "provider \"registry.opentofu.org/acme/demo\" {\n  version = \"1.1.0\"\n  hashes = [\"h1:7xHhX1zEjnmYYiXuVb2BNt5p6TxnTdYcrVAMrqYkNnE=\"]\n}\n";
    author.scene.write(".terraform.lock.hcl", locked);
    for (constraints, hint) in [
        (
            "~> 1.1",
            "copy 1.1.0 into this store; or, if it was withdrawn, change the constraints",
        ),
        (
            "~> 1.0",
            "copy 1.1.0 into this store; or `tfoci lock registry.opentofu.org/acme/demo --upgrade` with the same options selects 1.0.0",
        ),
    ] {
        author.scene.write("main.tf", format!("terraform {{\n  required_providers {{\n    demo = {{ source = \"acme/demo\", version = \"{constraints}\" }}\n  }}\n}}\n"));
        let run = run(&author, "install --locked --from oci-layout:store").exits(1);
        let hint = format!("\n\nhint: {hint}\n");
        assert!(run.stderr.contains(&hint), "{}", run.stderr);
    }
}

#[test]
fn a_platform_that_is_misspelt() {
    let author = Author::new();
    author.with_pushed();
    for command in [
        "install acme/demo --into out --from oci-layout:store",
        "push dist --provider acme/demo --key acme.asc --to oci-layout:other",
    ] {
        let run = run(&author, &format!("{command} --platform linux_amd46")).exits(1);
        let hint = "\n\nhint: did you mean the platform `linux_amd64`?\n";
        assert!(run.stderr.contains(hint), "{}", run.stderr);
    }
}

#[test]
fn tables_of_providers_with_other_brackets_or_another_name() {
    let author = Author::new();
    let trust = "match = \"example.com/acme/*\"\n";
    let mirror = "address = \"example.com/acme/demo\"\n";
    for [first, second] in [
        ["[[providers]]", "[[providers]]"],
        ["[provider]", "[[provider]]"],
        ["[[provider]]", "[provider]"],
    ] {
        author
            .scene
            .write("t.toml", format!("{first}\n{trust}{second}\n{trust}"));
        author
            .scene
            .write("m.toml", format!("{first}\n{mirror}{second}\n{mirror}"));
        for (command, topic, file) in [
            ("trust check t.toml", "trust", "a trust file"),
            (
                "mirror --file m.toml --to oci-layout:store",
                "mirror-file",
                "a mirror file",
            ),
        ] {
            let run = run(&author, command).exits(2);
            let hint = format!(
                "\n\nhint: did you mean `[[provider]]`? `tfoci help {topic}` shows {file}\n"
            );
            assert!(run.stderr.contains(&hint), "{}", run.stderr);
        }
    }
}

#[test]
fn fields_that_are_misspelt_and_texts_without_quotes() {
    let author = Author::new();
    let table = "[[provider]]\naddress = \"example.com/acme/demo\"\n";
    let trust = "[[provider]]\nmatch = \"example.com/acme/*\"\n";
    for (mirror, said) in [
        ("newst = 3\n", "\n\nhint: did you mean `newest`? "),
        ("platform = []\n", "\n\nhint: did you mean `platforms`? "),
        (
            "trusts = \"trust.toml\"\n",
            "\n\nhint: did you mean `trust`? ",
        ),
        ("ca = \"ca.pem\"\n", "\n\nhint: `tfoci help mirror-file` "),
        (
            "trust = trust.toml\n",
            " line 1, column 9: it is neither `true` nor `false`, and a text needs quotes\n",
        ),
        (
            "trust = keys/trust.toml\n",
            " line 1, column 9: a text needs quotes\n",
        ),
        (
            "to = [oci-layout:store]\n",
            " line 1, column 7: a text needs quotes\n",
        ),
        (
            "newest = >= 1.0\n",
            " line 1, column 11: the line goes on after the value, and a text needs quotes\n",
        ),
        (
            "newest = newest\n",
            " line 1, column 10: a text needs quotes\n",
        ),
    ] {
        author.scene.write("m.toml", format!("{mirror}{table}"));
        let run = run(&author, "mirror --file m.toml --to oci-layout:store").exits(2);
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
    for (field, said) in [
        (
            "unsinged = \"allow\"\n",
            "\n\nhint: did you mean `unsigned`? ",
        ),
        (
            "unsigned = allow\n",
            " line 3, column 12: a text needs quotes\n",
        ),
    ] {
        author.scene.write("t.toml", format!("{trust}{field}"));
        let run = run(&author, "trust check t.toml").exits(2);
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
}

#[test]
fn a_lock_file_that_is_not_up_to_date() {
    let author = Author::new();
    author.with_pushed();
    let main =
        "terraform {\n  required_providers {\n    demo = { source = \"acme/demo\" }\n  }\n}\n";
    author.scene.write("main.tf", main);
    let lock = "lock --from oci-layout:store --key acme.asc";
    run(&author, lock).succeeds();
    let main = main.replace(" }\n  }", ", version = \">= 1.0\" }\n  }");
    author.scene.write("main.tf", main);
    let stale = run(&author, &format!("{lock} --check")).exits(4);
    let end =
        "   Differs .terraform.lock.hcl\n\nhint: `tfoci lock` with the same options writes it\n";
    assert!(stale.stderr.ends_with(end), "{}", stale.stderr);
    run(&author, lock).succeeds();
    let current = run(&author, &format!("{lock} --check")).succeeds();
    assert!(!current.stderr.contains("hint:"), "{}", current.stderr);
    // `lock` publishes nothing, so its hints do not say that it did not.
    let refused = run(
        &author,
        "lock --from oci-layout:store --key stranger.asc --upgrade",
    )
    .exits(3);
    let said = refused.stderr;
    assert!(
        said.contains("\nhint: ") && !said.contains("was written"),
        "{said}"
    );
}

#[test]
fn the_next_command_of_an_installation_into_another_directory() {
    let author = Author::new();
    author.with_pushed();
    author.scene.write(
        "project/main.tf",
        "terraform {\n  required_providers {\n    demo = { source = \"acme/demo\" }\n  }\n}\n",
    );
    let run = run(&author, "install --chdir project --from oci-layout:store").succeeds();
    let end = "\n`tofu -chdir=project plan` and `tofu -chdir=project apply` work now, unless the configuration has a backend or calls modules. That needs first:\n\n  tofu -chdir=project init -plugin-dir=.terraform/providers\n";
    assert!(run.stderr.ends_with(end), "{}", run.stderr);
}
