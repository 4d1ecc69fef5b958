use std::fs;

use super::hostile;
use crate::support::author::{Author, steady};
use crate::support::origin::{Origin, Provider};
use crate::support::scene::{Run, Scene};

const SUMMARY: &str = "summary.md";

/// A job of GitHub Actions.
fn job() -> Scene {
    Scene::new()
        .env("GITHUB_ACTIONS", "true")
        .env("GITHUB_STEP_SUMMARY", SUMMARY)
}

fn author() -> Author {
    within(job())
}

fn within(scene: Scene) -> Author {
    let author = Author::within(scene);
    author.with_release_in_place();
    author
}

fn summary(scene: &Scene) -> String {
    let stdout = fs::read_to_string(scene.path(SUMMARY)).unwrap_or_default();
    let run = Run {
        status: Some(0),
        stdout,
        stderr: String::new(),
    };
    let text = steady(run).stdout;
    let lines = text.lines().map(|line| match line.split_once(" in ") {
        Some((before, _)) if line.starts_with('#') => format!("{before} in [TIME]\n"),
        _ => format!("{line}\n"),
    });
    lines.collect()
}

/// Asserts that each line that begins like a command is an annotation of tfoci.
#[track_caller]
fn assert_only_annotations(run: &Run) {
    for line in run.stderr.split(['\n', '\r', '\u{85}', '\u{2028}']) {
        let ours = ["::warning title=tfoci::", "::error title=tfoci"];
        let is_ours = ours.iter().any(|own| line.starts_with(own));
        assert!(is_ours || !line.trim_start().starts_with("::"), "{line:?}");
    }
    for command in ["##[", "##vso["] {
        assert!(!run.stderr.contains(command), "{}", run.stderr);
    }
}

#[test]
fn a_version_is_a_line_and_a_row() {
    let author = author();
    let run = author.push("").succeeds();
    assert_eq!(run.stdout.lines().count(), 1, "{}", run.stdout);
    run.says("Copied registry.opentofu.org/acme/demo 1.0.0 2 813 signed [ACME ID] pinned Pushed 1 2 813 [TIME]");
    let copy = "copy --from oci-layout:store --to oci-layout:other";
    author.line(copy).succeeds();
    // The summary belongs to the whole job, which may run several commands.
    assert_eq!(
        summary(&author.scene),
        "\
### Pushed 1 version, 2 packages (813 B copied) in [TIME]

| provider | version | packages | size | authentication | status |
| --- | --- | ---: | ---: | --- | --- |
| registry.opentofu.org/acme/demo | 1.0.0 | 2 | 813 B | signed [ACME ID] (pinned) | copied |

### Copied 1 version, 2 packages (0 B copied, 2 reused) in [TIME]

| provider | version | packages | size | authentication | status |
| --- | --- | ---: | ---: | --- | --- |
| registry.opentofu.org/acme/demo | 1.0.0 | 2 | 813 B | signed [ACME ID] (embedded) | copied |

"
    );
}

#[test]
fn failures_and_warnings_are_annotations() {
    let author = author();
    let run = author.push_unsigned("--key stranger.asc").exits(3);
    assert!(run.stderr.starts_with("error: "), "{}", run.stderr);
    let last = run.stderr.lines().last().unwrap();
    let begin = "::error title=tfoci::registry.opentofu.org/acme/demo 1.0.0 (dist): ";
    assert!(last.starts_with(begin), "{last}");
    assert!(last.contains("%0A  expected [STRANGER]"), "{last}");
    assert!(last.contains("%0A%0Ahint: "), "{last}");
    let rows = summary(&author.scene);
    let row = "\n| registry.opentofu.org/acme/demo | 1.0.0 |  |  |  | failed (key-changed) |\n";
    assert!(rows.contains(row), "{rows}");
    // Without a version there is no row.
    let run = author.tfoci(&["versions", "acme/demo", "--from", "oci-layout:none"]);
    let last = run.stderr.lines().last().unwrap();
    assert!(last.starts_with("::error title=tfoci::"), "{last}");
    author.scene.write("empty.hcl", "");
    let copy = "copy --from-lock empty.hcl --from oci-layout:a";
    let run = author.line(format!("{copy} --to oci-layout:b"));
    run.says("title=tfoci::empty.hcl Copied [TIME]");
}

#[test]
fn with_quiet_only_errors_are_printed() {
    let author = author();
    author.push("-q").succeeds().says("");
    assert!(summary(&author.scene).contains(" | copied |\n"));
    let unsigned = "--key stranger.asc -q";
    let said = author.push_unsigned(unsigned).exits(3).stderr;
    assert!(said.starts_with("error: "), "{said}");
    let others = said.matches("::").count() - said.matches("::error title=").count();
    assert_eq!(others, 1, "{said}");
    assert!(summary(&author.scene).contains("| failed (key-changed) |\n"));
}

#[test]
fn without_github_actions_no_commands_are_printed() {
    let author = within(Scene::new().env("GITHUB_STEP_SUMMARY", SUMMARY));
    author.push("").succeeds().omits("::");
    assert!(!author.scene.path(SUMMARY).exists());
}

#[test]
fn a_summary_that_cannot_be_written_is_a_warning() {
    let scene = Scene::new().env("GITHUB_ACTIONS", "true");
    let author = within(scene.env("GITHUB_STEP_SUMMARY", "none/summary.md"));
    let run = author.push("").succeeds();
    let lines = run.stderr.lines();
    let mut warnings = lines.filter(|line| line.starts_with("::warning title=tfoci::"));
    assert!(warnings.any(|line| line.contains("none/summary.md")));
}

/// What changes in a lock file, and in the packages beside it.
#[test]
fn lock_files_and_installed_packages_are_in_the_summary() {
    let author = author();
    author.push("").succeeds();
    let run = |command| {
        fs::remove_file(author.scene.path(SUMMARY)).unwrap();
        let from = "acme/demo --from oci-layout:store --key acme.asc";
        author.line(format!("{command} {from}")).succeeds();
        summary(&author.scene)
    };
    let row = "| registry.opentofu.org/acme/demo | 1.0.0 |";
    let proof = "signed [ACME ID] (pinned)";
    let locked = run("lock");
    let line = format!("{row} 3 hashes |  | {proof} | locked |\n");
    assert!(locked.contains(&line), "{locked}");
    assert_eq!(run("lock"), "### Locked nothing in [TIME]\n\n");
    let installed = run("install");
    let line = format!("{row} 1 | 406 B | {proof} | copied |\n");
    assert!(installed.contains(&line), "{installed}");
}

/// Only tfoci's own text becomes a workflow command, and untrusted text puts neither Markdown nor HTML into the summary.
#[test]
fn untrusted_text_is_no_workflow_command() {
    let mut texts = hostile().to_vec();
    texts.push("x%0A::endgroup::%0A::error::forged".to_owned());
    texts.push("::endgroup::".to_owned());
    texts.push("| <img src=x> [forged](https://h.example) |\n# forged".to_owned());
    for text in texts {
        let scene = job();
        let provider = Provider::demo(&["linux_amd64"]).warning(&text);
        let origin = Origin::of([provider]);
        origin.write_ca(&scene);
        for address in [
            origin.address("acme/demo"),
            format!("{text}/acme/demo"),
            text.clone(),
        ] {
            let mirror = format!("mirror {address} --ca-file ca.pem");
            let to = "--to oci-layout:store";
            let run = scene.line(format!("{mirror} {to}"));
            assert_only_annotations(&run);
            run.tells(match run.status {
                Some(0) => "::warning title=tfoci::",
                _ => "\n::error title=tfoci",
            });
        }
        let summary = summary(&scene);
        for line in summary.lines() {
            let own = [
                "### Mirrored ",
                "| provider |",
                "| --- |",
                "| 127.0.0.1",
                "",
            ];
            assert!(own.iter().any(|own| line.starts_with(own)), "{line}");
        }
        let is_plain = !summary.contains("forged") && !summary.contains('<');
        assert!(is_plain, "{summary}");
    }
}
