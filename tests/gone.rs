//! Artifacts of tfoci whose evidence was removed. Every command reports it.

use serde_json::json;

use crate::support::author::Author;
use crate::support::layout::Parts;
use crate::support::release::{Mistake, ReleaseFolder};
use crate::support::tamper;

const FROM: &str = "oci-layout:store";
const WARNING: &str = "Warning registry.opentofu.org/acme/demo 1.0.0";
const REFUSED: &str = "error registry.opentofu.org/acme/demo 1.0.0 oci-layout:store";

/// A signed version whose evidence was removed.
fn removed() -> Author {
    let author = Author::new();
    author.with_pushed();
    tamper::untag(&author.repository(""), "evidence-1.0.0");
    author.scene.write(
        "allow.toml",
        "[[provider]]\nmatch = \"*/*/*\"\nunsigned = \"allow\"\n",
    );
    author
}

#[test]
fn inspect_reports_removed_evidence() {
    let author = removed();
    let inspect = format!("inspect acme/demo@1.0.0 --from {FROM}");
    let run = author.line(&inspect).succeeds().says(WARNING);
    run.shows("\nauthentication  unverified no-evidence\n");
    let run = author.line(format!("{inspect} --format json")).succeeds();
    let said = json!({"status": "unverified", "notes": ["no-evidence"]});
    assert_eq!(run.json()["authentication"], said);
    let pinned = format!("{inspect} --key acme.asc");
    let run = author.line(pinned).exits(3).says(REFUSED);
    run.shows("\nauthentication  refused\n");
}

#[test]
fn install_and_copy_report_removed_evidence() {
    for command in [
        "install --platform all --into mirror",
        "copy --to oci-layout:other",
    ] {
        let author = removed();
        let said = match &command[..4] {
            "copy" => REFUSED.replace(FROM, "oci-layout:store/registry.opentofu.org/acme/demo"),
            _ => REFUSED.to_owned(),
        };
        let command = format!("{command} acme/demo --from {FROM}");
        let run = author.line(format!("{command} --key acme.asc")).exits(3);
        run.without_result().says(&said);
        let run = author.line(command).succeeds();
        run.says(&format!(
            "{WARNING} Copied registry.opentofu.org/acme/demo 1.0.0 2 unverified no-evidence"
        ));
    }
}

/// Artifacts of other tools never had evidence, and checksums alone are evidence.
#[test]
fn versions_that_never_had_evidence_are_not_reported() {
    let author = Author::new();
    let release = ReleaseFolder::new("demo", "1.0.0").platform("linux_amd64");
    Parts::of(&release.build().zips[0].1.bytes).write(&author.repository(""));
    let install = format!("install acme/demo --from {FROM} --platform linux_amd64 --into mirror");
    let run = author.line(&install).succeeds();
    run.says("Copied registry.opentofu.org/acme/demo 1.0.0 1 406 unverified");

    let author = Author::with_mistake(Mistake::SignatureMissing);
    author
        .push_unsigned("--allow-unsigned acme/demo")
        .succeeds();
    author.line(&install).succeeds().says("Copied");
}
