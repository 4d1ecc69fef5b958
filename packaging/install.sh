#!/bin/sh
# Installs tfoci from its release files:
#
#     curl --proto '=https' -fsSL https://github.com/example/tfoci/releases/latest/download/install.sh | sh
#     curl … | sh -s -- --version 0.2.0 --prefix /usr/local/bin
#
# It installs nothing unless the archive has the checksum of the release. If `cosign` is installed, it checks the signature of the checksums too.
set -eu

main() {
    home=https://github.com/example/tfoci
    identity="^$home/\\.github/workflows/release\\.yml@refs/tags/v"
    issuer=https://token.actions.githubusercontent.com
    version='' prefix=${HOME-}/.local/bin
    while [ $# -gt 0 ]; do
        case $1 in
        --version) version=${2:?--version needs a version} && shift 2 ;;
        --prefix) prefix=${2:?--prefix needs a directory} && shift 2 ;;
        *) fail "the option $1 is not known: there are --version VERSION and --prefix DIRECTORY" ;;
        esac
    done
    [ "$prefix" != /.local/bin ] || fail 'HOME is not set: name a directory with --prefix'

    base=${TFOCI_DOWNLOAD:-$home/releases}
    case $base in
    https://*) protocols='=https' ;;
    # Tests have a server on this machine.
    http://127.0.0.1:*) protocols='=http' ;;
    *) fail "$base is not an https URL" ;;
    esac
    case $version in
    '') from=$base/latest/download ;;
    *[!0-9A-Za-z.+-]*) fail "$version is not a version" ;;
    *) from=$base/download/v${version#v} ;;
    esac

    target=$(target) || exit 1
    archive=tfoci-$target.tar.gz
    work=$(mktemp -d)
    trap 'rm -rf -- "$work"' EXIT
    download SHA256SUMS
    check_signature
    download "$archive"
    check_sum
    tar -xzf "$work/$archive" -C "$work"
    mkdir -p -- "$prefix"
    for program in tfoci oci-push; do
        # Renamed into place, so that a program that runs is not written over.
        cp -- "$work/tfoci-$target/$program" "$prefix/.$program.$$"
        chmod 755 "$prefix/.$program.$$"
        mv -f -- "$prefix/.$program.$$" "$prefix/$program"
    done
    "$prefix/tfoci" --version
    echo "installed in $prefix"
    case :${PATH-}: in
    *:"$prefix":*) ;;
    *) echo "add $prefix to PATH" ;;
    esac
}

fail() {
    echo "error: $1" >&2
    exit 1
}

# The target of this machine, as release files name it.
target() {
    case $(uname -s)-$(uname -m) in
    Linux-x86_64 | Linux-amd64) echo x86_64-unknown-linux-musl ;;
    Linux-aarch64 | Linux-arm64) echo aarch64-unknown-linux-musl ;;
    Darwin-arm64) echo aarch64-apple-darwin ;;
    Darwin-x86_64) echo x86_64-apple-darwin ;;
    *) fail "there is no release file for $(uname -s) $(uname -m)" ;;
    esac
}

download() {
    curl --proto "$protocols" --proto-redir "$protocols" --tlsv1.2 -fsSL -o "$work/$1" "$from/$1" || fail "cannot download $from/$1"
}

# Checks that the release workflow of this project signed the checksums.
check_signature() {
    if ! command -v cosign >/dev/null; then
        echo 'the signature was not checked: cosign is not installed' >&2
        return
    fi
    download SHA256SUMS.sigstore.json
    cosign verify-blob --bundle "$work/SHA256SUMS.sigstore.json" --certificate-identity-regexp "$identity" \
        --certificate-oidc-issuer "$issuer" "$work/SHA256SUMS" >&2 || fail 'the signature of SHA256SUMS does not verify'
}

check_sum() {
    # Two spaces, or a space and an asterisk, precede the name.
    expected=$(sed -n "s/^\\([0-9a-f]\\{64\\}\\) [ *]$archive\$/\\1/p" "$work/SHA256SUMS")
    [ -n "$expected" ] || fail "SHA256SUMS of the release does not name $archive"
    if command -v sha256sum >/dev/null; then
        received=$(sha256sum "$work/$archive")
    else
        received=$(shasum -a 256 "$work/$archive")
    fi
    [ "$expected" = "${received%% *}" ] || fail "$archive has another checksum: expected $expected, received ${received%% *}"
}

# On the last line, so that a script that was cut off does nothing.
main "$@"
