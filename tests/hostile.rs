//! Every zip of `support/hostile.rs`, offered to `push` in a release that is signed, and to `install` in an artifact that another
//! tool made. Both refuse it and write nothing.

use std::collections::BTreeMap;

use crate::support::author::Author;
use crate::support::hostile::cases;
use crate::support::layout::Parts;
use crate::support::release::ReleaseFolder;
use crate::support::scene::Run;

/// The first line of each error, by the label of its case. The test of unpacking in the library writes the file.
fn messages() -> BTreeMap<String, String> {
    let text = std::fs::read_to_string("testdata/hostile.txt").unwrap();
    let lines = text.lines().map(|line| line.split_once(": ").unwrap());
    lines
        .map(|(label, message)| (label.to_owned(), message.to_owned()))
        .collect()
}

/// Mistakes that only decompression shows. `push` reads headers only, and `install` detects these.
const IN_COMPRESSED_DATA: [&str; 7] = [
    "unpacks to more",
    "unpacks to less",
    "wrong checksum",
    "not deflate",
    "stream ends early",
    "bytes behind the stream",
    "no stream at all",
];

/// Whether the error has this message, as its headline or as its cause.
fn says(run: &Run, message: &str) -> bool {
    run.stderr
        .lines()
        .any(|line| match line.strip_prefix("error: ") {
            Some(line) => line
                .strip_suffix(message)
                .is_some_and(|about| about.is_empty() || about.ends_with(": ")),
            None => line.trim_start() == message,
        })
}

/// Everything except the target directory, which may exist if it is empty.
fn without_empty(mut tree: BTreeMap<String, String>) -> BTreeMap<String, String> {
    tree.remove("out/");
    tree
}

#[test]
fn push_refuses_every_hostile_zip_that_it_reads() {
    let (mut wrong, messages) = (Vec::new(), messages());
    for case in cases() {
        let author = Author::new();
        let release = ReleaseFolder::new("demo", "1.0.0").zip("linux_amd64", &case.zip);
        release.write(&author.scene.path("dist"));
        let before = author.tree();
        let run = author.push("");
        let right = if IN_COMPRESSED_DATA.contains(&case.label) {
            run.status == Some(0)
        } else {
            run.status == Some(case.exit.into())
                && says(&run, &messages[case.label])
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
        ("too deep", |_| "expected".to_owned()),
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
        let run = author.push("").exits(case.exit.into());
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
    let (mut wrong, messages) = (Vec::new(), messages());
    for case in cases() {
        for form in ["--packed", "--unpacked"] {
            let author = Author::new();
            Parts::of(&case.zip).write(&author.scene.path("foreign"));
            let before = author.tree();
            let run = author.line(format!("install acme/demo@1.0.0 --from oci-layout:foreign --exact-repository --platform linux_amd64 --into out {form}"));
            let after = without_empty(author.tree());
            let right = run.status == Some(case.exit.into())
                && says(&run, &messages[case.label])
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
