//! Release folders with additional files and other names.

use std::fs;

use super::installed;
use crate::support::author::{Author, two_platforms};
use crate::support::release::ReleaseFolder;
use crate::support::zipfile;

#[test]
fn names_may_spell_the_version_with_a_v() {
    let author = Author::of(two_platforms().v_in_names());
    author.push("").succeeds();
    assert_eq!(author.installs().len(), 2);
    let manifest = author.described(&author.document("1.0.0")["manifests"][1]);
    let manifest = fs::read_to_string(manifest).unwrap();
    let name = "terraform-provider-demo_v1.0.0_linux_amd64.zip";
    assert!(manifest.contains(name), "{manifest}");
}

/// Other files of a release process: metadata, source archives, binaries, directories.
#[test]
fn other_files_in_the_folder_are_ignored() {
    let author = Author::with_release();
    let names = "artifacts.json config.yaml demo_1.0.0_sources.zip linux_amd64_v1/terraform-provider-demo terraform-provider-demo";
    for name in names.split(' ') {
        author.write(format!("dist/{name}"), "x");
    }
    author.push("").succeeds();
    assert_eq!(author.installs().len(), 2);
}

/// An unsigned zip in the folder is never pushed just because it is there.
#[test]
fn a_zip_that_the_document_does_not_list_is_refused() {
    let author = Author::with_release();
    fs::copy(author.zip("linux_amd64"), author.zip("freebsd_amd64")).unwrap();
    author.untouched(|| author.push("").exits(3).without_result());
    author.push("--platform linux_amd64").succeeds();
    assert_eq!(author.installs(), installed("1.0.0", &["linux_amd64"]));
}

#[test]
fn a_zip_with_directory_entries_is_noted() {
    let files: &[(&str, &[u8])] = &[("docs/", b""), ("terraform-provider-demo_v1.0.0", b"x")];
    let folder = ReleaseFolder::new("demo", "1.0.0");
    let author = Author::of(folder.package("linux_amd64", files));
    let run = author.push("").succeeds();
    run.says("Copied registry.opentofu.org/acme/demo 1.0.0 1 247 signed [ACME ID] pinned Pushed 1 1 247 [TIME]");
    author.installs();
}

/// Clients keep the permissions of the zip, and Windows knows none.
#[test]
fn a_zip_whose_executable_cannot_be_executed_is_a_warning() {
    for (made_by, attributes, platform, warns) in [
        (3 << 8 | 20, 0o100_644 << 16, "linux_amd64", true),
        (3 << 8 | 20, 0o100_755 << 16, "linux_amd64", false),
        // As Windows makes it.
        (20, 0, "darwin_arm64", true),
        (20, 0, "windows_amd64", false),
    ] {
        let executable = zipfile::File {
            made_by,
            attributes,
            ..zipfile::file(zipfile::EXECUTABLE, b"x")
        };
        let folder = ReleaseFolder::new("demo", "1.0.0");
        let author = Author::of(folder.zip(platform, &zipfile::zip([executable])));
        let facts = format!("acme/demo 1.0.0 {platform} terraform-provider-demo_v1.0.0");
        let warning = format!("Warning registry.opentofu.org/{facts}");
        let run = author.push("").succeeds();
        run.says(if warns { &warning } else { "Copied" });
    }
}
