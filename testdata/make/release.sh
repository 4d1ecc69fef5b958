#!/bin/sh
# Makes testdata/release: a signed release of terraform-provider-demo 1.0.0, and the public key that signed it.
#
# The key is made in a temporary directory and thrown away, so every run gives another key and other signatures; the zips,
# the manifest and the checksum document are the same bytes each time. Needs gpg 2 and python3.
set -eu

cd "$(dirname "$0")/.."
keys=$(mktemp -d)
trap 'gpgconf --homedir "$keys" --kill all; rm -rf "$keys"' EXIT
chmod 700 "$keys"

rm -rf release
mkdir release
cd release

python3 - <<'PYTHON'
import hashlib, json, zipfile

stem = "terraform-provider-demo_1.0.0"
manifest = {"version": 1, "metadata": {"protocol_versions": ["5.0", "6.0"]}}
names = []
for platform in ("darwin_arm64", "linux_amd64", "linux_arm64", "windows_amd64"):
    suffix = ".exe" if platform.startswith("windows") else ""
    files = [
        ("LICENSE", "demo license\n", 0o644),
        ("README.md", "# demo\n\nA provider that provides nothing.\n", 0o644),
        (f"terraform-provider-demo_v1.0.0{suffix}", f"#!/bin/sh\necho demo 1.0.0 {platform}\n", 0o755),
    ]
    names.append(f"{stem}_{platform}.zip")
    with zipfile.ZipFile(names[-1], "w") as archive:
        for name, text, mode in files:
            info = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_STORED
            info.create_system, info.external_attr = 3, (0o100000 | mode) << 16
            archive.writestr(info, text)
names.append(f"{stem}_manifest.json")
with open(names[-1], "w") as file:
    file.write(json.dumps(manifest, indent=2) + "\n")
with open(f"{stem}_SHA256SUMS", "w") as document:
    for name in names:
        with open(name, "rb") as file:
            document.write(f"{hashlib.sha256(file.read()).hexdigest()}  {name}\n")
PYTHON

in_2026() {
    gpg --homedir "$keys" --batch --quiet --faked-system-time '20260101T000000!' "$@"
}
in_2026 --passphrase '' --quick-generate-key 'Acme Provider Signing (test key) <security@acme.example>' ed25519 sign never
in_2026 --detach-sign terraform-provider-demo_1.0.0_SHA256SUMS
in_2026 --armor --export > acme.asc
