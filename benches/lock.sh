#!/usr/bin/env bash
# Measures `tfoci lock` against `tofu providers lock` and `terraform providers lock`.
set -euo pipefail

usage() {
    cat <<'TEXT'
Usage: benches/lock.sh [ROUNDS]

Locks 10 providers for 15 platforms, with packages of 5 MB, which is the size of small providers, from an origin that answers after
20 ms, over TLS and without `package_size`: with `tofu providers lock` and `terraform providers lock`, those on PATH; with tfoci, which
downloads no packages; with `tfoci lock --h1`, which downloads all; and with tfoci from a registry over TLS that does not wait, with a
pinned key. Medians of all rounds are printed, and their ratios to the peers'. Requests are per provider. ROUNDS is 3 unless given.

The script fails if `tfoci lock --h1` and a peer write different lock files, or if tfoci locks differently from the registry.

The origin is the one of the tests, as a process of its own (tests/origin_double/serve.rs), in a development build. The temporary
directory (TMPDIR) needs 4 GiB; it is removed in the end.

Environment:
  TFOCI    the executable [default: target/dist/tfoci, built first]
  LATENCY  of the origin, in milliseconds [default: 20]
  SIZE     of each package, in bytes [default: 5000000]
  REGISTRY docker-registry or zot [default: docker-registry]

Needs bash, cargo, coreutils, diffutils, docker-registry, openssl, GNU time (Debian: docker-registry, openssl, time), and tofu or
terraform.
TEXT
}

case ${1-} in
-h | --help) usage && exit ;;
'' | [1-9]*) rounds=${1:-3} ;;
*) usage >&2 && exit 2 ;;
esac
for tool in cargo cmp "${REGISTRY:-docker-registry}" openssl /usr/bin/time; do
    command -v "$tool" >/dev/null || { echo "needs $tool" >&2 && exit 1; }
done
clients=()
for client in tofu terraform; do
    ! command -v "$client" >/dev/null || clients+=("$client")
done
((${#clients[@]} > 0)) || { echo 'needs tofu or terraform' >&2 && exit 1; }
cd -- "$(dirname -- "$0")/.."
if [[ -z ${TFOCI-} ]]; then
    cargo build --profile dist --quiet
    TFOCI=$PWD/target/dist/tfoci
fi
source benches/origin_process.bash
source benches/registry_process.bash
latency=${LATENCY:-20}
size=${SIZE:-5000000}
providers=10
platforms=(darwin_{amd64,arm64} freebsd_{386,amd64,arm,arm64} linux_{386,amd64,arm,arm64,ppc64le,s390x} windows_{386,amd64,arm64})

work=$(mktemp -d)
cleanup() {
    stop_registries
    stop_origin
    rm -rf -- "$work"
}
trap cleanup EXIT
cd -- "$work"
mkdir home samples project
export HOME=$work/home
# The user's configuration would change where providers come from.
unset TF_CLI_CONFIG_FILE TERRAFORM_CONFIG TF_PLUGIN_CACHE_DIR

# Notes wall and CPU seconds, peak KiB, and the requests to the origin and to the registry, of a command under a name. The command finds
# no lock file, and the one that it writes is kept as NAME.hcl.
measure() {
    local row=$1 log=$work/samples/log before
    shift
    rm -f project/.terraform.lock.hcl
    sync
    tell_origin "$latency"
    before=$(requests registry)
    /usr/bin/time -o samples/time -f '%e %U %S %M' -- "$@" >"$log" 2>&1 || { cat "$log" >&2 && exit 1; }
    sleep 0.2
    echo "$(tail -n1 samples/time) $(asked) $(($(requests registry) - before))" >>"samples/$row"
    mv project/.terraform.lock.hcl "$row.hcl"
}

# Fails unless two rows wrote the same lock file.
same() {
    cmp -- "$1.hcl" "$2.hcl" && return
    diff -u -- "$1.hcl" "$2.hcl" | head -n 40 >&2
    exit 1
}

round() {
    local client
    for client in "${clients[@]}"; do
        measure "$client" "$client" -chdir=project providers lock "${platforms[@]/#/-platform=}"
        measure h1 "$TFOCI" lock --chdir project --client "$client" --h1 "${platforms[@]/#/--platform=}"
        same h1 "$client"
    done
    measure lock "$TFOCI" lock --chdir project
    measure stored "$TFOCI" lock --chdir project --from "$(template)" --key origin.asc
    same stored lock
}

template() { echo "127.0.0.1:${port[registry]}/mirror/{namespace}/{type}"; }

median() {
    sort -g | awk '{ all[NR] = $1 } END { print NR % 2 ? all[(NR + 1) / 2] : (all[NR / 2] + all[NR / 2 + 1]) / 2 }'
}

# Medians of one row: wall seconds, CPU seconds, peak MiB, requests to the origin and to the registry, shortest wall.
medians() {
    echo "$(cut -d' ' -f1 "samples/$1" | median) $(awk '{ print $2 + $3 }' "samples/$1" | median)" \
        "$(awk '{ print $4 / 1024 }' "samples/$1" | median) $(cut -d' ' -f5 "samples/$1" | median)" \
        "$(cut -d' ' -f6 "samples/$1" | median) $(cut -d' ' -f1 "samples/$1" | sort -g | head -n1)"
}

table() {
    local row client text titles='' peers=''
    for client in "${clients[@]}"; do
        titles+=$(printf ' %10s' "/$client")
        peers+=" $(medians "$client" | cut -d' ' -f1)"
    done
    printf '%-34s %8s %8s%s %8s %8s %9s %9s\n' "$providers x ${#platforms[@]} of $((size / 1000)) kB, $latency ms" 'wall s' 'least s' "$titles" 'CPU s' \
        'peak MiB' origin registry
    while IFS=: read -r row text; do
        [[ -e samples/$row ]] || continue
        echo "$(medians "$row")" | awk -v peers="$peers" -v text="$text" -v providers="$providers" '{
            ratios = ""
            count = split(peers, walls, " ")
            for (place = 1; place <= count; place++) ratios = ratios sprintf(" %10s", "1/" sprintf("%.1f", walls[place] / $1))
            printf "%-34s %8.2f %8.2f%s %8.2f %8.1f %9.1f %9.1f\n", text, $1, $6, ratios, $2, $3, $4 / providers, $5 / providers
        }'
    done <<ROWS
tofu:tofu providers lock
terraform:terraform providers lock
lock:lock
h1:lock --h1
stored:lock --from $REGISTRY --key
ROWS
}

make_certificates
start_origin "$providers" "$size" "${platforms[@]}"
start_registry registry
"$TFOCI" mirror "${names[@]}" --to "$(template)" --quiet >/dev/null
for _ in $(seq "$rounds"); do round; done
table
