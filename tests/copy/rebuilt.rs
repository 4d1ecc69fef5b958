use super::{FROM, TO, copy, other};
use crate::support::author::Author;
use crate::support::judge;
use crate::support::layout::blob;
use crate::support::tamper;

const ATTESTATION: &[u8] = b"{\"an\":\"attestation\"}";

fn installs(author: &Author) -> Vec<String> {
    judge::installs(&author.path("other"))
}

#[test]
fn a_platform_alone_is_refused_with_the_reason() {
    let author = Author::pushed();
    let run = author.untouched(|| copy(&author, FROM, TO, "--platform linux_amd64").exits(2));
    run.without_result().says("error --platform");
}

#[test]
fn an_index_of_fewer_platforms_is_the_one_that_a_push_writes() {
    let author = Author::pushed();
    let fewer = "--platform linux_amd64";
    let more = format!("{fewer} --rebuild-index");
    let run = copy(&author, FROM, TO, &more).succeeds();
    let pushed = author.push_to("oci-layout:pushed", fewer).succeeds();
    assert_eq!(run.stdout, pushed.stdout.replace("pushed", "other"));
    assert_eq!(author.tree_of("other"), author.tree_of("pushed"));
    assert_eq!(installs(&author).len(), 1);
    let again = copy(&author, FROM, TO, &more).succeeds();
    again.says(
        "Present registry.opentofu.org/acme/demo 1.0.0 1 signed [ACME ID] embedded Copied 1 [TIME]",
    );
}

#[test]
fn further_platforms_are_added_later() {
    let author = Author::pushed();
    for platform in ["linux_amd64", "darwin_arm64"] {
        let more = format!("--rebuild-index --platform {platform}");
        copy(&author, FROM, TO, more).succeeds();
    }
    assert_eq!(installs(&author).len(), 2);
    let run = copy(&author, FROM, TO, "").succeeds();
    run.says("Copied 2 [TIME]");
}

#[test]
fn a_platform_that_is_not_there_is_an_error() {
    let author = Author::pushed();
    let more = "--rebuild-index --platform windows_amd64";
    let run = copy(&author, FROM, TO, more).exits(1).without_result();
    run.says("error registry.opentofu.org/acme/demo 1.0.0 oci-layout:store/registry.opentofu.org/acme/demo windows_amd64 darwin_arm64 linux_amd64");
    assert!(!author.path("other").exists());
}

#[test]
fn a_dry_run_writes_nothing() {
    let author = Author::pushed();
    let more = "--rebuild-index --platform linux_amd64 --dry-run";
    let run = author.untouched(|| copy(&author, FROM, TO, more).succeeds());
    run.says("Would registry.opentofu.org/acme/demo 1.0.0 1 406 signed [ACME ID] embedded Would 1 1 406 [TIME]");
}

/// Later versions of tfoci may extend evidence. It is copied unchanged, also with a rebuilt index.
#[test]
fn evidence_is_kept_byte_for_byte() {
    for more in ["", "--rebuild-index --platform linux_amd64"] {
        let author = Author::pushed();
        let layout = author.repository("");
        let layer = tamper::put(&layout, "application/vnd.in-toto+json", ATTESTATION);
        tamper::alter(&layout, "evidence-1.0.0", |evidence| {
            evidence["layers"].as_array_mut().unwrap().push(layer);
            evidence["annotations"]["net.example.later"] = "yes".into();
        });
        copy(&author, FROM, TO, more).succeeds();
        let [expected, copied] = [author.repository(""), other(&author)]
            .map(|layout| tamper::tagged(&layout, "evidence-1.0.0")["digest"].clone());
        assert_eq!(copied, expected);
        assert!(blob(&other(&author), ATTESTATION).exists());
    }
}
