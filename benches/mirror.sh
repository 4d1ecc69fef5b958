#!/usr/bin/env bash
# Measures `tfoci mirror` from an origin into a registry against `terraform providers mirror` and oras with the same bytes.
set -euo pipefail

usage() {
    cat <<'TEXT'
Usage: benches/mirror.sh [ROUNDS]

Mirrors 25 providers with 4 packages of 0.5 MB, from an origin that answers after 0, 20 and 100 ms, and a provider with 4 packages
of 150 MB after 20 ms, into a registry over TLS: with `terraform providers mirror`, and that of tofu if it is on PATH, and
oras, if it is on PATH, as their users do; with tfoci into a registry that is empty; with nothing to do; and once more after it was killed half way. Medians of all
rounds are printed, and their ratios to the peers', those with terraform and those with tofu. ROUNDS is 3 unless given.

The origin is the one of the tests, as a process of its own (tests/origin_double/serve.rs), in a development build. Its zips are
made in memory: 3 GiB. The temporary directory (TMPDIR) needs 3 GiB too; it is removed in the end.

Environment:
  TFOCI    the executable [default: target/dist/tfoci, built first]
  JOBS     packages at once [default: 8, as of tfoci mirror]
  LATENCY  the latencies, ascending [default: 0 20 100]
  REGISTRY docker-registry or zot [default: docker-registry]

Needs bash, cargo, coreutils, docker-registry, openssl, terraform, GNU time (Debian: docker-registry, openssl, time).
TEXT
}

case ${1-} in
-h | --help) usage && exit ;;
'' | [1-9]*) rounds=${1:-3} ;;
*) usage >&2 && exit 2 ;;
esac
for tool in cargo "${REGISTRY:-docker-registry}" openssl terraform /usr/bin/time; do
    command -v "$tool" >/dev/null || { echo "needs $tool" >&2 && exit 1; }
done
clients=(terraform)
! command -v tofu >/dev/null || clients+=(tofu)
with_oras=''
! command -v oras >/dev/null || with_oras=' and oras'
cd -- "$(dirname -- "$0")/.."
if [[ -z ${TFOCI-} ]]; then
    cargo build --profile dist --quiet
    TFOCI=$PWD/target/dist/tfoci
fi
source benches/origin_process.bash
jobs=${JOBS:-8}
read -ra latencies <<<"${LATENCY:-0 20 100}"
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

# Notes wall and CPU seconds, peak KiB, and the requests to the origin and to the registry, of a command under a name.
measure() {
    local row=$1 log=$work/samples/log latency=$2 before
    shift 2
    sync
    tell_origin "$latency"
    before=$(requests registry)
    /usr/bin/time -o samples/time -f '%e %U %S %M' -- "$@" >"$log" 2>&1 || { cat "$log" >&2 && exit 1; }
    sleep 0.2
    echo "$(tail -n1 samples/time) $(asked) $(($(requests registry) - before))" >>"samples/$row"
}

# What users of CLIENT do today: a filesystem mirror, whose zips oras brings into the REGISTRY.
peers_recipe() {
    local platform zip name tags options=() client=$1 registry=$2
    for platform in $platforms_list; do options+=("-platform=$platform"); done
    rm -rf mirror layout
    "$client" -chdir=project providers mirror "${options[@]}" ../mirror
    command -v oras >/dev/null || return 0
    for name in mirror/*/acme/*; do
        tags=()
        for platform in $platforms_list; do
            zip=$(echo "$name"/*_"$platform".zip)
            (cd "$name" && oras push --oci-layout "$OLDPWD/layout:$platform" --artifact-platform "${platform/_//}" \
                --artifact-type application/vnd.opentofu.provider-target "${zip##*/}:archive/zip")
            tags+=("$platform")
        done
        oras manifest index create --oci-layout layout:1.0.0 --artifact-type application/vnd.opentofu.provider "${tags[@]}"
        oras cp --from-oci-layout layout:1.0.0 "$registry/mirror/acme/${name##*/}:1.0.0"
        rm -rf layout
    done
}
export -f peers_recipe
export platforms_list="${platforms[*]}"

round() {
    local name=$1 latency=$2 run victim half client
    for client in "${clients[@]}"; do
        start_registry registry
        measure "$client-$name" "$latency" bash -euc 'peers_recipe "$0" "$1"' "$client" "127.0.0.1:${port[registry]}"
    done
    start_registry registry
    run=("$TFOCI" mirror "${names[@]}" --to "127.0.0.1:${port[registry]}/mirror/{namespace}/{type}" --jobs "$jobs")
    measure "first-$name" "$latency" "${run[@]}"
    half=$(tail -n1 "samples/first-$name" | awk '{ print $1 / 2 }')
    measure "again-$name" "$latency" "${run[@]}"
    start_registry registry
    run=("$TFOCI" mirror "${names[@]}" --to "127.0.0.1:${port[registry]}/mirror/{namespace}/{type}" --jobs "$jobs")
    "${run[@]}" >/dev/null 2>&1 &
    victim=$!
    sleep "$half"
    kill -KILL "$victim" 2>/dev/null || true
    wait "$victim" 2>/dev/null || true
    measure "rest-$name" "$latency" "${run[@]}"
}

median() {
    sort -g | awk '{ all[NR] = $1 } END { print NR % 2 ? all[(NR + 1) / 2] : (all[NR / 2] + all[NR / 2 + 1]) / 2 }'
}

# Medians of one row: wall seconds, CPU seconds, peak MiB, requests to the origin and to the registry, shortest wall.
medians() {
    echo "$(cut -d' ' -f1 "samples/$1" | median) $(awk '{ print $2 + $3 }' "samples/$1" | median)" \
        "$(awk '{ print $4 / 1024 }' "samples/$1" | median) $(cut -d' ' -f5 "samples/$1" | median)" \
        "$(cut -d' ' -f6 "samples/$1" | median) $(cut -d' ' -f1 "samples/$1" | sort -g | head -n1)"
}

# The rows of one name under a title, with the ratios of each wall to those of the peers.
table() {
    local name=$1 row client titles='' peers=''
    for client in "${clients[@]}"; do
        titles+=$(printf ' %10s' "/$client")
        peers+=" $(medians "$client-$name" | cut -d' ' -f1)"
    done
    printf '\n%-34s %8s %8s%s %8s %8s %9s %9s\n' "$2" 'wall s' 'least s' "$titles" 'CPU s' 'peak MiB' origin registry
    for row in "${clients[@]}" first again rest; do
        echo "$row $(medians "$row-$name")" | awk -v peers="$peers" -v oras="$with_oras" '
            BEGIN { text["first"] = "mirror"; text["again"] = "mirror, nothing to do"; text["rest"] = "mirror, killed half way before" }
            {
                ratios = ""
                count = split(peers, walls, " ")
                for (place = 1; place <= count; place++) ratios = ratios sprintf(" %10.3f", $2 / walls[place])
                title = $1 in text ? text[$1] : $1 oras
                printf "%-34s %8.2f %8.2f%s %8.2f %8.1f %9d %9d\n", title, $2, $7, ratios, $3, $4, $5, $6
            }'
    done
}

make_certificates
start_origin 25 500000 "${platforms[@]}"
for latency in "${latencies[@]}"; do
    for _ in $(seq "$rounds"); do round "small-$latency" "$latency"; done
    table "small-$latency" "25 x 4 of 0.5 MB, $latency ms, $jobs jobs, $REGISTRY"
done
start_origin 1 150000000 "${platforms[@]}"
for _ in $(seq "$rounds"); do round large 20; done
table large "4 of 150 MB, 20 ms, $jobs jobs, $REGISTRY"
