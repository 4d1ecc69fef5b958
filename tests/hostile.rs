//! Every zip of `support/hostile.rs`, offered to `push` in a release that is signed, and to `install` in an artifact that another
//! tool made. Both refuse it and write nothing.

use std::collections::BTreeMap;

use crate::support::author::Author;
use crate::support::hostile::{Case, cases};
use crate::support::layout::Parts;
use crate::support::release::ReleaseFolder;
use crate::support::scene::Run;

/// The first line of each error, by the label of its case. The test of unpacking in the library writes the file.
fn messages() -> BTreeMap<String, String> {
    let text = std::fs::read_to_string("testdata/hostile.txt").unwrap();
    let lines = text.lines().map(|line| line.split_once(": ").unwrap());
    let owned = lines.map(|(label, message)| (label.to_owned(), message.to_owned()));
    owned.collect()
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
    let is_headline = |about: &str| about.is_empty() || about.ends_with(": ");
    let mut lines = run.stderr.lines();
    lines.any(|line| match line.strip_prefix("error: ") {
        Some(line) => line.strip_suffix(message).is_some_and(is_headline),
        None => line.trim_start() == message,
    })
}

/// An author whose release has the zip of a case.
fn author(case: &Case) -> Author {
    let release = ReleaseFolder::new("demo", "1.0.0");
    Author::of(release.zip("linux_amd64", &case.zip))
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
        let author = author(&case);
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
                wrong.push(format!("{} {form}: {run:?} {after:?}", case.label));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
