use std::fs;

use serde_json::Value;

use crate::support::author::{Author, two_platforms};

const COPIED: &str = "Copied registry.opentofu.org/acme/demo 1.0.0 2 813 signed [ACME ID] pinned Pushed 1 2 813 [TIME]";

fn protocols(author: &Author) -> Value {
    author.document("evidence-1.0.0")["annotations"]["org.tfoci.protocols"].clone()
}

#[test]
fn an_unlisted_manifest_is_used_with_a_note_and_a_missing_one_means_protocol_5() {
    let author = Author::of(two_platforms().protocols(&[]));
    author.push("").succeeds();
    assert_eq!(protocols(&author), "5.0");

    for name in [
        "terraform-provider-demo_1.0.0_manifest.json",
        "terraform-registry-manifest.json",
    ] {
        let author = Author::of(two_platforms().protocols(&[]));
        let manifest = r#"{"version":1,"metadata":{"protocol_versions":["6.0"]}}"#;
        author.write(format!("dist/{name}"), manifest);
        let run = author.push("").succeeds();
        run.says(COPIED);
        assert_eq!(protocols(&author), "6.0");
        author.installs();
    }
}

/// goreleaser lists the manifest under its name in the release, and leaves the file in the source tree.
#[test]
fn the_manifest_of_the_source_tree_is_used_if_its_checksum_is_listed() {
    const NAME: &str = "dist/terraform-provider-demo_1.0.0_manifest.json";
    let released = || {
        let author = Author::of(two_platforms().protocols(&["6.0"]));
        let manifest = fs::read_to_string(author.path(NAME)).unwrap();
        fs::remove_file(author.path(NAME)).unwrap();
        (author, manifest)
    };
    for place in [
        "terraform-registry-manifest.json",
        "dist/terraform-registry-manifest.json",
    ] {
        let (author, manifest) = released();
        author.write(place, manifest);
        let run = author.push("").succeeds();
        run.says(COPIED);
        assert_eq!(protocols(&author), "6.0");
    }
    let another = r#"{"version":1,"metadata":{"protocol_versions":["4.0"]}}"#;
    for other in [None, Some(another)] {
        let (author, _) = released();
        if let Some(text) = other {
            author.write("terraform-registry-manifest.json", text);
        }
        let run = author.push("").succeeds();
        let says = format!("Warning registry.opentofu.org/acme/demo 1.0.0 5.0 {COPIED}");
        run.says(&says);
        assert_eq!(protocols(&author), "5.0");
    }
}
