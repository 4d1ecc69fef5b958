#!/usr/bin/env bash
# Measures bundles: writing against sha256sum and cp of the same bytes, reading against a layout, and 5,000 versions of 4 platforms.
set -euo pipefail

usage() {
    cat <<'TEXT'
Usage: benches/bundle.sh [ROUNDS]

Makes a layout with 12 versions of 4 packages of 25 MB. Each round writes it into a bundle, hashes the bundle with sha256sum and copies it with cp;
copies the layout and the bundle into a registry over TLS; and downloads all packages through `tfoci serve` from both. Then it does the same with a
layout of 5,000 versions of 4 small packages, once, and lists it. Medians of all rounds are printed. ROUNDS is 5 unless given. Where `oras` is on
PATH, `oras backup` and `oras restore` of the registry's repository are beside them.

The temporary directory (TMPDIR) needs 8 GB; it is removed in the end.

Environment:
  TFOCI    the executable [default: target/dist/tfoci, built first]
  REGISTRY docker-registry or zot [default: docker-registry]

Needs bash, cargo, coreutils, curl, docker-registry, openssl, python3, GNU time (Debian: docker-registry, openssl, time).
TEXT
}

case ${1-} in
-h | --help) usage && exit ;;
'' | [1-9]*) rounds=${1:-5} ;;
*) usage >&2 && exit 2 ;;
esac
for tool in curl "${REGISTRY:-docker-registry}" openssl python3 /usr/bin/time; do
    command -v "$tool" >/dev/null || { echo "needs $tool" >&2 && exit 1; }
done
cd -- "$(dirname -- "$0")/.."
if [[ -z ${TFOCI-} ]]; then
    cargo build --profile dist --quiet
    TFOCI=$PWD/target/dist/tfoci
fi
work=$(mktemp -d)
source benches/registry_process.bash
server=
cleanup() {
    stop_registries
    [[ -z $server ]] || kill "$server"
    rm -rf -- "$work"
}
trap cleanup EXIT
cd -- "$work"
mkdir home samples
export HOME=$work/home
unset TF_CLI_CONFIG_FILE

# A layout STORE of VERSIONS with four packages of SIZE bytes each, 200 versions a provider, without signatures.
make_layout() {
    python3 - "$@" <<'PY'
import hashlib, io, json, os, random, sys, zipfile
store, versions, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
INDEX, MANIFEST = ("application/vnd.oci.image.%s.v1+json" % kind for kind in ("index", "manifest"))
def write(value): return json.dumps(value, separators=(",", ":")).encode()
def descriptor(media, data, **more): return {"mediaType": media, **more, "digest": put(data), "size": len(data)}
def put(data):
    name = hashlib.sha256(data).hexdigest()
    with open(f"{directory}/blobs/sha256/{name}", "wb") as file: file.write(data)
    return "sha256:" + name
def manifest(kind, layers): return write({"schemaVersion": 2, "mediaType": MANIFEST, "artifactType": kind,
    "config": descriptor("application/vnd.oci.empty.v1+json", b"{}"), "layers": layers})
for number in range(versions):
    name, version = f"demo{number // 200}", f"1.{number % 200}.0"
    directory = f"{store}/registry.opentofu.org/acme/{name}"
    if number % 200 == 0:
        os.makedirs(directory + "/blobs/sha256"); tags = []
        open(directory + "/oci-layout", "w").write('{"imageLayoutVersion":"1.0.0"}')
    entries, sums = [], ""
    for platform in ["darwin_arm64", "linux_amd64", "linux_arm64", "windows_amd64"]:
        zip = io.BytesIO(); system, machine = platform.split("_")
        with zipfile.ZipFile(zip, "w") as archive:
            info = zipfile.ZipInfo(f"terraform-provider-{name}_v{version}"); info.external_attr = 0o755 << 16
            archive.writestr(info, random.randbytes(size))
        data, file = zip.getvalue(), f"terraform-provider-{name}_{version}_{platform}.zip"
        sums += hashlib.sha256(data).hexdigest() + f"  {file}\n"
        layer = {**descriptor("archive/zip", data), "annotations": {"org.opencontainers.image.title": file}}
        kind = "application/vnd.opentofu.provider-target"
        entries.append({**descriptor(MANIFEST, manifest(kind, [layer]), artifactType=kind), "platform": {"architecture": machine, "os": system}})
    kind = "application/vnd.opentofu.provider"
    index = write({"schemaVersion": 2, "mediaType": INDEX, "artifactType": kind, "manifests": entries,
        "annotations": {"org.opencontainers.image.title": f"registry.opentofu.org/acme/{name}", "org.opencontainers.image.version": version}})
    evidence = manifest("application/vnd.tfoci.evidence.v1", [descriptor("text/plain", sums.encode())])
    for tag, media, data, kind in [(version, INDEX, index, kind), ("evidence-" + version, MANIFEST, evidence, "application/vnd.tfoci.evidence.v1")]:
        tags.append({**descriptor(media, data, artifactType=kind), "annotations": {"org.opencontainers.image.ref.name": tag}})
    open(directory + "/index.json", "wb").write(write({"schemaVersion": 2, "mediaType": INDEX, "manifests": tags}))
PY
}

# Notes wall and CPU seconds and peak KiB of a command under a name.
measure() {
    local row=$1
    shift
    sync
    /usr/bin/time -o samples/time -f '%e %U %S %M' -- "$@" >samples/log 2>&1 || { cat samples/log >&2 && exit 1; }
    tail -n1 samples/time >>"samples/$row"
}

median() {
    sort -g | awk '{ all[NR] = $1 } END { print NR % 2 ? all[(NR + 1) / 2] : (all[NR / 2] + all[NR / 2 + 1]) / 2 }'
}

table() {
    printf '\n%-34s %8s %8s %8s\n' "$1" 'wall s' 'CPU s' 'peak MiB'
    shift
    for row in "$@"; do
        [[ -e samples/$row ]] || continue
        printf '%-34s %8.2f %8.2f %8.1f\n' "$row" "$(cut -d' ' -f1 "samples/$row" | median)" \
            "$(awk '{ print $2 + $3 }' "samples/$row" | median)" "$(awk '{ print $4 / 1024 }' "samples/$row" | median)"
    done
}

# Downloads all packages through a server, with what is left of its arguments.
download() {
    local row=$1 port
    shift
    until port=$((20000 + RANDOM % 20000)) && ! listens "$port"; do :; done
    "$TFOCI" serve --from "$1" --listen "127.0.0.1:$port" --plain-http --max-rate 0 \
        --allow-unsigned '*/*/*' --quiet >serve.log 2>&1 &
    server=$!
    until curl -sf "http://127.0.0.1:$port/readyz" >/dev/null; do
        kill -0 "$server" || { cat serve.log >&2 && exit 1; }
        sleep 0.05
    done
    local base=http://127.0.0.1:$port/mirror/registry.opentofu.org/acme/demo0
    for version in $(seq 0 11); do
        curl -sf "$base/1.$version.0.json" | python3 -c 'import json, sys, urllib.parse
for one in json.load(sys.stdin)["archives"].values(): print("url =", urllib.parse.urljoin(sys.argv[1], one["url"])); print("output = /dev/null")' "$base/"
    done >urls
    measure "$row" curl -sf --config urls
    kill "$server"
    wait "$server" 2>/dev/null || true
    server=
}

make_certificates
make_layout store 12 25000000
for _ in $(seq "$rounds"); do
    rm -f bundle.tar copy.tar
    measure write "$TFOCI" copy --from oci-layout:store --to bundle:bundle.tar
    measure sha256sum sha256sum bundle.tar
    measure cp cp bundle.tar copy.tar
    rm copy.tar
    for from in oci-layout:store bundle:bundle.tar; do
        start_registry registry
        template="127.0.0.1:${port[registry]}/{hostname}/{namespace}/{type}"
        measure "copy-${from%%:*}" "$TFOCI" copy --from "$from" --to "$template" --ca-file ca.crt
        download "serve-${from%%:*}" "$from"
    done
    if command -v oras >/dev/null; then
        repository=127.0.0.1:${port[registry]}/registry.opentofu.org/acme/demo0
        measure oras-backup oras backup --ca-file ca.crt -o oras.tar "$repository"
        measure oras-restore oras restore --ca-file ca.crt --input oras.tar "${repository}x"
        rm oras.tar
    fi
done
table "12 x 4 of 25 MB, $REGISTRY" write sha256sum cp copy-oci-layout copy-bundle serve-oci-layout serve-bundle oras-backup oras-restore

rm -rf store bundle.tar
make_layout many 5000 2000
measure write-many "$TFOCI" copy --from oci-layout:many --to bundle:many.tar
measure list-many "$TFOCI" list --from bundle:many.tar
measure verify-many "$TFOCI" verify --from bundle:many.tar
measure copy-many "$TFOCI" copy --from bundle:many.tar --to oci-layout:again
table '5,000 versions of 4 packages' write-many list-many verify-many copy-many
