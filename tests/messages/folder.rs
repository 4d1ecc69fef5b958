//! Release folders that are not whole.

use std::fs;

use super::{Case, check};
use crate::support::author::{Author, two_platforms};
use crate::support::release::{Mistake, ReleaseFolder};

const STEM: &str = "dist/terraform-provider-demo_1.0.0";

fn whole(author: &Author) {
    two_platforms().write(&author.scene.path("dist"));
}

fn without(author: &Author, ending: &str) {
    whole(author);
    fs::remove_file(author.scene.path(format!("{STEM}_{ending}"))).unwrap();
}

/// A release whose signed document lists this manifest.
fn with_manifest(author: &Author, manifest: &str) {
    two_platforms()
        .manifest(manifest)
        .write(&author.scene.path("dist"));
}

#[test]
fn what_is_not_there() {
    check(&[
        Case {
            label: "no folder",
            given: |_| {},
            arguments: "push dist --provider acme/demo --to oci-layout:store",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo: cannot list dist
  No such file or directory (os error 2)

hint: name the folder that the release process writes, such as `dist`
",
        },
        Case {
            label: "a file",
            given: |author| {
                author.scene.write("dist", "");
            },
            arguments: "push dist --provider acme/demo --to oci-layout:store",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo: dist is a file, expected a directory

hint: name the folder that the release process writes, such as `dist`
",
        },
        Case {
            label: "nothing of a release",
            given: |author| {
                author.scene.write("dist/notes.txt", "");
            },
            arguments: "push dist --provider acme/demo --to oci-layout:store",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo (dist): the folder has no release
  expected terraform-provider-TYPE_VERSION_OS_ARCH.zip and its SHA256SUMS

hint: name the folder that the release process writes, such as `dist`
",
        },
        Case {
            label: "zips with other names",
            given: |author| {
                for name in [
                    "b_0.5.0_darwin_arm64.zip",
                    "c.zip",
                    "d.zip",
                    "e.zip",
                    "f.txt",
                ] {
                    author.scene.write(format!("dist/{name}"), "");
                }
                let name = "cloud-terraform-provider_0.5.0_linux_amd64.zip";
                author.scene.write(format!("dist/{name}"), "");
            },
            arguments: "push dist --provider acme/demo --to oci-layout:store",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo (dist): the folder has no release
  expected terraform-provider-TYPE_VERSION_OS_ARCH.zip and its SHA256SUMS
  has b_0.5.0_darwin_arm64.zip, c.zip, cloud-terraform-provider_0.5.0_linux_amd64.zip, d.zip and 1 more

hint: name the folder that the release process writes, such as `dist`
",
        },
        Case {
            label: "a document, and zips with other names",
            given: |author| {
                without(author, "linux_amd64.zip");
                let zip = author.scene.path(format!("{STEM}_darwin_arm64.zip"));
                fs::rename(zip, author.scene.path("dist/demo.zip")).unwrap();
            },
            arguments: "push dist --provider acme/demo --to oci-layout:store",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo (dist): the folder has no zip
  expected terraform-provider-TYPE_VERSION_OS_ARCH.zip
  has demo.zip
",
        },
        Case {
            label: "no document",
            given: |author| without(author, "SHA256SUMS"),
            arguments: "push dist --provider acme/demo --to oci-layout:store",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo (dist): the checksum document is missing
  expected terraform-provider-demo_1.0.0_SHA256SUMS

hint: `sha256sum terraform-provider-*.zip` prints its lines; it is signed with `gpg --detach-sign`
",
        },
        Case {
            label: "no zips",
            given: |author| {
                without(author, "linux_amd64.zip");
                fs::remove_file(author.scene.path(format!("{STEM}_darwin_arm64.zip"))).unwrap();
            },
            arguments: "push dist --provider acme/demo --to oci-layout:store --platform linux_amd64",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo (dist): the folder has no zip
  expected terraform-provider-TYPE_VERSION_OS_ARCH.zip
",
        },
        Case {
            label: "a listed zip is missing",
            given: |author| without(author, "linux_amd64.zip"),
            arguments: "push dist --provider acme/demo --key acme.asc --to oci-layout:store",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (dist): a zip of the checksum document is missing
  expected terraform-provider-demo_1.0.0_linux_amd64.zip

hint: to push only some platforms, name them with `--platform`
",
        },
        Case {
            label: "another platform",
            given: whole,
            arguments: "push dist --provider acme/demo --platform plan9_mips --to oci-layout:store",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo (dist): the folder has no zip for this platform
  expected plan9_mips
  has darwin_arm64, linux_amd64
",
        },
        Case {
            label: "another version",
            given: whole,
            arguments: "push dist --provider acme/demo@2.0.0 --to oci-layout:store",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo 2.0.0 (dist): the folder has no such version
  expected 2.0.0
  has 1.0.0
",
        },
        Case {
            label: "another type",
            given: whole,
            arguments: "push dist --provider acme/other --to oci-layout:store",
            exit: 2,
            says: r"
error: registry.opentofu.org/acme/other (dist): the folder has no release of this type
  expected other
  has demo

hint: `--provider` must name the type that is in the folder
",
        },
        Case {
            label: "several types",
            given: |author| {
                whole(author);
                ReleaseFolder::new("more", "1.0.0")
                    .platform("linux_amd64")
                    .write(&author.scene.path("dist"));
            },
            arguments: "push dist --provider acme/other --to oci-layout:store",
            exit: 2,
            says: r"
error: registry.opentofu.org/acme/other (dist): the folder has no release of this type
  expected other
  has demo, more

hint: `--provider` must name the type that is in the folder
",
        },
        Case {
            label: "several versions",
            given: |author| {
                whole(author);
                ReleaseFolder::new("demo", "1.1.0-rc.1")
                    .platform("linux_amd64")
                    .write(&author.scene.path("dist"));
            },
            arguments: "push dist --provider acme/demo --to oci-layout:store",
            exit: 2,
            says: r"
error: registry.opentofu.org/acme/demo (dist): the folder has several versions
  has 1.0.0, 1.1.0-rc.1

hint: choose one: `--provider registry.opentofu.org/acme/demo@VERSION`
",
        },
    ]);
}

#[test]
fn what_contradicts() {
    check(&[
        Case {
            label: "two zips for one platform",
            given: |author| {
                whole(author);
                author
                    .scene
                    .write("dist/terraform-provider-demo_v1.0.0_linux_amd64.zip", "");
            },
            arguments: "push dist --provider acme/demo --to oci-layout:store",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo (dist): two zips claim the platform linux_amd64
  terraform-provider-demo_1.0.0_linux_amd64.zip
  terraform-provider-demo_v1.0.0_linux_amd64.zip

hint: remove the one that the checksum document does not list
",
        },
        Case {
            label: "two digests for one zip",
            given: |author| {
                whole(author);
                let path = author.scene.path(format!("{STEM}_SHA256SUMS"));
                let mut text = fs::read_to_string(&path).unwrap();
                text += &format!(
                    "{}  terraform-provider-demo_1.0.0_linux_amd64.zip\n",
                    "a".repeat(64)
                );
                fs::write(path, text).unwrap();
            },
            arguments: "push dist --provider acme/demo --to oci-layout:store",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo (dist): the checksum document has two checksums for `terraform-provider-demo_1.0.0_linux_amd64.zip`
  received sha256:4fa7e60d506416362ae4a4933f2da2a5c755191e68c2d41fb7c13d5c8e023bec
  and sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
",
        },
        Case {
            label: "a document of five megabytes",
            given: |author| {
                whole(author);
                author
                    .scene
                    .write(format!("{STEM}_SHA256SUMS"), vec![b'a'; 5 << 20]);
            },
            arguments: "push dist --provider acme/demo --to oci-layout:store",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo: cannot read dist/terraform-provider-demo_1.0.0_SHA256SUMS
  expected at most 4194304 bytes
  received 5242880 bytes
",
        },
        Case {
            label: "a signature of a megabyte",
            given: |author| {
                whole(author);
                author
                    .scene
                    .write(format!("{STEM}_SHA256SUMS.sig"), vec![b'a'; 1 << 20]);
            },
            arguments: "push dist --provider acme/demo --key acme.asc --to oci-layout:store",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo: cannot read dist/terraform-provider-demo_1.0.0_SHA256SUMS.sig
  expected at most 65536 bytes
  received 1048576 bytes
",
        },
        Case {
            label: "the manifest was changed",
            given: |author| {
                whole(author);
                author.scene.write(format!("{STEM}_manifest.json"), "{}");
            },
            arguments: "push dist --provider acme/demo --key acme.asc --to oci-layout:store",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo (dist): `terraform-provider-demo_1.0.0_manifest.json` does not match its checksum
  expected sha256:9f97b33cc25c9960552d314e474ab9cf3a3ee057d060281c79230dc18257cbcf (checksum document)
  received sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a (file)

hint: nothing of this version was written. Build the release again, and sign after the last change
",
        },
        Case {
            label: "the manifest is something else",
            given: |author| with_manifest(author, r#"{"version":1}"#),
            arguments: "push dist --provider acme/demo --key acme.asc --to oci-layout:store",
            exit: 1,
            says: r#"
error: registry.opentofu.org/acme/demo (dist): `terraform-provider-demo_1.0.0_manifest.json` is not a provider manifest
  `metadata` is missing

hint: such as `{"version":1,"metadata":{"protocol_versions":["6.0"]}}`
"#,
        },
        Case {
            label: "the manifest is of a later format",
            given: |author| {
                with_manifest(
                    author,
                    r#"{"version":2,"metadata":{"protocol_versions":["7.0"]}}"#,
                )
            },
            arguments: "push dist --provider acme/demo --key acme.asc --to oci-layout:store",
            exit: 1,
            says: r#"
error: registry.opentofu.org/acme/demo (dist): `terraform-provider-demo_1.0.0_manifest.json` has an unknown format
  expected version 1
  received version 2

hint: such as `{"version":1,"metadata":{"protocol_versions":["6.0"]}}`
"#,
        },
        Case {
            label: "the manifest names no protocol",
            given: |author| {
                with_manifest(
                    author,
                    r#"{"version":1,"metadata":{"protocol_versions":["six"]}}"#,
                )
            },
            arguments: "push dist --provider acme/demo --key acme.asc --to oci-layout:store",
            exit: 1,
            says: r#"
error: registry.opentofu.org/acme/demo (dist): `terraform-provider-demo_1.0.0_manifest.json` names an unusable protocol version
  `six` is not a plugin protocol version, such as `6.0`

hint: such as `{"version":1,"metadata":{"protocol_versions":["6.0"]}}`
"#,
        },
    ]);
}

#[test]
fn zips() {
    check(&[
        Case {
            label: "a zip without the executable",
            given: |author| {
                ReleaseFolder::new("demo", "1.0.0")
                    .package("linux_amd64", &[("README.md", b"x"), ("demo", b"x")])
                    .write(&author.scene.path("dist"))
            },
            arguments: "push dist --provider acme/demo --key acme.asc --to oci-layout:store",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (dist): the zip `terraform-provider-demo_1.0.0_linux_amd64.zip` cannot be used
  the zip holds no executable
    expected a file `terraform-provider-demo` at its top level
    has README.md, demo

hint: clients run a file whose name is `terraform-provider-demo`, or begins with it and `_` or `.`, such as `terraform-provider-demo_v1.0.0`
",
        },
        Case {
            label: "a zip with the executable in a directory",
            given: |author| {
                ReleaseFolder::new("demo", "1.0.0")
                    .package("linux_amd64", &[("bin/terraform-provider-demo", b"x")])
                    .write(&author.scene.path("dist"))
            },
            arguments: "push dist --provider acme/demo --key acme.asc --to oci-layout:store",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (dist): the zip `terraform-provider-demo_1.0.0_linux_amd64.zip` cannot be used
  the zip holds no executable
    expected a file `terraform-provider-demo` at its top level
    has bin/terraform-provider-demo

hint: put the provider's executable into the zip itself, not into a directory of it
",
        },
        Case {
            label: "a zip that leaves its directory",
            given: |author| {
                ReleaseFolder::new("demo", "1.0.0")
                    .package("linux_amd64", &[("../x", b"x")])
                    .write(&author.scene.path("dist"))
            },
            arguments: "push dist --provider acme/demo --key acme.asc --to oci-layout:store",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (dist): the zip `terraform-provider-demo_1.0.0_linux_amd64.zip` cannot be used
  the entry `../x` has an element `..`
",
        },
        Case {
            label: "a zip that is none",
            given: |author| {
                ReleaseFolder::new("demo", "1.0.0")
                    .zip("linux_amd64", b"<html>")
                    .write(&author.scene.path("dist"))
            },
            arguments: "push dist --provider acme/demo --key acme.asc --to oci-layout:store",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (dist): the zip `terraform-provider-demo_1.0.0_linux_amd64.zip` cannot be used
  not a zip archive
    expected the bytes 50 4b 03 04 at its front
    received `<html>`
",
        },
        Case {
            label: "the zips were changed",
            given: |author| {
                two_platforms()
                    .mistake(Mistake::ZipsAltered)
                    .write(&author.scene.path("dist"))
            },
            arguments: "push dist --provider acme/demo --key acme.asc --to oci-layout:store",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (dist): `terraform-provider-demo_1.0.0_darwin_arm64.zip` does not match its checksum
  expected sha256:f63237d1fd1003ffd38efd8a93e846cf69bd47b10e91d503971b8696b973580a (checksum document)
  received sha256:e6eb85f0507c38e4f4f90bb3837fe58e99eae24afdad9d14b3d80831aca9ea65 (package)

hint: nothing of this version was tagged. Build the release again, and sign after the last change
",
        },
        Case {
            label: "the document does not list them",
            given: |author| {
                two_platforms()
                    .mistake(Mistake::ZipsUnlisted)
                    .write(&author.scene.path("dist"))
            },
            arguments: "push dist --provider acme/demo --key acme.asc --to oci-layout:store",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (dist): the checksum document has no SHA-256 for `terraform-provider-demo_1.0.0_darwin_arm64.zip`

hint: nothing of this version was written. Only what the signed document lists is pushed
",
        },
        Case {
            label: "the document has the form of another tool",
            given: |author| {
                two_platforms()
                    .document(|text| text.replace("  ", " *"))
                    .write(&author.scene.path("dist"))
            },
            arguments: "push dist --provider acme/demo --key acme.asc --to oci-layout:store",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (dist): the checksum document has no SHA-256 for `terraform-provider-demo_1.0.0_darwin_arm64.zip`
  expected HEX, two spaces, the bare file name
  received in line 1: f63237d1fd1003ffd38efd8a93e846cf69bd47b10e91d503971b8696b973580a *terraform-provider-demo_1.0.0_darwin_arm64.zip

hint: nothing of this version was written. In the folder of the zips, `sha256sum terraform-provider-*.zip > terraform-provider-TYPE_VERSION_SHA256SUMS`; then sign it again
",
        },
        Case {
            label: "the document is in UTF-16, as `>` of PowerShell writes it",
            given: |author| {
                two_platforms()
                    .document(|text| text.chars().flat_map(|c| [c, '\0']).collect())
                    .write(&author.scene.path("dist"))
            },
            arguments: "push dist --provider acme/demo --key acme.asc --to oci-layout:store",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (dist): the checksum document has no SHA-256 for `terraform-provider-demo_1.0.0_darwin_arm64.zip`
  expected HEX, two spaces, the bare file name
  received in line 1: UTF-16 text, expected UTF-8

hint: nothing of this version was written. Clients read it as UTF-8 without a byte order mark: in PowerShell, `Set-Content -Encoding ascii` writes it so; then sign it again
",
        },
        Case {
            label: "the document begins with a byte order mark",
            given: |author| {
                two_platforms()
                    .document(|text| format!("\u{feff}{text}"))
                    .write(&author.scene.path("dist"))
            },
            arguments: "push dist --provider acme/demo --key acme.asc --to oci-layout:store",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (dist): the checksum document has no SHA-256 for `terraform-provider-demo_1.0.0_darwin_arm64.zip`
  expected HEX, two spaces, the bare file name
  received in line 1: (byte order mark) f63237d1fd1003ffd38efd8a93e846cf69bd47b10e91d503971b8696b973580a  terraform-provider-demo_1.0.0_darwin_arm64.zip

hint: nothing of this version was written. Clients read it as UTF-8 without a byte order mark: in PowerShell, `Set-Content -Encoding ascii` writes it so; then sign it again
",
        },
    ]);
}
