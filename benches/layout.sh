#!/usr/bin/env bash
# Measures `tfoci push` and `tfoci install` on a layout against cp and sha256sum of the same files.
set -euo pipefail

usage() {
    cat <<'TEXT'
Usage: benches/layout.sh [ROUNDS]

Pushes 8 zips of 64 MiB into a layout on disk, installs them packed and unpacked, and copies and hashes the same files with
cp and sha256sum. Each round runs all of these, one after the other; medians of all rounds are printed. ROUNDS is 5
unless given, and at least 3. A start of the program (`--version`) is measured beside `true`.

The data is made first, in a temporary directory (TMPDIR) that needs 6 GiB and is removed in the end.

Environment:
  TFOCI  the executable [default: target/dist/tfoci, built first]
  JOBS   packages at once [default: 8]

Needs bash, coreutils, gpg, zip and GNU time (Debian: gnupg, zip, time).
TEXT
}

case ${1-} in
-h | --help) usage && exit ;;
'' | [0-9]*) rounds=${1:-5} ;;
*) usage >&2 && exit 2 ;;
esac
((rounds >= 3)) || { usage >&2 && exit 2; }
for tool in gpg zip basenc /usr/bin/time; do
    command -v "$tool" >/dev/null || { echo "needs $tool" >&2 && exit 1; }
done
if [[ -z ${TFOCI-} ]]; then
    cd -- "$(dirname -- "$0")/.."
    cargo build --profile dist --quiet
    TFOCI=$PWD/target/dist/tfoci
fi
jobs=${JOBS:-8}
platforms=(darwin_amd64 darwin_arm64 freebsd_amd64 linux_386 linux_amd64 linux_arm64 windows_386 windows_amd64)
starts=100

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
cd -- "$work"
mkdir release home samples
export HOME=$work/home GNUPGHOME=$work/home
chmod 700 home

# Half of the executable is random and does not shrink; the other half, random digits, shrinks to about half.
make_release() {
    local stem=terraform-provider-demo executable platform
    for platform in "${platforms[@]}"; do
        executable=${stem}_v1.0.0
        [[ $platform != windows* ]] || executable+=.exe
        { head -c 32M /dev/urandom && head -c 28M /dev/urandom | basenc --base16 -w0; } >"$executable"
        chmod 755 "$executable"
        zip -q "release/${stem}_1.0.0_$platform.zip" "$executable"
        rm -- "$executable"
    done
    (cd release && sha256sum -- *.zip >"${stem}_1.0.0_SHA256SUMS")
    gpg --batch --quiet --passphrase '' --quick-generate-key 'benchmark <benchmark@example.com>' ed25519 sign never 2>/dev/null
    gpg --batch --quiet --detach-sign "release/${stem}_1.0.0_SHA256SUMS"
    gpg --batch --quiet --armor --export >key.asc
}

# Notes wall and CPU seconds and peak KiB of a command under a name.
measure() {
    local name=$1 log=$work/samples/log
    shift
    sync
    /usr/bin/time -o "samples/$name" -a -f '%e %U %S %M' -- "$@" >"$log" 2>&1 || { cat "$log" >&2 && exit 1; }
}

many() {
    local _
    for _ in $(seq "$starts"); do "$@"; done
}
export -f many
export starts

round() {
    rm -rf layout packed unpacked copy && mkdir copy
    measure copy sh -c 'cp release/*.zip copy/ && sha256sum copy/*.zip'
    measure push "$TFOCI" push release --provider example.com/bench/demo --key key.asc --to oci-layout:layout -j "$jobs"
    measure present "$TFOCI" push release --provider example.com/bench/demo --key key.asc --to oci-layout:layout -j "$jobs"
    measure packed "$TFOCI" install --from oci-layout:layout --into packed --platform all -j "$jobs"
    measure unpacked "$TFOCI" install --from oci-layout:layout --into unpacked --platform all --unpacked -j "$jobs"
    measure kept "$TFOCI" install --from oci-layout:layout --into unpacked --platform all --unpacked -j "$jobs"
    measure true bash -c 'many /bin/true'
    measure start bash -c "many $TFOCI --version"
}

median() {
    sort -g | awk '{ all[NR] = $1 } END { print NR % 2 ? all[(NR + 1) / 2] : (all[NR / 2] + all[NR / 2 + 1]) / 2 }'
}

# Medians of one name: wall seconds, CPU seconds, peak MiB, shortest wall.
medians() {
    local wall cpu peak least
    wall=$(cut -d' ' -f1 "samples/$1" | median)
    cpu=$(awk '{ print $2 + $3 }' "samples/$1" | median)
    peak=$(awk '{ print $4 / 1024 }' "samples/$1" | median)
    least=$(cut -d' ' -f1 "samples/$1" | sort -g | head -n1)
    echo "$wall $cpu $peak $least"
}

table() {
    local name base row
    base=$(medians copy)
    printf '%-34s %8s %8s %8s %8s %8s %8s\n' "$rounds rounds, $jobs jobs" 'wall s' 'least s' 'ratio' 'CPU s' 'ratio' 'peak MiB'
    while IFS=: read -r name row; do
        echo "$base $(medians "$name")" | awk -v row="$row" '{
            printf "%-34s %8.2f %8.2f %8.2f %8.2f %8.2f %8.1f\n", row, $5, $8, $5 / $1, $6, $6 / $2, $7
        }'
    done <<'ROWS'
copy:cp + sha256sum
push:push
present:push, nothing to do
packed:install, packed
unpacked:install, unpacked
kept:install, nothing to do (unpacked)
ROWS
    echo "$(medians start) $(medians true)" | awk -v n="$starts" \
        '{ printf "\nstart (--version): %.1f ms, of which %.1f ms are any process\n", $1 * 1000 / n, $5 * 1000 / n }'
}

make_release
for _ in $(seq "$rounds"); do round; done
table
