//! What people meet who know only the README and the help.

use std::fs;

use super::{Case, check};
use crate::support::author::Author;
use crate::support::scene::Scene;

const NOTHING: fn(&Author) = |_| {};

/// A store and a filesystem mirror, `folder`, with the author's provider.
fn installed(author: &Author) {
    author.with_pushed();
    let install = "install acme/demo --platform all --from oci-layout:store --into folder";
    let words: Vec<&str> = install.split(' ').collect();
    author.tfoci(&words).succeeds();
}

#[test]
fn a_filesystem_mirror_in_the_place_of_a_store() {
    const HINT: &str = "it is a filesystem mirror, as `tfoci install --into` writes it, and no store. `mirror`, `versions`, `inspect`, `lock`, and `install` without `--into`, take it as `--from filesystem-mirror:folder`";
    let author = Author::new();
    installed(&author);
    let run = |arguments: &str| {
        let words: Vec<&str> = arguments.split_whitespace().collect();
        author.tfoci(&words).exits(1)
    };
    run("list --from oci-layout:folder").says(&format!(
        "error: no provider is in oci-layout:folder\n  expected an OCI layout in DIR/HOSTNAME/NAMESPACE/TYPE\n\nhint: {HINT}\n"
    ));
    for command in [
        "versions",
        "copy --to oci-layout:other",
        "install --into out",
    ] {
        let said = run(&format!("{command} acme/demo --from oci-layout:folder")).stderr;
        assert!(said.contains("the store has no such repository"), "{said}");
        assert!(said.contains(&format!("hint: {HINT}\n")), "{said}");
    }
    for command in ["versions", "inspect"] {
        let arguments = format!("{command} acme/demo --from filesystem-mirror:folder");
        let words: Vec<&str> = arguments.split_whitespace().collect();
        let said = author.tfoci(&words).stderr;
        assert!(!said.contains("is not a store"), "{said}");
    }
}

#[test]
fn a_path_with_two_dots_is_printed_without_them() {
    let scene = Scene::new();
    fs::create_dir_all(scene.path("a/b")).unwrap();
    fs::create_dir_all(scene.path("folder")).unwrap();
    std::os::unix::fs::symlink(scene.path("a/b"), scene.path("link")).unwrap();
    let path = |into: &str| {
        let printed = scene
            .tfoci(["cli-config", "--into", into])
            .succeeds()
            .stdout;
        let line = printed.lines().find(|line| line.contains("path")).unwrap();
        line.split('"').nth(1).unwrap().to_owned()
    };
    assert!(path("a/../folder").ends_with("/folder"));
    assert!(!path("a/b/../../folder").contains(".."));
    // The directory above the target of a link is another one.
    assert!(path("link/../../folder").ends_with("/link/../../folder"));
}

#[test]
fn templates_that_are_not_closed_or_misspelt() {
    let wrong = |template: &str| {
        let scene = Scene::new();
        let run = scene.tfoci(["versions", "acme/demo", "--from", template]);
        run.exits(2).without_result().stderr
    };
    assert_eq!(
        wrong("r.example/${hostname/${namespace}/${type}"),
        "error: the repository template `r.example/${hostname/${namespace}/${type}` is wrong\n  `${hostname` is not closed, expected `}`\n"
    );
    assert_eq!(
        wrong("r.example/${hostname}/${namespace}/${typ}"),
        "error: the repository template `r.example/${hostname}/${namespace}/${typ}` is wrong\n  the symbol `typ` is not available, only hostname, namespace and type are\n\nhint: did you mean `type`?\n"
    );
}

#[test]
fn directories_without_what_mirror_reads_from_them() {
    check(&[
        Case {
            label: "no configuration",
            given: |author| drop(author.scene.write("empty/.keep", "")),
            arguments: "mirror --from-config empty --to oci-layout:store",
            exit: 1,
            says: r"
error: no configuration is in empty
  expected files such as main.tf

hint: name another directory, with `--from-config DIR`; or a provider, such as `'acme/demo@~> 1.0'`
",
        },
        Case {
            label: "no lock file",
            given: |author| drop(author.scene.write("empty/.keep", "")),
            arguments: "mirror --from-lock empty --to oci-layout:store",
            exit: 1,
            says: r"
error: no lock file is in empty
  expected .terraform.lock.hcl
  named by --from-lock

hint: `tfoci lock --chdir empty` writes it
",
        },
    ]);
}

#[test]
fn a_directory_without_the_prefix_of_stores() {
    check(&[Case {
        label: "a path that could be a repository",
        given: |author| drop(author.scene.write("media/disk/.keep", "")),
        arguments: "copy --from media/disk --to oci-layout:store",
        exit: 2,
        says: r"
error: no provider is named, and `media/disk` cannot list those that it has

hint: did you mean `oci-layout:media/disk`?
",
    }]);
}

#[test]
fn a_tag_in_a_template() {
    check(&[Case {
        label: "a tag",
        given: |author| author.with_release_in_place(),
        arguments: "push dist --provider acme/demo --key acme.asc --to r.example/${namespace}/${type}:latest",
        exit: 2,
        says: r"
error: the repository template `r.example/${namespace}/${type}:latest` is wrong
  `r.example/example-namespace/example-type:latest` is not a repository: only the registry may have a port, and neither tag nor digest is allowed: `:latest`

hint: leave out `:latest`: tfoci makes the tags itself, from the versions
",
    }]);
}

#[test]
fn commands_that_are_misspelt() {
    let said = |words: &[&str]| Scene::new().tfoci(words).exits(2).stderr;
    assert!(said(&["pusch"]).contains("'push'"));
    let run = said(&["-v"]);
    assert!(run.contains("completions, man, schema]"), "{run}");
}

#[test]
fn an_address_that_is_a_url() {
    check(&[Case {
        label: "the page of a provider",
        given: NOTHING,
        arguments: "versions https://registry.example.com/acme/demo --from oci-layout:store",
        exit: 2,
        says: r"
error: `https://registry.example.com/acme/demo` is not a provider address
  expected HOSTNAME/NAMESPACE/TYPE

hint: write it without `https://`: `registry.example.com/acme/demo`
",
    }]);
}

#[test]
fn a_file_in_the_place_of_a_directory() {
    let scene = Scene::new();
    scene.write("cfg/main.tf", "");
    for arguments in [
        "lock --chdir cfg/main.tf",
        "list --from oci-layout:cfg/main.tf",
        "mirror --from-lock cfg/main.tf/x --to oci-layout:store",
    ] {
        let run = scene.tfoci(arguments.split(' ')).exits(1);
        let says = "error: cfg/main.tf is a file, expected a directory\n";
        assert!(run.stderr.starts_with(says), "{}", run.stderr);
    }
}

#[test]
fn names_of_source_repositories_and_tags() {
    check(&[
        Case {
            label: "the name of a repository in the place of an address",
            given: |author| author.with_release_in_place(),
            arguments: "push dist --provider terraform-provider-demo --key acme.asc --to oci-layout:store",
            exit: 2,
            says: r"
error: `terraform-provider-demo` is a type without a namespace
  expected NAMESPACE/demo
",
        },
        Case {
            label: "the name of a tag, after an operator",
            given: NOTHING,
            arguments: "mirror acme/demo@>=v1.0.0 --to oci-layout:store",
            exit: 2,
            says: r"
error: `>=v1.0.0` is not a version constraint: its version begins with `v`
  expected it without the `v`

hint: did you mean `>=1.0.0`?
",
        },
        Case {
            label: "a tag after a colon",
            given: NOTHING,
            arguments: "versions acme/demo:v1.0.0 --from oci-layout:store",
            exit: 2,
            says: r"
error: `acme/demo:v1.0.0`: a version is written after `@`
  expected acme/demo@1.0.0
",
        },
        Case {
            label: "a version of a command without versions",
            given: NOTHING,
            arguments: "resolve acme/demo@1.0.0 --from oci-layout:store",
            exit: 2,
            says: r"
error: `resolve` takes an address without a version
  expected registry.opentofu.org/acme/demo
  received acme/demo@1.0.0
",
        },
        Case {
            label: "a version of a command of two words",
            given: NOTHING,
            arguments: "trust show acme/demo@1.0.0",
            exit: 2,
            says: r"
error: `trust show` takes an address without a version
  expected registry.opentofu.org/acme/demo
  received acme/demo@1.0.0
",
        },
    ]);
}

#[test]
fn a_store_in_the_place_of_something_else() {
    let author = Author::new();
    installed(&author);
    author.scene.write("disk/lost+found/.keep", "");
    for (arguments, what) in [
        (
            "push dist --provider acme/demo --key acme.asc --to oci-layout:folder",
            "folder is a filesystem mirror",
        ),
        (
            "push dist --provider acme/demo --key acme.asc --to oci-layout:dist",
            "dist is the folder of a release",
        ),
        (
            "copy acme/demo --from oci-layout:store --to oci-layout:folder --dry-run",
            "folder is a filesystem mirror",
        ),
        (
            "mirror acme/demo --to oci-layout:folder",
            "folder is a filesystem mirror",
        ),
    ] {
        let words: Vec<&str> = arguments.split(' ').collect();
        let run = author.tfoci(&words).exits(2).without_result();
        run.says(&format!(
            "error: {what}, and no store\n  expected a directory of layouts, or a new one\n\nhint: nothing was written. Name another directory; it need not exist\n"
        ));
    }
    assert!(!author.scene.path("dist/registry.opentofu.org").exists());
    let copy = "copy acme/demo --from oci-layout:store --to oci-layout:disk";
    let words: Vec<&str> = copy.split(' ').collect();
    author.tfoci(&words).succeeds();
}
