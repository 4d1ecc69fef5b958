//! The independent reader, which checks the artifacts of tfoci, is itself checked. There is one small layout for each mistake of an
//! artifact, with the real client's message (`testdata/layouts/EXPECTED.tsv`).

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::support::expected::{Line, layouts, lines};
use crate::support::layout::Parts;
use crate::support::release::sha256;
use crate::support::tofu_client::{self, Refusal};

/// The places of documents among the blobs of [`Parts`].
const MANIFEST: usize = 1;
const INDEX: usize = 2;
const MIB: usize = 1024 * 1024;

/// The outcome, in the words of the table.
fn outcome(layout: &Path, version: &str, platform: &str) -> String {
    match version {
        "list" => tofu_client::versions(layout).map(|versions| versions.join(" ")),
        "ignored" => tofu_client::ignored(layout).map(|tags| {
            let names: Vec<String> = tags.into_iter().map(|(tag, _)| tag).collect();
            names.join(" ")
        }),
        _ => {
            let (os, arch) = platform.split_once('_').unwrap();
            tofu_client::install(layout, version, os, arch).map(|_| "ok".to_owned())
        }
    }
    .unwrap_or_else(|refusal| refusal.to_string())
}

#[test]
fn every_layout_has_the_outcome_in_the_table() {
    let differs = |line: Line| {
        let (version, platform) = (&line.version, &line.platform);
        let got = outcome(&layouts().join(&line.layout), version, platform);
        (got != line.outcome).then(|| format!("{line:?}\n  received {got}"))
    };
    let wrong: Vec<String> = lines().filter_map(differs).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_layout_is_in_the_table_and_every_line_has_its_layout() {
    let listed: BTreeSet<String> = lines().map(|line| line.layout).collect();
    let entries = fs::read_dir(layouts()).unwrap().map(Result::unwrap);
    let present = entries.filter(|entry| entry.path().is_dir());
    let present = present.map(|entry| entry.file_name().into_string().unwrap());
    let present: BTreeSet<String> = present.collect();
    assert_eq!(listed, present);
}

/// Fixture packages hold their platform's name as stored text.
#[test]
fn the_package_is_the_one_for_the_platform() {
    let layout = layouts().join("good-empty-config");
    let platforms = tofu_client::platforms(&layout, "1.0.0").unwrap();
    let expected = [("darwin", "arm64"), ("linux", "amd64")];
    assert_eq!(
        platforms,
        expected.map(|(os, arch)| (os.to_owned(), arch.to_owned()))
    );
    for (os, arch) in platforms {
        let package = tofu_client::install(&layout, "1.0.0", &os, &arch).unwrap();
        let bytes = fs::read(&package.bytes_path).unwrap();
        assert_eq!(bytes.len() as u64, package.size);
        assert_eq!(package.zh, format!("zh:{}", sha256(&bytes)));
        let text = format!("demo 1.0.0 {os}_{arch}");
        let mut parts = bytes.windows(text.len());
        assert!(parts.any(|part| part == text.as_bytes()), "{text}");
    }
}

#[test]
fn a_directory_that_is_no_layout_is_an_error_of_its_own() {
    let empty = TempDir::new().unwrap();
    let versions = tofu_client::versions(empty.path());
    assert!(matches!(versions, Err(Refusal::NoLayout(_))));
}

/// Row 28: the client's limit is called 4 MiB, and is one byte less than 5 MiB.
#[test]
fn manifests_may_be_just_under_five_mebibytes() {
    for (size, installs) in [
        (4 * MIB, true),
        (4 * MIB + 1, true),
        (5 * MIB - 1, true),
        (5 * MIB, false),
    ] {
        for which in [MANIFEST, INDEX] {
            let layout = padded_layout(which, size);
            let got = tofu_client::install(layout.path(), "1.0.0", "linux", "amd64");
            assert_eq!(got.is_ok(), installs, "{which} of {size}: {got:?}");
            assert!(installs || got == Err(Refusal::ManifestTooLarge));
        }
    }
}

/// A good layout whose platform manifest or index is padded to a size with white space.
fn padded_layout(which: usize, size: usize) -> TempDir {
    let directory = TempDir::new().unwrap();
    let mut parts = Parts::good();
    let blobs = parts.write(directory.path());
    let missing = size - fs::read(&blobs[which]).unwrap().len();
    let text = match which {
        MANIFEST => &mut parts.manifest,
        _ => &mut parts.index,
    };
    *text += &" ".repeat(missing);
    parts.write(directory.path());
    directory
}
