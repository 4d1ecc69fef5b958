//! Every zip of `support/hostile.rs`, offered to `push` in a release that is signed, and to `install` in an artifact that another
//! tool made. Both refuse it and write nothing.

use std::collections::BTreeMap;

use crate::support::author::Author;
use crate::support::foreign;
use crate::support::hostile::{Case, cases};
use crate::support::release::ReleaseFolder;
use crate::support::scene::Run;

/// Mistakes that only decompression shows. `push` reads headers only, and `install` detects these.
fn hides_in_compressed_data(case: &Case) -> bool {
    let facts = [
        "unpacks to more than",
        "unpacks to less than",
        "compressed data",
        "does not match its CRC-32",
    ];
    facts.iter().any(|fact| case.message.contains(fact))
}

/// Whether the error has the case's message, as its headline or as its cause.
fn says(run: &Run, case: &Case) -> bool {
    run.stderr
        .lines()
        .any(|line| match line.strip_prefix("error: ") {
            Some(line) => line
                .strip_suffix(case.message)
                .is_some_and(|about| about.is_empty() || about.ends_with(": ")),
            None => line.trim_start() == case.message,
        })
}

/// Everything except the target directory, which may exist if it is empty.
fn without_empty(mut tree: BTreeMap<String, String>) -> BTreeMap<String, String> {
    tree.remove("out/");
    tree
}

#[test]
fn push_refuses_every_hostile_zip_that_it_reads() {
    let mut wrong = Vec::new();
    for case in cases() {
        let author = Author::new();
        let release = ReleaseFolder::new("demo", "1.0.0").zip("linux_amd64", &case.zip);
        release.write(&author.scene.path("dist"));
        let before = author.tree();
        let run = author.push(&[]);
        let right = if hides_in_compressed_data(&case) {
            run.status == Some(0)
        } else {
            run.status == Some(case.exit.into())
                && says(&run, &case)
                && run.stdout.is_empty()
                && author.tree() == before
        };
        if !right {
            wrong.push(format!("{}: {:?}\n{}", case.label, run.status, run.stderr));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn refusals_state_what_was_expected_and_received() {
    for (label, facts) in [
        (
            "a stub before the zip, offsets not shifted",
            stub as fn(&[u8]) -> String,
        ),
        ("too deep", |_| "expected 64 received 65".to_owned()),
        ("more directories than the limit", |_| {
            "expected 10000 received more".to_owned()
        }),
        ("pipe", |_| "received 0o10000".to_owned()),
        ("bzip2", |_| "expected 0 8 received 12".to_owned()),
        ("an unlisted entry between others", |zip| {
            let mut headers = (0..zip.len()).filter(|at| zip[*at..].starts_with(b"PK\x03\x04"));
            // The third header, after those of the executable and of `x`.
            let hidden = headers.nth(2).unwrap();
            format!("received header {hidden}")
        }),
    ] {
        let case = cases()
            .into_iter()
            .find(|case| case.label == label)
            .unwrap();
        let author = Author::new();
        let release = ReleaseFolder::new("demo", "1.0.0").zip("linux_amd64", &case.zip);
        release.write(&author.scene.path("dist"));
        let run = author.push(&[]).exits(case.exit.into());
        run.says(&format!("error {}", facts(&case.zip)));
    }
}

/// The end record is the last 22 bytes, and the central directory must end there. By its stated offset, it ends earlier by the length of
/// the stub.
fn stub(zip: &[u8]) -> String {
    let (end, stub) = (zip.len() - 22, "#!/bin/sh\n".len());
    let found = end - stub;
    format!("expected {end} received {found}")
}

#[test]
fn install_refuses_every_hostile_zip() {
    let mut wrong = Vec::new();
    for case in cases() {
        for form in ["--packed", "--unpacked"] {
            let author = Author::new();
            foreign::write(&author.scene.path("foreign"), "1.0.0", &case.zip);
            let before = author.tree();
            let run = author.tfoci(&[
                "install",
                "acme/demo@1.0.0",
                "--from",
                "oci-layout:foreign",
                "--exact-repository",
                "--platform",
                "linux_amd64",
                "--into",
                "out",
                form,
            ]);
            let after = without_empty(author.tree());
            let right = run.status == Some(case.exit.into())
                && says(&run, &case)
                && run.stdout.is_empty()
                && after == before;
            if !right {
                let left: Vec<&String> = after
                    .keys()
                    .filter(|name| !before.contains_key(*name))
                    .collect();
                wrong.push(format!(
                    "{} {form}: {:?} {left:?}\n{}",
                    case.label, run.status, run.stderr
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
