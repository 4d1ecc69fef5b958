"""An OCI image layout of the provider acme/demo, taken apart so that a fixture can get any single part of it wrong."""

import hashlib
import io
import json
import zipfile

INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
DOCKER_LIST = "application/vnd.docker.distribution.manifest.list.v2+json"
PROVIDER = "application/vnd.opentofu.provider"
TARGET = "application/vnd.opentofu.provider-target"
MODULE = "application/vnd.opentofu.modulepkg"
EMPTY = {"mediaType": "application/vnd.oci.empty.v1+json", "digest": "sha256:" + hashlib.sha256(b"{}").hexdigest(), "size": 2}
REF_NAME = "org.opencontainers.image.ref.name"
LINUX, DARWIN = "linux_amd64", "darwin_arm64"
ABSENT = object()
DECLARED_5_MIB = 5 * 1024 * 1024

FIXTURES = {}
TABLE = []


def layout(row, *expectations):
    """Marks a function that fills a Layout. Each expectation is (version, platform, outcome, reason).

    `row` is the number of the mistake, or with § of the liberty: see testdata/README.md.
    """

    def mark(make):
        name = make.__name__.replace("_", "-")
        FIXTURES[name] = make
        TABLE.extend((name, *expected, row) for expected in expectations)
        return make

    return mark


def installs(reason="-", version="1.0.0", platform=LINUX):
    return (version, platform, "ok", reason)


def refused(outcome, reason, version="1.0.0", platform=LINUX):
    return (version, platform, outcome, reason)


def lists(*versions):
    return ("list", "-", " ".join(versions), "-")


def ignores(*tags):
    return ("ignored", "-", " ".join(tags), "not-a-version")


def to_json(value):
    return value if isinstance(value, bytes) else json.dumps(value, separators=(",", ":")).encode()


def digest(data, algorithm="sha256"):
    return f"{algorithm}:{hashlib.new(algorithm, data).hexdigest()}"


def changed(base, changes):
    return {key: value for key, value in {**base, **changes}.items() if value is not ABSENT}


def package(platform=LINUX, version="1.0.0"):
    """A provider zip; its executable names the platform, so that packages differ."""
    files = [
        ("LICENSE", "demo license\n", 0o644),
        (f"terraform-provider-demo_v{version}", f"#!/bin/sh\necho demo {version} {platform}\n", 0o755),
    ]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, text, mode in files:
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.create_system, info.external_attr = 3, (0o100000 | mode) << 16
            archive.writestr(info, text)
    return out.getvalue()


class Layout:
    """An image layout in memory: blobs by digest, and the descriptors of index.json."""

    def __init__(self):
        self.blobs, self.tagged = {EMPTY["digest"]: b"{}"}, []

    def blob(self, media_type, content, algorithm="sha256", **more):
        """Stores a blob and gives its descriptor."""
        data = to_json(content)
        name = digest(data, algorithm)
        self.blobs[name] = data
        return changed({"mediaType": media_type, "digest": name, "size": len(data)}, more)

    def layer(self, built_for=LINUX, version="1.0.0", **more):
        return self.blob("archive/zip", package(built_for, version), **more)

    def manifest(self, built_for=LINUX, version="1.0.0", **changes):
        """The body of a platform manifest."""
        base = {"schemaVersion": 2, "mediaType": MANIFEST, "artifactType": TARGET, "config": EMPTY}
        if "layers" not in changes:
            base["layers"] = [self.layer(built_for, version)]
        return changed(base, changes)

    def entry(self, built_for=LINUX, body=None, **changes):
        """Stores a platform manifest and gives the index entry for it."""
        os, arch = built_for.split("_")
        entry = self.blob(MANIFEST, self.manifest(built_for) if body is None else body)
        return changed({**entry, "artifactType": TARGET, "platform": {"architecture": arch, "os": os}}, changes)

    def index(self, *entries, **changes):
        """The body of an index; without entries it has one for linux_amd64."""
        base = {"schemaVersion": 2, "mediaType": INDEX, "artifactType": PROVIDER, "manifests": list(entries) or [self.entry()]}
        return changed(base, changes)

    def tag(self, body=None, name="1.0.0", media_type=INDEX, **changes):
        """Stores a body and tags it; the changes are to the descriptor in index.json."""
        descriptor = self.blob(media_type, self.index() if body is None else body)
        self.tagged.append(changed({**descriptor, "annotations": {REF_NAME: name}}, changes))
        return descriptor

    def files(self):
        yield "oci-layout", b'{"imageLayoutVersion":"1.0.0"}'
        yield "index.json", to_json({"schemaVersion": 2, "mediaType": INDEX, "manifests": self.tagged})
        for name, data in self.blobs.items():
            yield "blobs/" + name.replace(":", "/"), data
