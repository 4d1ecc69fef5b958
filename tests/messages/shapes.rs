//! Artifacts that clients refuse for their shape: one layout of `testdata/layouts` for each reason.

use super::{Case, check};
use crate::support::author::Author;
use crate::support::tamper;
use crate::support::{copy, testdata};

pub(super) fn layout(author: &Author, name: &str) {
    copy(&testdata("layouts").join(name), &author.scene.path("store"));
}

/// What installing from a layout says.
pub(super) const fn shape(
    label: &'static str,
    given: fn(&Author),
    exit: i32,
    says: &'static str,
) -> Case {
    Case {
        label,
        given,
        arguments: "install acme/demo@1.0.0 --platform linux_amd64 --exact-repository --from oci-layout:store --into out",
        exit,
        says,
    }
}

#[test]
fn tags() {
    check(&[
        shape(
            "tag-is-image-manifest",
            |author| layout(author, "tag-is-image-manifest"),
            1,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the tag leads to an image manifest
  expected a provider's index
",
        ),
        shape(
            "tag-is-platform-manifest",
            |author| layout(author, "tag-is-platform-manifest"),
            1,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the tag leads to the manifest of one platform
  expected an index of platforms
",
        ),
        shape(
            "tag-is-module",
            |author| layout(author, "tag-is-module"),
            1,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the tag leads to a module package
  expected a provider's index
",
        ),
        shape(
            "tag-is-descriptor",
            |author| layout(author, "tag-is-descriptor"),
            1,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the tag leads to a bare descriptor
  expected a provider's index
",
        ),
        shape(
            "tag-artifact-type-unsupported",
            |author| layout(author, "tag-artifact-type-unsupported"),
            1,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the tag leads to another kind of artifact
  expected application/vnd.opentofu.provider
  received application/vnd.example.chart
",
        ),
        shape(
            "tag-is-docker-list",
            |author| layout(author, "tag-is-docker-list"),
            1,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the tag leads to another kind of document
  expected application/vnd.oci.image.index.v1+json
  received application/vnd.docker.distribution.manifest.list.v2+json
",
        ),
    ]);
}

#[test]
fn indexes() {
    check(&[
        shape(
            "index-media-type-missing",
            |author| layout(author, "index-media-type-missing"),
            1,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the index has the wrong mediaType
  expected application/vnd.oci.image.index.v1+json
  received nothing
",
        ),
        shape(
            "index-media-type-wrong",
            |author| layout(author, "index-media-type-wrong"),
            1,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the index has the wrong mediaType
  expected application/vnd.oci.image.index.v1+json
  received application/vnd.oci.image.manifest.v1+json
",
        ),
        shape(
            "index-artifact-type-missing",
            |author| layout(author, "index-artifact-type-missing"),
            1,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the index has the wrong artifactType
  expected application/vnd.opentofu.provider
  received nothing

hint: another tool may have copied it and left out what clients need: copy it with `tfoci copy`
",
        ),
        shape(
            "index-artifact-type-wrong",
            |author| layout(author, "index-artifact-type-wrong"),
            1,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the index has the wrong artifactType
  expected application/vnd.opentofu.provider
  received application/vnd.opentofu.provider-target
",
        ),
        shape(
            "index-cut-short",
            |author| layout(author, "index-cut-short"),
            1,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the index is not valid JSON of its kind
  line 1, column 397: the document ends too early
",
        ),
        shape(
            "index-tampered",
            |author| layout(author, "index-tampered"),
            3,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the index sha256:d84e5f47ec5c1908570c469cad7a5b4cfe2e25330596c0e3a4f079d8f3a43dad cannot be used
  the bytes do not match their digest
    expected sha256:d84e5f47ec5c1908570c469cad7a5b4cfe2e25330596c0e3a4f079d8f3a43dad
    received sha256:b88af63c57de8c17b35bfee9de994cc02b450e04dd366d4f6bdf5dfca40746e6

hint: the store is damaged. `--existing replace` of `tfoci push`, or of `tfoci copy` from a store that is whole, writes the version again; so does `tfoci mirror --recheck`
",
        ),
        shape(
            "index-size-wrong",
            |author| layout(author, "index-size-wrong"),
            3,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the index sha256:d84e5f47ec5c1908570c469cad7a5b4cfe2e25330596c0e3a4f079d8f3a43dad cannot be used
  there are fewer bytes than expected
    expected 1234 bytes
    received 398 bytes

hint: the store is damaged. `--existing replace` of `tfoci push`, or of `tfoci copy` from a store that is whole, writes the version again; so does `tfoci mirror --recheck`
",
        ),
        shape(
            "index-too-large",
            |author| layout(author, "index-too-large"),
            1,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the index is too large
  expected at most 5242879 bytes
  received 5242880 bytes
",
        ),
        shape(
            "index-missing",
            |author| layout(author, "index-missing"),
            1,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the index sha256:d84e5f47ec5c1908570c469cad7a5b4cfe2e25330596c0e3a4f079d8f3a43dad is missing

hint: the store is damaged. `--existing replace` of `tfoci push`, or of `tfoci copy` from a store that is whole, writes the version again; so does `tfoci mirror --recheck`
",
        ),
        shape(
            "index-empty",
            |author| layout(author, "index-empty"),
            1,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the index has no entry of a provider
  expected artifactType application/vnd.opentofu.provider-target
  received none, as in a container image
",
        ),
    ]);
}

#[test]
fn entries() {
    check(&[
        shape(
            "entry-artifact-type-foreign-everywhere",
            |author| layout(author, "entry-artifact-type-foreign-everywhere"),
            1,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the index has no entry of a provider
  expected artifactType application/vnd.opentofu.provider-target
  received application/vnd.example
",
        ),
        shape(
            "entry-platform-missing",
            |author| layout(author, "entry-platform-missing"),
            1,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): an entry of the index has no platform
  entry sha256:4563c51bab7b73bcc6d8818cf3209298f283ea7c63e54b87bf71b477d68567ac
",
        ),
        shape(
            "entry-is-index",
            |author| layout(author, "entry-is-index"),
            1,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): an entry of the index is not an image manifest
  expected application/vnd.oci.image.manifest.v1+json
  received application/vnd.oci.image.index.v1+json
",
        ),
        shape(
            "platform-ambiguous-identical",
            |author| layout(author, "platform-ambiguous-identical"),
            1,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the platform linux_amd64 has several entries
  received sha256:c652b8ee0e8e0fe1742335dedee2e8706bc47fdeabfb02d6dcd6cc1ee6380d4e
  and sha256:c652b8ee0e8e0fe1742335dedee2e8706bc47fdeabfb02d6dcd6cc1ee6380d4e
",
        ),
        shape(
            "platform-wrong-case",
            |author| layout(author, "platform-wrong-case"),
            1,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the platform linux_amd64 is missing
  has Linux_AMD64

hint: choose one of these with `--platform`, or mirror or push the one that is missing
",
        ),
        shape(
            "entry-digest-malformed",
            |author| layout(author, "entry-digest-malformed"),
            1,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the index entry describes nothing that can be fetched
  `d41d8cd98f00b204e9800998ecf8427e` is not a digest: it has no algorithm, expected sha256:HEX or sha512:HEX
",
        ),
        shape(
            "entry-digest-md5",
            |author| layout(author, "entry-digest-md5"),
            1,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the index entry describes nothing that can be fetched
  the digest `md5:d41d8cd98f00b204e9800998ecf8427e` has an unsupported algorithm, expected sha256 or sha512
",
        ),
        Case {
            label: "entry-size-negative",
            given: |author| {
                author.with_pushed();
                tamper::alter(&author.repository(""), "1.0.0", |index| {
                    index["manifests"][1]["size"] = (-1).into();
                });
            },
            arguments: "install acme/demo@1.0.0 --platform linux_amd64 --from oci-layout:store --into out",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the index entry describes nothing that can be fetched
  the size -1 is negative
",
        },
        Case {
            label: "entry-size-too-large",
            given: |author| {
                author.with_pushed();
                tamper::alter(&author.repository(""), "1.0.0", |index| {
                    index["manifests"][1]["size"] = (9_u64 << 30).into();
                });
            },
            arguments: "install acme/demo@1.0.0 --platform linux_amd64 --from oci-layout:store --into out",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the index entry describes nothing that can be fetched
  the size 9663676416 is larger than 8589934592, the most that is read
",
        },
    ]);
}
