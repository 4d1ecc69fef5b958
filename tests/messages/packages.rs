//! Platform manifests and packages that clients refuse: one layout of `testdata/layouts` for each reason.

use super::check;
use super::shapes::{layout, shape};

#[test]
fn manifests() {
    check(&[
        shape(
            "manifest-media-type-missing",
            |author| layout(author, "manifest-media-type-missing"),
            1,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the platform manifest has the wrong mediaType
  expected application/vnd.oci.image.manifest.v1+json
  received nothing
",
        ),
        shape(
            "manifest-media-type-wrong",
            |author| layout(author, "manifest-media-type-wrong"),
            1,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the platform manifest has the wrong mediaType
  expected application/vnd.oci.image.manifest.v1+json
  received application/vnd.oci.image.index.v1+json
",
        ),
        shape(
            "manifest-artifact-type-missing",
            |author| layout(author, "manifest-artifact-type-missing"),
            1,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the platform manifest has the wrong artifactType
  expected application/vnd.opentofu.provider-target
  received nothing

hint: another tool may have copied it and left out what clients need: copy it with `tfoci copy`
",
        ),
        shape(
            "manifest-text-behind",
            |author| layout(author, "manifest-text-behind"),
            1,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the platform manifest is not valid JSON of its kind
  line 1, column 419: this is not JSON
",
        ),
        shape(
            "manifest-tampered",
            |author| layout(author, "manifest-tampered"),
            3,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the platform manifest sha256:c652b8ee0e8e0fe1742335dedee2e8706bc47fdeabfb02d6dcd6cc1ee6380d4e cannot be used
  the bytes do not match their digest
    expected sha256:c652b8ee0e8e0fe1742335dedee2e8706bc47fdeabfb02d6dcd6cc1ee6380d4e
    received sha256:7893f187fc95bc29ab74c84784ddfa38fb956aa1f8fdf5cce7e916274a704b8a

hint: the store is damaged. `--existing replace` of `tfoci push`, or of `tfoci copy` from a store that is whole, writes the version again; so does `tfoci mirror --recheck`
",
        ),
        shape(
            "manifest-missing",
            |author| layout(author, "manifest-missing"),
            1,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the platform manifest sha256:c652b8ee0e8e0fe1742335dedee2e8706bc47fdeabfb02d6dcd6cc1ee6380d4e is missing

hint: the store is damaged. `--existing replace` of `tfoci push`, or of `tfoci copy` from a store that is whole, writes the version again; so does `tfoci mirror --recheck`
",
        ),
        shape(
            "manifest-too-large",
            |author| layout(author, "manifest-too-large"),
            1,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the platform manifest is too large
  expected at most 5242879 bytes
  received 5242880 bytes
",
        ),
    ]);
}

#[test]
fn layers() {
    check(&[
        shape(
            "layer-missing",
            |author| layout(author, "layer-missing"),
            1,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the platform manifest has no layers
  expected one of type archive/zip
",
        ),
        shape(
            "layer-media-type-wrong",
            |author| layout(author, "layer-media-type-wrong"),
            1,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the platform manifest has no package
  expected a layer of type archive/zip
  received application/zip
",
        ),
        shape(
            "layer-ambiguous",
            |author| layout(author, "layer-ambiguous"),
            1,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the platform manifest has several packages
  expected one layer of type archive/zip
  received 2
",
        ),
        shape(
            "layer-digest-sha512",
            |author| layout(author, "layer-digest-sha512"),
            1,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the package layer has no SHA-256 digest
  expected sha256:…
  received sha512:35bcdc8152973fd41da5131069d83ecc78f01b54422d0dfb07460be9248e57c8e203f3ccddee451141828397d1f59aefb2d3baa756eff7008d82f8d2dc5e70d6
",
        ),
        shape(
            "layer-digest-malformed",
            |author| layout(author, "layer-digest-malformed"),
            1,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the package layer describes nothing that can be fetched
  `sha256:E5C36DE5375BD25BFBA85F2A850BEC35526FEBC3EAE5DACD7ED7221208723874` is not a digest: expected 64 lower-case hex digits after `sha256:`, or 128 after `sha512:`
",
        ),
        shape(
            "layer-platform-wrong",
            |author| layout(author, "layer-platform-wrong"),
            1,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the package layer is for another platform
  expected linux_amd64
  received darwin_arm64
",
        ),
        shape(
            "package-tampered",
            |author| layout(author, "package-tampered"),
            3,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 linux_amd64 (oci-layout:store): the package sha256:e5c36de5375bd25bfba85f2a850bec35526febc3eae5dacd7ed7221208723874 cannot be used
  the bytes do not match their digest
    expected sha256:e5c36de5375bd25bfba85f2a850bec35526febc3eae5dacd7ed7221208723874
    received sha256:1a1fa7ffed89f32f32bd0924da29acc61d80297fa0b85b076d94aaef5c3dd37d

hint: the store is damaged. `--existing replace` of `tfoci push`, or of `tfoci copy` from a store that is whole, writes the version again; so does `tfoci mirror --recheck`
",
        ),
        shape(
            "package-truncated",
            |author| layout(author, "package-truncated"),
            3,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 linux_amd64 (oci-layout:store): the package sha256:e5c36de5375bd25bfba85f2a850bec35526febc3eae5dacd7ed7221208723874 cannot be used
  there are fewer bytes than expected
    expected 299 bytes
    received 289 bytes

hint: the store is damaged. `--existing replace` of `tfoci push`, or of `tfoci copy` from a store that is whole, writes the version again; so does `tfoci mirror --recheck`
",
        ),
        shape(
            "package-longer",
            |author| layout(author, "package-longer"),
            3,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 linux_amd64 (oci-layout:store): the package sha256:e5c36de5375bd25bfba85f2a850bec35526febc3eae5dacd7ed7221208723874 cannot be used
  there are more bytes than expected
    expected 299 bytes
    received more

hint: the store is damaged. `--existing replace` of `tfoci push`, or of `tfoci copy` from a store that is whole, writes the version again; so does `tfoci mirror --recheck`
",
        ),
        shape(
            "package-missing",
            |author| layout(author, "package-missing"),
            1,
            r"
error: registry.opentofu.org/acme/demo 1.0.0 linux_amd64 (oci-layout:store): the package sha256:e5c36de5375bd25bfba85f2a850bec35526febc3eae5dacd7ed7221208723874 is missing

hint: the store is damaged. `--existing replace` of `tfoci push`, or of `tfoci copy` from a store that is whole, writes the version again; so does `tfoci mirror --recheck`
",
        ),
    ]);
}
