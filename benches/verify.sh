#!/usr/bin/env bash
# Measures `tfoci verify` of a registry, and `--deep` against `tfoci copy` from it.
set -euo pipefail

usage() {
    cat <<'TEXT'
Usage: benches/verify.sh [ROUNDS]

Mirrors 25 providers with 3 versions of 4 packages of 0.2 MB into a registry over TLS. Then it walks the way of `init` for a project with all of them
(`tfoci doctor`), verifies the registry, verifies it with `--deep`, and copies it into a new directory of layouts. Last, it verifies 5,000 versions of
one provider, once. Medians of all rounds are printed, with the requests to the registry. ROUNDS is 5 unless given.

The origin is the one of the tests, as a process of its own (tests/origin_double/serve.rs), in a development build. The temporary directory (TMPDIR)
needs 1 GiB; it is removed in the end.

Environment:
  TFOCI    the executable [default: target/dist/tfoci, built first]
  REGISTRY docker-registry or zot [default: docker-registry]

Needs bash, cargo, coreutils, docker-registry, openssl, python3, GNU time (Debian: docker-registry, openssl, time).
TEXT
}

case ${1-} in
-h | --help) usage && exit ;;
'' | [1-9]*) rounds=${1:-5} ;;
*) usage >&2 && exit 2 ;;
esac
for tool in cargo "${REGISTRY:-docker-registry}" openssl python3 /usr/bin/time; do
    command -v "$tool" >/dev/null || { echo "needs $tool" >&2 && exit 1; }
done
cd -- "$(dirname -- "$0")/.."
if [[ -z ${TFOCI-} ]]; then
    cargo build --profile dist --quiet
    TFOCI=$PWD/target/dist/tfoci
fi
source benches/origin_process.bash
platforms=(darwin_arm64 linux_amd64 linux_arm64 windows_amd64)
work=$(mktemp -d)
source benches/registry_process.bash
cleanup() {
    stop_registries
    stop_origin
    rm -rf -- "$work"
}
trap cleanup EXIT
cd -- "$work"
mkdir home samples project
export HOME=$work/home
unset TF_CLI_CONFIG_FILE

# Notes wall and CPU seconds, peak KiB, and the requests to the registry, of a command under a name.
measure() {
    local row=$1 before
    shift
    sync
    before=$(requests registry)
    /usr/bin/time -o samples/time -f '%e %U %S %M' -- "$@" >samples/log 2>&1 || { cat samples/log >&2 && exit 1; }
    sleep 0.2
    echo "$(tail -n1 samples/time) $(($(requests registry) - before))" >>"samples/$row"
}

median() {
    sort -g | awk '{ all[NR] = $1 } END { print NR % 2 ? all[(NR + 1) / 2] : (all[NR / 2] + all[NR / 2 + 1]) / 2 }'
}

table() {
    printf '\n%-34s %8s %8s %8s %9s\n' "$1" 'wall s' 'CPU s' 'peak MiB' registry
    shift
    for row in "$@"; do
        printf '%-34s %8.2f %8.2f %8.1f %9d\n' "$row" "$(cut -d' ' -f1 "samples/$row" | median)" \
            "$(awk '{ print $2 + $3 }' "samples/$row" | median)" "$(awk '{ print $4 / 1024 }' "samples/$row" | median)" \
            "$(cut -d' ' -f5 "samples/$row" | median)"
    done
}

make_certificates
VERSIONS=3 start_origin 25 200000 "${platforms[@]}"
start_registry registry
template="127.0.0.1:${port[registry]}/mirror/{namespace}/{type}"
tell_origin 0
"$TFOCI" mirror "${names[@]/%/@>= 0}" --to "$template" >/dev/null 2>&1
cat >home/.tofurc <<TEXT
provider_installation {
  oci_mirror {
    repository_template = "127.0.0.1:${port[registry]}/mirror/\${namespace}/\${type}"
    include             = ["${names[0]%%/*}/*/*"]
  }
}
TEXT
for _ in $(seq "$rounds"); do
    measure doctor "$TFOCI" doctor --chdir project --client tofu
    measure verify "$TFOCI" verify "${names[@]}" --from "$template"
    measure deep "$TFOCI" verify "${names[@]}" --deep --from "$template"
    rm -rf copy
    measure copy "$TFOCI" copy "${names[@]}" --from "$template" --to oci-layout:copy
done
table "25 x 3 x 4 of 0.2 MB, $REGISTRY" doctor verify deep copy

stop_origin
VERSIONS=5000 start_origin 1 1000 linux_amd64
tell_origin 0
"$TFOCI" mirror "${names[@]/%/@>= 0}" --to "${template/mirror/many}" >/dev/null 2>&1
measure many "$TFOCI" verify "${names[@]}" --from "${template/mirror/many}"
table "5,000 versions of one provider, $REGISTRY" many
