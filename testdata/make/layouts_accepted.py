"""Layouts that the client installs from: plain ones, and ones that take liberties."""

import json

from oci_layout import *


@layout("16", installs(), installs(platform=DARWIN), refused("platform not supported", "platform-missing", platform="windows_amd64"))
def good_empty_config(it):
    """The smallest producer output."""
    it.tag(it.index(it.entry(DARWIN), it.entry()))


@layout("§1.8", lists("1.0.0"), installs(), ignores(LINUX, DARWIN))
def good_oras(it):
    """As `oras push --oci-layout` and `oras manifest index create` leave it: image config, times, titles, platform tags."""
    created = {"org.opencontainers.image.created": "2026-01-01T00:00:00Z"}
    entries = []
    for platform in (LINUX, DARWIN):
        os, arch = platform.split("_")
        title = {"org.opencontainers.image.title": f"terraform-provider-demo_1.0.0_{platform}.zip"}
        config = it.blob("application/vnd.oci.image.config.v1+json", {"architecture": arch, "os": os})
        body = it.manifest(platform, config=config, layers=[it.layer(platform, annotations=title)], annotations=created)
        entry = it.entry(platform, body)
        entries.append(entry)
        it.tag(body, platform, MANIFEST, annotations={**created, REF_NAME: platform}, artifactType=TARGET)
    it.tag(it.index(*entries, annotations=created))


@layout("§1.3", installs())
def good_reported_artifact_type(it):
    """index.json names the artifact type of the tagged index."""
    it.tag(artifactType=PROVIDER)


@layout("§1.5", installs())
def good_inline_config(it):
    it.tag(it.index(it.entry(body=it.manifest(config={**EMPTY, "data": "e30="}))))


@layout("§11", installs())
def good_config_absent(it):
    """Registries refuse it; the client never looks."""
    it.tag(it.index(it.entry(body=it.manifest(config=ABSENT))))


@layout("§11", installs())
def good_config_missing(it):
    """The config descriptor points at a blob that is not there."""
    it.tag()
    del it.blobs[EMPTY["digest"]]


@layout("16", installs())
def good_foreign_entries(it):
    """A signature and an attestation among the provider's entries."""
    foreign = it.blob(MANIFEST, it.manifest(artifactType="application/vnd.example.signature", layers=[EMPTY]))
    signature = {**foreign, "artifactType": "application/vnd.example.signature"}
    attestation = {**foreign, "platform": {"architecture": "unknown", "os": "unknown"}}
    it.tag(it.index(signature, it.entry(), attestation))


@layout("25", installs())
def good_foreign_layers(it):
    text = it.blob("text/plain", b"demo\n")
    it.tag(it.index(it.entry(body=it.manifest(layers=[text, it.layer(), text]))))


@layout("§1.1", installs())
def good_layer_artifact_type(it):
    layer = it.layer(artifactType="application/vnd.opentofu.providerpkg")
    it.tag(it.index(it.entry(body=it.manifest(layers=[layer]))))


@layout("27", installs())
def good_layer_platform(it):
    """The layer names the platform that it is for."""
    layer = it.layer(platform={"architecture": "amd64", "os": "linux"})
    it.tag(it.index(it.entry(body=it.manifest(layers=[layer]))))


@layout("§11", installs("entry-digest-malformed"))
def entry_digest_sha512(it):
    """tfoci reads SHA-256 only."""
    manifest = it.blob(MANIFEST, it.manifest(), "sha512")
    it.tag(it.index(it.entry(digest=manifest["digest"])))


@layout("19", installs(platform="linux_arm"))
def good_variant_alone(it):
    it.tag(it.index(it.entry("linux_arm", platform={"architecture": "arm", "os": "linux", "variant": "v7"})))


@layout("21", installs())
def good_os_version_beside(it):
    """An entry with an os.version is passed over, the plain one is chosen."""
    newer = it.entry(body=it.manifest("linux_other"), platform={"architecture": "amd64", "os": "linux", "os.version": "6.1"})
    it.tag(it.index(newer, it.entry()))


@layout("§11", installs())
def good_empty_platform_beside(it):
    """`platform: {}` is another platform, not the absence of one."""
    it.tag(it.index(it.entry(body=it.manifest("linux_other"), platform={}), it.entry()))


@layout("§11", installs())
def good_schema_version_absent(it):
    it.tag(it.index(it.entry(body=it.manifest(schemaVersion=ABSENT)), schemaVersion=ABSENT))


@layout("§11", installs())
def good_white_space(it):
    """Indented JSON with a line break behind it."""
    pretty = lambda body: json.dumps(body, indent=2).encode() + b"\n"
    it.tag(pretty(it.index(it.entry(body=pretty(it.manifest())))))


@layout("§1.4", installs(), installs(platform="linux_arm64"))
def good_same_package_twice(it):
    """Two platforms, one zip, and so one manifest."""
    body = it.manifest("any_any")
    it.tag(it.index(it.entry("linux_amd64", body), it.entry("linux_arm64", body)))


@layout("§11", lists("1.0.0"), installs())
def good_referrers(it):
    """An index with a subject of its own, a referrer of the index, and the fallback tag that lists it."""
    it.tag(it.index(it.entry(), subject=it.blob(MANIFEST, it.manifest(artifactType="application/vnd.example", layers=[]))))
    target = {key: it.tagged[0][key] for key in ("mediaType", "digest", "size")}
    referrer = it.blob(MANIFEST, it.manifest(artifactType="application/vnd.example.sbom", layers=[EMPTY], subject=target))
    it.tagged.append({**referrer, "artifactType": "application/vnd.example.sbom"})
    it.tag(it.index(referrer, artifactType=ABSENT), target["digest"].replace(":", "-"))


@layout("§11", lists("1.0.0"), installs())
def good_cosign_tags(it):
    it.tag()
    name = it.tagged[0]["digest"].replace(":", "-")
    for kind in ("sig", "att", "sbom"):
        body = it.manifest(artifactType=ABSENT, layers=[it.blob("application/vnd.example." + kind, kind.encode())])
        it.tag(body, f"{name}.{kind}", MANIFEST)


@layout("30", installs("index-member-repeated"))
def lenient_duplicate_keys(it):
    """Clients decode the second of two equal keys into the first, in the index and in the manifest. tfoci refuses them."""
    manifest = to_json(it.manifest()).replace(b'{"schemaVersion":2,', b'{"schemaVersion":2,"artifactType":"wrong","layers":[],', 1)
    index = to_json(it.index(it.entry(body=manifest))).replace(b'{"schemaVersion":2,', b'{"schemaVersion":2,"mediaType":"wrong","manifests":[],', 1)
    it.tag(index)


@layout("30", installs("lenient-json"))
def lenient_wrong_case(it):
    """Keys match in any case."""
    manifest = to_json(it.manifest()).replace(b'"layers"', b'"Layers"').replace(b'"artifactType"', b'"ARTIFACTTYPE"')
    index = to_json(it.index(it.entry(body=manifest))).replace(b'"mediaType"', b'"mediatype"').replace(b'"platform"', b'"Platform"')
    it.tag(index)
