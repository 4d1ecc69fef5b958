//! The bytes of an artifact are those of `testdata/golden`, in any directory and in any order of pushes.

use std::fs;

use crate::support::author::Author;
use crate::support::judge::sha256;
use crate::support::{copy, testdata};

/// Each golden document, and its digest in hex.
const DIGESTS: [&str; 6] = [
    "index.json 702224a16662a4507ca29944b28a4ce21970232eac70456889bb6909036fb834",
    "evidence.json 4e0c015e9803c90514d73c414060dd647d22f7a51e8785582d7cf9c622f8af96",
    "darwin_arm64.json 769ee88951446d7e70798e6dae8109b3836a52ee600586676d56d596e4a81fa5",
    "linux_amd64.json 96abc215dc0f09eb486e307587091ad5a4ea65791694adc7f6277b174e58f44a",
    "linux_arm64.json 3cc7d6907d6e4d94474d1b0968db860905af9989c378cb72f6bdd9e623c98739",
    "windows_amd64.json 8e700951879afff7e98c6836c40605bb55617a7893b83a26d37472779d0d16c8",
];

fn digests() -> [(&'static str, &'static str); 6] {
    DIGESTS.map(|line| line.split_once(' ').unwrap())
}

const PLATFORMS: [&str; 4] = [
    "darwin_arm64",
    "linux_amd64",
    "linux_arm64",
    "windows_amd64",
];

fn author() -> Author {
    let author = Author::new();
    copy(&testdata("release"), &author.path("dist"));
    author
}

fn push(author: &Author, more: impl AsRef<str>) {
    let more = format!("--key dist/acme.asc {}", more.as_ref());
    author.push_unsigned(more).succeeds();
}

#[track_caller]
fn is_golden(author: &Author) {
    assert_eq!(author.tagged("1.0.0").unwrap(), digests()[0].1);
    assert_eq!(author.tagged("evidence-1.0.0").unwrap(), digests()[1].1);
    for (name, digest) in digests() {
        let golden = fs::read_to_string(testdata("golden").join(name)).unwrap();
        let written = fs::read_to_string(author.blob(digest)).unwrap();
        assert_eq!(written, golden, "{name}");
    }
    let [layout, golden] = [
        author.repository("index.json"),
        testdata("golden/layout.json"),
    ];
    assert_eq!(sha256(&layout), sha256(&golden));
    let marker = fs::read_to_string(author.repository("oci-layout")).unwrap();
    assert_eq!(marker, r#"{"imageLayoutVersion":"1.0.0"}"#);
    assert_eq!(author.installs().len(), PLATFORMS.len());
}

#[test]
fn the_golden_documents_have_the_known_digests() {
    for (name, digest) in digests() {
        assert_eq!(sha256(&testdata("golden").join(name)), digest, "{name}");
    }
    let found = fs::read_dir(testdata("golden")).unwrap().count();
    // The index of the layout, and the bundle, have no digest here: another test compares their bytes.
    assert_eq!(found, DIGESTS.len() + 2);
}

/// Each member is found after the one before it. Members of nested objects between them do not matter.
#[test]
fn members_are_in_the_documented_order() {
    let documentation = fs::read_to_string("src/oci/mod.rs").unwrap();
    for (object, file, beginning) in [
        ("index", "index.json", "{"),
        ("platform manifest, evidence manifest", "evidence.json", "{"),
        ("descriptor", "index.json", "\"manifests\":["),
        ("platform of a descriptor", "index.json", "\"platform\":{"),
    ] {
        let row = format!("//! | {object} | `");
        let (_, row) = documentation.split_once(&row).expect(object);
        let row = row.lines().next().unwrap();
        let members: Vec<&str> = row.split('`').step_by(2).collect();
        assert!(members.len() >= 2, "{row}");
        let golden = fs::read_to_string(testdata("golden").join(file)).unwrap();
        let (_, mut rest) = golden.split_once(beginning).unwrap();
        for name in members {
            let name = format!("\"{name}\":");
            let found = rest.split_once(&name);
            (_, rest) = found.unwrap_or_else(|| panic!("{object}: {name}"));
        }
    }
}

#[test]
fn all_platforms_at_once_give_the_golden_documents() {
    let author = author();
    push(&author, "");
    is_golden(&author);
}

#[test]
fn any_number_of_jobs_gives_the_golden_documents() {
    for jobs in ["2", "7", "64"] {
        let author = author();
        let push = "push dist --provider acme/demo --key dist/acme.asc --to oci-layout:store";
        author.line(format!("{push} -j {jobs}")).succeeds();
        is_golden(&author);
    }
}

#[test]
fn platforms_in_any_order_give_the_golden_documents() {
    for order in [[0, 1, 2, 3], [3, 1, 0, 2]] {
        let author = author();
        for number in order {
            push(&author, format!("--platform {}", PLATFORMS[number]));
        }
        is_golden(&author);
    }
}

#[test]
fn another_directory_and_a_replacement_give_the_golden_documents() {
    let author = author();
    copy(&testdata("release"), &author.path("a b/ü"));
    let directory = author.path("a b/ü");
    let options = "--provider acme/demo@1.0.0 --key dist/acme.asc --to oci-layout:store --existing";
    for existing in ["merge", "replace"] {
        let words = ["push", directory.to_str().unwrap()]
            .into_iter()
            .chain(options.split(' '));
        author.scene.tfoci(words.chain([existing])).succeeds();
        is_golden(&author);
    }
}
