#!/usr/bin/env bash
# Measures `tfoci push` into a registry, and `tfoci copy` between two, against oras or skopeo with the same bytes.
set -euo pipefail

usage() {
    cat <<'TEXT'
Usage: benches/registry.sh [ROUNDS]

Pushes 8 zips of 50 MB into a registry over TLS, and copies them from there into a second one, with tfoci and with
oras as its users do; without oras, with skopeo from a layout. Each round runs all of these, one after the other, each
into a registry that is empty; medians of all rounds are printed, and their ratios to the peer's. Requests are counted in
the registry's access log. ROUNDS is 5 unless given, and at least 3.

The data is made first, in a temporary directory (TMPDIR) that needs 4 GiB and is removed in the end.

Environment:
  TFOCI  the executable [default: target/dist/tfoci, built first]
  JOBS   packages at once [default: 4]
  REGISTRY  docker-registry or zot [default: docker-registry]

Needs bash, coreutils, curl, docker-registry, gpg, openssl, zip, GNU time, and oras or skopeo (Debian: curl, docker-registry, gnupg,
openssl, zip, time, skopeo).
TEXT
}

case ${1-} in
-h | --help) usage && exit ;;
'' | [0-9]*) rounds=${1:-5} ;;
*) usage >&2 && exit 2 ;;
esac
((rounds >= 3)) || { usage >&2 && exit 2; }
for tool in basenc curl "${REGISTRY:-docker-registry}" gpg openssl zip /usr/bin/time; do
    command -v "$tool" >/dev/null || { echo "needs $tool" >&2 && exit 1; }
done
peer=oras
command -v oras >/dev/null || peer=skopeo
command -v "$peer" >/dev/null || { echo 'needs oras or skopeo' >&2 && exit 1; }
cd -- "$(dirname -- "$0")/.."
source benches/registry_process.bash
if [[ -z ${TFOCI-} ]]; then
    cargo build --profile dist --quiet
    TFOCI=$PWD/target/dist/tfoci
fi
jobs=${JOBS:-4}
platforms=(darwin_amd64 darwin_arm64 freebsd_amd64 linux_386 linux_amd64 linux_arm64 windows_386 windows_amd64)
name=mirror/example.com/bench/demo
provider=example.com/bench/demo
copies=no
! "$TFOCI" --help | grep -q '^  copy ' || copies=yes

work=$(mktemp -d)
cleanup() {
    stop_registries
    rm -rf -- "$work"
}
trap cleanup EXIT
cd -- "$work"
mkdir release home samples
export HOME=$work/home GNUPGHOME=$work/home SSL_CERT_FILE=$work/ca.crt
export peer name platforms_list="${platforms[*]}"
chmod 700 home

# Half of the executable is random and does not shrink; the other half, random digits, shrinks to about half.
make_release() {
    local stem=terraform-provider-demo executable platform
    for platform in "${platforms[@]}"; do
        executable=${stem}_v1.0.0
        [[ $platform != windows* ]] || executable+=.exe
        { head -c 25M /dev/urandom && head -c 22M /dev/urandom | basenc --base16 -w0; } >"$executable"
        chmod 755 "$executable"
        zip -q "release/${stem}_1.0.0_$platform.zip" "$executable"
        rm -- "$executable"
    done
    (cd release && sha256sum -- *.zip >"${stem}_1.0.0_SHA256SUMS")
    gpg --batch --quiet --passphrase '' --quick-generate-key 'benchmark <benchmark@example.com>' ed25519 sign never 2>/dev/null
    gpg --batch --quiet --detach-sign "release/${stem}_1.0.0_SHA256SUMS"
    gpg --batch --quiet --armor --export >key.asc
}

# Notes wall and CPU seconds, peak KiB, and the requests to a registry, of a command under a name.
measure() {
    local row=$1 registry=$2 log=$work/samples/log before
    shift 2
    sync
    before=$(requests "$registry")
    /usr/bin/time -o samples/time -f '%e %U %S %M' -- "$@" >"$log" 2>&1 || { cat "$log" >&2 && exit 1; }
    sleep 0.2
    echo "$(cat samples/time) $(($(requests "$registry") - before))" >>"samples/$row"
}

# What the documentation of OCI mirrors tells users to do.
oras_recipe() {
    local platform tags=()
    cd release
    rm -rf ../layout
    for platform in $platforms_list; do
        oras push --oci-layout "../layout:$platform" --artifact-type application/vnd.opentofu.provider-target \
            --artifact-platform "${platform/_//}" "terraform-provider-demo_1.0.0_$platform.zip:archive/zip"
        tags+=("$platform")
    done
    oras manifest index create --oci-layout ../layout:1.0.0 --artifact-type application/vnd.opentofu.provider "${tags[@]}"
    oras cp --from-oci-layout ../layout:1.0.0 "$1/$name:1.0.0"
}
export -f oras_recipe

peer_push() {
    case $peer in
    oras) measure peer-push one bash -euc 'oras_recipe "$0"' "127.0.0.1:${port[one]}" ;;
    skopeo)
        measure peer-push one skopeo copy --all --insecure-policy oci:ours/example.com/bench/demo:1.0.0 \
            "docker://127.0.0.1:${port[one]}/$name:1.0.0"
        ;;
    esac
}

peer_copy() {
    local from=127.0.0.1:${port[one]}/$name:1.0.0 to=127.0.0.1:${port[two]}/$name:1.0.0
    case $peer in
    oras) measure peer-copy two oras cp "$from" "$to" ;;
    skopeo) measure peer-copy two skopeo copy --all --insecure-policy "docker://$from" "docker://$to" ;;
    esac
}

# Uploads the zips and nothing else, without hashing: less is not possible with this registry on this machine.
curl_upload() {
    local location
    location=$(curl --silent --show-error --fail --http1.1 --cacert ca.crt --request POST --dump-header - --output /dev/null \
        "https://$1/v2/$name/blobs/uploads/" | sed -nE 's/^location: *([^\r]*).*/\1/Ip')
    [[ $location = https* ]] || location=https://$1$location
    [[ $location = *\?* ]] && location+=\& || location+=\?
    curl --silent --show-error --fail --http1.1 --cacert ca.crt --output /dev/null --header 'Content-Type: application/octet-stream' \
        --upload-file "release/$3" "${location}digest=sha256:$2"
}
export -f curl_upload

template() { echo "127.0.0.1:${port[$1]}/mirror/{hostname}/{namespace}/{type}"; }

round() {
    local push
    start_registry one
    peer_push
    start_registry one
    measure floor one xargs -a "release/terraform-provider-demo_1.0.0_SHA256SUMS" -P "$jobs" -L1 \
        bash -euc 'curl_upload "$0" "$@"' "127.0.0.1:${port[one]}"
    start_registry one
    push=("$TFOCI" push release --provider "$provider" --key key.asc --to "$(template one)" -j "$jobs")
    measure push one "${push[@]}"
    measure present one "${push[@]}"
    start_registry two
    peer_copy
    [[ $copies = yes ]] || return 0
    start_registry two
    measure copy two "$TFOCI" copy "$provider" --from "$(template one)" --to "$(template two)" -j "$jobs"
}

median() {
    sort -g | awk '{ all[NR] = $1 } END { print NR % 2 ? all[(NR + 1) / 2] : (all[NR / 2] + all[NR / 2 + 1]) / 2 }'
}

# Medians of one row: wall seconds, CPU seconds, peak MiB, requests, shortest wall.
medians() {
    echo "$(cut -d' ' -f1 "samples/$1" | median) $(awk '{ print $2 + $3 }' "samples/$1" | median)" \
        "$(awk '{ print $4 / 1024 }' "samples/$1" | median) $(cut -d' ' -f5 "samples/$1" | median)" \
        "$(cut -d' ' -f1 "samples/$1" | sort -g | head -n1)"
}

table() {
    local row base text
    printf '%-36s %8s %8s %8s %8s %8s %9s %9s\n' "$rounds rounds, $jobs jobs, $REGISTRY" 'wall s' 'least s' ratio 'CPU s' ratio 'peak MiB' requests
    while IFS=: read -r row base text; do
        [[ -e samples/$row ]] || continue
        echo "$(medians "$base") $(medians "$row")" | awk -v text="$text" '{
            printf "%-36s %8.2f %8.2f %8.2f %8.2f %8.2f %9.1f %9d\n", text, $6, $10, $6 / $1, $7, $7 / $2, $8, $9
        }'
    done <<ROWS
peer-push:peer-push:$peer, push
floor:peer-push:curl, the zips alone
push:peer-push:push
present:peer-push:push, nothing to do
peer-copy:peer-copy:$peer, copy
copy:peer-copy:copy
ROWS
    [[ $copies = yes ]] || echo 'copy: this tfoci has none'
}

make_release
make_certificates
if [[ $peer = skopeo ]]; then
    "$TFOCI" push release --provider "$provider" --key key.asc --to oci-layout:ours --quiet >/dev/null
fi
for _ in $(seq "$rounds"); do round; done
table
