"""Layouts with one mistake each: in what the tag points at, the index, its entries, the manifest, the package."""

from oci_layout import *


# --- what the tag points at -----------------------------------------------------------------------------------------


@layout("13", refused("selected an OCI image manifest directly", "tag-is-image-manifest"))
def tag_is_image_manifest(it):
    it.tag(it.manifest(), media_type=MANIFEST)


@layout("13", refused("tag refers directly to image manifest", "tag-is-platform-manifest"))
def tag_is_platform_manifest(it):
    """As tag-is-image-manifest, where index.json also names the artifact type."""
    it.tag(it.manifest(), media_type=MANIFEST, artifactType=TARGET)


@layout("§1.3", refused("is an OpenTofu module package", "tag-is-module"))
def tag_is_module(it):
    it.tag(it.manifest(artifactType=MODULE), media_type=MANIFEST, artifactType=MODULE)


@layout("§1.3", refused('unsupported OCI artifact type "application/vnd.example.chart"', "tag-artifact-type-unsupported"))
def tag_artifact_type_unsupported(it):
    kind = "application/vnd.example.chart"
    it.tag(it.manifest(artifactType=kind), media_type=MANIFEST, artifactType=kind)


@layout("§1.3", refused("found OCI descriptor but expected", "tag-is-descriptor"))
def tag_is_descriptor(it):
    it.tag(EMPTY, media_type="application/vnd.oci.descriptor.v1+json")


@layout("14", refused(f'unsupported media type "{DOCKER_LIST}" for OCI index manifest', "tag-media-type-unsupported"))
def tag_is_docker_list(it):
    it.tag(it.index(mediaType=DOCKER_LIST, artifactType=ABSENT), media_type=DOCKER_LIST)


# --- the index ------------------------------------------------------------------------------------------------------


@layout("11", refused('unexpected manifest media type ""', "index-media-type-missing"))
def index_media_type_missing(it):
    it.tag(it.index(mediaType=ABSENT))


@layout("11", refused(f'unexpected manifest media type "{MANIFEST}"', "index-media-type-wrong"))
def index_media_type_wrong(it):
    """An image manifest that is tagged as an index."""
    it.tag(it.manifest())


@layout("12", refused('unexpected artifact type ""', "index-artifact-type-missing"))
def index_artifact_type_missing(it):
    it.tag(it.index(artifactType=ABSENT))


@layout("12", refused(f'unexpected artifact type "{TARGET}"', "index-artifact-type-wrong"))
def index_artifact_type_wrong(it):
    it.tag(it.index(artifactType=TARGET))


@layout("§1.3", refused('unexpected artifact type ""', "index-artifact-type-missing"))
def index_of_container_image(it):
    """An ordinary multi-platform container image."""
    it.tag(it.index(it.entry(artifactType=ABSENT), artifactType=ABSENT))


@layout("§1.3", refused("invalid manifest content", "index-malformed"))
def index_cut_short(it):
    it.tag(to_json(it.index())[:-1])


@layout("§11", refused("invalid manifest content", "index-malformed"))
def index_text_behind(it):
    it.tag(to_json(it.index()) + b" {}")


@layout("§11", refused("invalid manifest content", "index-malformed"))
def index_schema_version_text(it):
    it.tag(it.index(schemaVersion="2"))


@layout("§1.3", refused("found image manifest but need index manifest", "index-malformed"))
def index_is_image_manifest(it):
    """No index, because `manifests` is no list; an image manifest, because nothing in that is wrong."""
    it.tag(it.manifest(manifests="none"))


@layout("29", refused("manifest content does not match digest", "index-digest-mismatch"))
def index_tampered(it):
    index = it.tag()
    it.blobs[index["digest"]] = it.blobs[index["digest"]].replace(b'"linux"', b'"LINUX"')


@layout("29", refused("mismatch Content-Length", "index-size-mismatch"))
def index_size_wrong(it):
    it.tag(size=1234)


@layout("28", refused("exceeds OpenTofu's size limit of 4 MiB", "index-too-large"))
def index_too_large(it):
    """Declared as 5 MiB."""
    it.tag(size=DECLARED_5_MIB)


@layout("37", refused("not found", "index-missing"))
def index_missing(it):
    del it.blobs[it.tag()["digest"]]


# --- the entries of the index ---------------------------------------------------------------------------------------


@layout("15", refused("platform not supported", "platform-missing"), installs(platform=DARWIN))
def entry_artifact_type_missing(it):
    """Only the manifest says what it is: not enough, the entry is passed over."""
    it.tag(it.index(it.entry(artifactType=ABSENT), it.entry(DARWIN)))


@layout("15", refused("is a container image", "index-without-packages"))
def entry_artifact_type_missing_everywhere(it):
    it.tag(it.index(it.entry(artifactType=ABSENT)))


@layout("§1.4", refused('unsupported artifact type "application/vnd.example"', "index-without-packages"))
def entry_artifact_type_foreign_everywhere(it):
    it.tag(it.index(it.entry(artifactType="application/vnd.example")))


@layout("17", *(refused("lacks the required platform constraints", "entry-platform-missing", platform=p) for p in (LINUX, DARWIN)))
def entry_platform_missing(it):
    """One entry without a platform breaks all."""
    it.tag(it.index(it.entry(), it.entry(DARWIN, platform=ABSENT)))


@layout("18", *(refused("provider image manifest has unsupported media type", "entry-media-type-wrong", platform=p) for p in (LINUX, DARWIN)))
def entry_is_index(it):
    """One entry that is an index breaks all."""
    it.tag(it.index(it.entry(), it.entry(DARWIN, it.index(), mediaType=INDEX)))


@layout("19", refused("ambiguous manifest has multiple descriptors for platform linux_arm", "platform-ambiguous", platform="linux_arm"), installs())
def platform_ambiguous_variants(it):
    entries = [
        it.entry("linux_arm", it.manifest(f"linux_arm{variant}"), platform={"architecture": "arm", "os": "linux", "variant": variant})
        for variant in ("v6", "v7")
    ]
    it.tag(it.index(*entries, it.entry()))


@layout("20", refused("ambiguous manifest has multiple descriptors for platform linux_amd64", "platform-ambiguous"))
def platform_ambiguous_identical(it):
    it.tag(it.index(it.entry(), it.entry()))


@layout("21", refused("platform not supported", "platform-missing"))
def platform_os_version(it):
    it.tag(it.index(it.entry(platform={"architecture": "amd64", "os": "linux", "os.version": "6.1"})))


@layout("22", refused("platform not supported", "platform-missing"))
def platform_wrong_case(it):
    it.tag(it.index(it.entry(platform={"architecture": "AMD64", "os": "Linux"})))


@layout("22", refused("platform not supported", "platform-missing"))
def platform_not_go_name(it):
    it.tag(it.index(it.entry(platform={"architecture": "x86_64", "os": "linux"})))


@layout("23", refused("is a container image", "index-without-packages"))
def index_empty(it):
    it.tag(it.index(manifests=[]))


@layout("§11", refused("is a container image", "index-without-packages"))
def index_manifests_null(it):
    it.tag(it.index(manifests=None))


@layout("§11", refused("is a container image", "index-without-packages"))
def index_manifests_absent(it):
    it.tag(it.index(manifests=ABSENT))


@layout("§11", refused("panic: no ':' separator in digest", "entry-digest-malformed"))
def entry_digest_malformed(it):
    """Clients crash."""
    it.tag(it.index(it.entry(digest="d41d8cd98f00b204e9800998ecf8427e")))


@layout("§11", refused("panic: md5 not available", "entry-digest-malformed"))
def entry_digest_md5(it):
    """Clients crash."""
    it.tag(it.index(it.entry(digest="md5:d41d8cd98f00b204e9800998ecf8427e")))


# --- the platform manifest ------------------------------------------------------------------------------------------


def with_manifest(it, body):
    it.tag(it.index(it.entry(body=body)))


@layout("24", refused('unexpected manifest media type ""', "manifest-media-type-missing"))
def manifest_media_type_missing(it):
    with_manifest(it, it.manifest(mediaType=ABSENT))


@layout("24", refused(f'unexpected manifest media type "{INDEX}"', "manifest-media-type-wrong"))
def manifest_media_type_wrong(it):
    with_manifest(it, it.manifest(mediaType=INDEX))


@layout("24", refused('unexpected artifact type ""', "manifest-artifact-type-missing"))
def manifest_artifact_type_missing(it):
    with_manifest(it, it.manifest(artifactType=ABSENT))


@layout("24", refused(f'unexpected artifact type "{PROVIDER}"', "manifest-artifact-type-wrong"))
def manifest_artifact_type_wrong(it):
    with_manifest(it, it.manifest(artifactType=PROVIDER))


@layout("§11", refused("invalid manifest content", "manifest-malformed"))
def manifest_text_behind(it):
    with_manifest(it, to_json(it.manifest()) + b"x")


@layout("§11", refused("invalid manifest content", "manifest-malformed"))
def manifest_schema_version_text(it):
    with_manifest(it, it.manifest(schemaVersion="2"))


@layout("29", refused("manifest content does not match digest", "manifest-digest-mismatch"))
def manifest_tampered(it):
    entry = it.entry()
    it.tag(it.index(entry))
    it.blobs[entry["digest"]] = it.blobs[entry["digest"]].replace(b"archive/zip", b"archive/ZIP")


@layout("29", refused("mismatch Content-Length", "manifest-size-mismatch"))
def manifest_size_wrong(it):
    it.tag(it.index(it.entry(size=1234)))


@layout("28", refused("exceeds OpenTofu's size limit of 4 MiB", "manifest-too-large"))
def manifest_too_large(it):
    """Declared as 5 MiB."""
    it.tag(it.index(it.entry(size=DECLARED_5_MIB)))


@layout("37", refused("not found", "manifest-missing"), installs(platform=DARWIN))
def manifest_missing(it):
    entry = it.entry()
    it.tag(it.index(entry, it.entry(DARWIN)))
    del it.blobs[entry["digest"]]


# --- the layer and the package --------------------------------------------------------------------------------------


@layout("25", refused('contains no layers of type "archive/zip"', "layer-missing"))
def layer_missing(it):
    with_manifest(it, it.manifest(layers=[]))


@layout("25", refused('contains no layers of type "archive/zip", but has other unsupported formats', "layer-media-type-wrong"))
def layer_media_type_wrong(it):
    with_manifest(it, it.manifest(layers=[it.layer(mediaType="application/zip")]))


@layout("25", refused("multiple eligible provider packages", "layer-ambiguous"))
def layer_ambiguous(it):
    with_manifest(it, it.manifest(layers=[it.layer(), it.layer("linux_other")]))


@layout("26", refused("unsupported digest algorithm", "layer-digest-malformed"))
def layer_digest_sha512(it):
    with_manifest(it, it.manifest(layers=[it.blob("archive/zip", package(), "sha512")]))


@layout("26", refused("invalid digest", "layer-digest-malformed"))
def layer_digest_malformed(it):
    layer = it.layer()
    with_manifest(it, it.manifest(layers=[{**layer, "digest": layer["digest"].upper().replace("SHA256", "sha256")}]))


@layout("26", refused("invalid digest", "layer-digest-malformed"))
def layer_digest_md5(it):
    with_manifest(it, it.manifest(layers=[it.layer(digest="md5:d41d8cd98f00b204e9800998ecf8427e")]))


@layout("27", refused("selected OCI artifact is for darwin_arm64, but was expected to be for linux_amd64", "layer-platform-wrong"))
def layer_platform_wrong(it):
    with_manifest(it, it.manifest(layers=[it.layer(platform={"architecture": "arm64", "os": "darwin"})]))


@layout("29", refused("provider package does not match digest", "package-digest-mismatch"))
def package_tampered(it):
    it.tag()
    it.blobs[digest(package())] = package().replace(b"echo demo", b"echo DEMO")


@layout("29", refused("mismatch Content-Length", "package-size-mismatch"))
def package_truncated(it):
    it.tag()
    it.blobs[digest(package())] = package()[:-10]


@layout("29", refused("mismatch Content-Length", "package-size-mismatch"))
def package_longer(it):
    it.tag()
    it.blobs[digest(package())] = package() + b"more"


@layout("29", refused("mismatch Content-Length", "package-size-mismatch"))
def package_size_wrong(it):
    """The blob is whole, the descriptor lies."""
    with_manifest(it, it.manifest(layers=[it.layer(size=len(package()) - 1)]))


@layout("37", refused("not found", "package-missing"), installs(platform=DARWIN))
def package_missing(it):
    it.tag(it.index(it.entry(), it.entry(DARWIN)))
    del it.blobs[digest(package())]
