#!/usr/bin/env bash
# Measures `tfoci mirror` and `tfoci copy` of many versions of one provider with a registry that is far away, and a loop of oras beside them.
set -euo pipefail

usage() {
    cat <<'TEXT'
Usage: benches/far.sh [ROUNDS]

Mirrors 100 versions of one provider with 2 packages of 10 KB, from an origin that answers after 20 ms, into a registry over TLS behind a
relay that holds each request back for 50 ms; with nothing to do; copies them into a layout; with nothing to do. oras, if it is on PATH,
copies the same versions into a layout in a loop. Then 25 providers with 4 packages of 0.5 MB go through the same relay. At last 400 versions
go into zot without the relay, if it is on PATH, and oras copies them there from a layout. Medians of all rounds are printed. ROUNDS is 3
unless given.

The origin and the relay are those of the tests, as processes of their own (tests/origin_double/serve.rs, tests/registry_double/relay.rs).

Environment:
  TFOCI  the executable [default: target/dist/tfoci, built first]
  DELAY  of the relay, in milliseconds [default: 50]

Needs bash, cargo, coreutils, docker-registry, openssl, GNU time (Debian: docker-registry, openssl, time).
TEXT
}

case ${1-} in
-h | --help) usage && exit ;;
'' | [1-9]*) rounds=${1:-3} ;;
*) usage >&2 && exit 2 ;;
esac
for tool in cargo docker-registry openssl /usr/bin/time; do
    command -v "$tool" >/dev/null || { echo "needs $tool" >&2 && exit 1; }
done
cd -- "$(dirname -- "$0")/.."
if [[ -z ${TFOCI-} ]]; then
    cargo build --profile dist --quiet
    TFOCI=$PWD/target/dist/tfoci
fi
source benches/origin_process.bash
platforms=(linux_amd64 linux_arm64)

work=$(mktemp -d)
source benches/registry_process.bash
relay=''
cleanup() {
    stop_relay
    stop_registries
    stop_origin
    rm -rf -- "$work"
}
trap cleanup EXIT
cd -- "$work"
far=''
mkdir home samples project
export HOME=$work/home

stop_relay() {
    [[ -z $relay ]] || { kill "$relay" && wait "$relay"; } 2>/dev/null || true
    relay=''
}

# Starts an empty registry and the relay in front of it, whose address is `far`.
start_far() {
    stop_relay
    start_registry registry
    rm -f relay.port
    RELAY_TO=${port[registry]} RELAY_DELAY=${DELAY:-50} RELAY_FILE=$PWD/relay.port \
        "$origin_tests" registry_double::relay::relay --exact --ignored --nocapture >/dev/null &
    relay=$!
    until [[ -s relay.port ]]; do
        kill -0 "$relay" || exit 1
        sleep 0.1
    done
    far=127.0.0.1:$(<relay.port)
}

# Notes wall and CPU seconds, peak KiB, and the requests to the origin and to the registry, of a command under a name.
measure() {
    local row=$1 log=$work/samples/log before
    shift
    sync
    tell_origin 20
    before=$(requests registry)
    /usr/bin/time -o samples/time -f '%e %U %S %M' -- "$@" >"$log" 2>&1 || { cat "$log" >&2 && exit 1; }
    sleep 0.2
    echo "$(tail -n1 samples/time) $(asked) $(($(requests registry) - before))" >>"samples/$row"
}

# Copies every version from one place into another.
oras_loop() { # FROM TO VERSIONS [OPTION...]
    local minor from=$1 to=$2 versions=$3
    shift 3
    for ((minor = 0; minor < versions; minor++)); do oras cp "$@" "$from:1.$minor.0" "$to:1.$minor.0"; done
}
export -f oras_loop

median() {
    sort -g | awk '{ all[NR] = $1 } END { print NR % 2 ? all[(NR + 1) / 2] : (all[NR / 2] + all[NR / 2 + 1]) / 2 }'
}

# One row: wall seconds, the shortest, peak MiB, and requests.
print() {
    local row=$1
    [[ -e samples/$row ]] || return 0
    printf '%-46s %8.2f %8.2f %9.1f %8d %9d\n' "$2" "$(cut -d' ' -f1 "samples/$row" | median)" \
        "$(cut -d' ' -f1 "samples/$row" | sort -g | head -n1)" "$(awk '{ print $4 / 1024 }' "samples/$row" | median)" \
        "$(cut -d' ' -f5 "samples/$row" | median)" "$(cut -d' ' -f6 "samples/$row" | median)"
}

many() {
    local to from run
    start_far
    to=$far/mirror/{namespace}/{type} from=$far/mirror/acme/p0
    run=("$TFOCI" mirror "${names[0]}@>=0" --to "$to")
    measure mirror "${run[@]}"
    measure again "${run[@]}"
    rm -rf layout oras-layout
    run=("$TFOCI" copy "${names[@]}" --from "$to" --to oci-layout:layout)
    measure copy "${run[@]}"
    measure copy-again "${run[@]}"
    ! command -v oras >/dev/null ||
        measure oras bash -euc 'oras_loop "$0" "$1" 100 --to-oci-layout' "$from" "$PWD/oras-layout"
}

few() {
    local run
    start_far
    run=("$TFOCI" mirror "${names[@]}" --to "$far/mirror/{namespace}/{type}")
    measure few "${run[@]}"
    measure few-again "${run[@]}"
}

into_zot() {
    local run
    REGISTRY=zot start_registry registry
    run=("$TFOCI" mirror "${names[0]}@>=0" --to "127.0.0.1:${port[registry]}/mirror/{namespace}/{type}")
    measure zot "${run[@]}"
    measure zot-again "${run[@]}"
    [[ -d layout ]] || "$TFOCI" copy "${names[@]}" --from "127.0.0.1:${port[registry]}/mirror/{namespace}/{type}" --to oci-layout:layout >/dev/null 2>&1
    ! command -v oras >/dev/null || measure zot-oras bash -euc 'oras_loop "$0" "$1" 400 --from-oci-layout' \
        "$PWD/layout/${names[0]/:/_}" "127.0.0.1:${port[registry]}/oras"
}

make_certificates
VERSIONS=100 start_origin 1 10000 "${platforms[@]}"
for _ in $(seq "$rounds"); do many; done
start_origin 25 500000 darwin_arm64 linux_amd64 linux_arm64 windows_amd64
for _ in $(seq "$rounds"); do few; done
stop_relay
if command -v zot >/dev/null; then
    rm -rf layout
    VERSIONS=400 start_origin 1 10000 "${platforms[@]}"
    for _ in $(seq "$rounds"); do into_zot; done
fi
printf '%-46s %8s %8s %9s %8s %9s\n' "registry ${DELAY:-50} ms away" 'wall s' 'least s' 'peak MiB' origin registry
print mirror 'mirror, 100 versions of one provider'
print again 'mirror, nothing to do'
print copy 'copy into a layout'
print copy-again 'copy into a layout, nothing to do'
print oras 'a loop of oras into a layout, without evidence'
print few 'mirror, 25 x 4 of 0.5 MB, one version'
print few-again 'mirror, 25 x 4, nothing to do'
print zot 'zot here: mirror, 400 versions'
print zot-again 'zot here: mirror, nothing to do'
print zot-oras 'zot here: a loop of oras from a layout'
