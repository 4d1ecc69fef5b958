//! Empty stores. A job that transfers nothing must not look successful.

use crate::support::author::Author;

/// Both commands that read all providers of a store.
const COMMANDS: [&str; 2] = ["install --into out", "copy --to oci-layout:other"];

/// A scene with a provider in `disk/store` and an empty directory.
fn disk() -> Author {
    let author = Author::new();
    author.with_pushed();
    std::fs::create_dir(author.scene.path("empty")).unwrap();
    std::fs::create_dir(author.scene.path("disk")).unwrap();
    let moved = author.scene.path("disk/store");
    std::fs::rename(author.scene.path("store"), moved).unwrap();
    author
}

#[test]
fn an_empty_store_and_a_wrong_level_are_errors() {
    for command in COMMANDS {
        for directory in ["empty", "disk", "disk/store/registry.opentofu.org"] {
            let from = format!("oci-layout:{directory}");
            let run = disk().line(format!("{command} --from {from}"));
            let facts = format!("error {from} expected DIR/HOSTNAME/NAMESPACE/TYPE");
            run.exits(1).without_result().says(&facts);
        }
    }
}

#[test]
fn a_store_one_level_off_is_an_error() {
    for command in [
        "inspect acme/demo",
        "versions acme/demo",
        "install acme/demo --into out",
    ] {
        let run = disk().line(format!("{command} --from oci-layout:disk"));
        let run = run.exits(1).without_result();
        run.says("error registry.opentofu.org/acme/demo");
    }
}

/// A layout of another tool gives no hint about the directories above it.
#[test]
fn a_directory_above_is_named_only_if_it_is_a_store() {
    let author = disk();
    let store = author.scene.path("disk/store");
    let layout = author.scene.path("a/b/image");
    std::fs::create_dir_all(layout.parent().unwrap()).unwrap();
    std::fs::rename(store.join("registry.opentofu.org/acme/demo"), layout).unwrap();
    let run = author.line("list --from oci-layout:a/b").exits(1);
    run.omits("oci-layout:a\n");
    run.says("error oci-layout:a/b expected DIR/HOSTNAME/NAMESPACE/TYPE");
}

#[test]
fn a_store_is_not_copied_onto_itself() {
    let author = disk();
    let copy = "copy acme/demo --from oci-layout:disk/store --to oci-layout:disk/store";
    let run = author.line(copy).exits(2).without_result();
    run.says("error registry.opentofu.org/acme/demo oci-layout:disk/store");
}

#[test]
fn an_empty_store_is_an_error_in_json_too() {
    for command in COMMANDS {
        let author = disk();
        let more = "--from oci-layout:empty --format json";
        let document = author.line(format!("{command} {more}")).exits(1).json();
        assert_eq!(document["error"]["category"], "not_found", "{document}");
    }
}
