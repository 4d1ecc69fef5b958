#!/bin/sh
# Makes testdata/keys with GnuPG 2.2: one document, and for each case a public key (.asc) and a signature (.sig).
# Secret keys stay in a temporary directory and are lost with it, so every run makes all keys anew.
set -eu

cd "$(dirname "$0")/../keys"
rm -f ./*
GNUPGHOME=$(mktemp -d)
export GNUPGHOME
trap 'gpgconf --kill gpg-agent; rm -rf "$GNUPGHOME"' EXIT

at() { # TIME ARGUMENTS...: gpg, as if it were then
    when=$1
    shift
    gpg --batch --quiet --no-tty --pinentry-mode loopback --passphrase '' --trust-model always \
        --no-emit-version --enable-dsa2 --faked-system-time "${when}T000000!" "$@"
}

key() { # NAME TIME TYPE EXPIRY [ARGUMENTS...]: a key that certifies and signs
    name=$1 when=$2 type=$3 expiry=$4
    shift 4
    at "$when" "$@" --quick-generate-key "$name@example.com" "$type" cert,sign "$expiry"
}

public() { # NAME TIME [FILE]
    at "$2" --armor --output "${3:-$1}.asc" --export "$1@example.com"
}

sign() { # NAME TIME [ARGUMENTS...]
    name=$1 when=$2
    shift 2
    at "$when" "$@" --digest-algo "${DIGEST:-SHA256}" --local-user "$name@example.com" \
        --output "$name.sig" --detach-sign SHA256SUMS
}

fingerprint() { # NAME NUMBER: of the primary key (1) or a subkey
    gpg --batch --with-colons --fingerprint --fingerprint "$1@example.com" | grep '^fpr' | sed -n "$2p" | cut -d: -f10
}

for platform in darwin_arm64 linux_amd64 windows_amd64; do
    printf '%s  terraform-provider-demo_1.0.0_%s.zip\n' "$(printf '%s' "$platform" | sha256sum | cut -c-64)" "$platform"
done >SHA256SUMS

# Algorithms that need no indulgence.
for type in rsa2048 rsa4096 dsa2048 ed25519 nistp256; do
    key "$type" 20240101 "$type" never
    sign "$type" 20240601
    public "$type" 20240601
done
at 20240601 --armor --local-user rsa2048@example.com --output armoured.sig --detach-sign SHA256SUMS

# The same as text: lines end with CRLF when they are hashed.
key text 20240101 ed25519 never
sign text 20240601 --textmode
public text 20240601

# Only the subkey can sign.
key subkey 20240101 ed25519 never
at 20240101 --quick-add-key "$(fingerprint subkey 1)" rsa2048 sign never
sign subkey 20240601
public subkey 20240601

# The key expires in 2025: signed before, and (with the expiry put forward and back) after.
key expired-since 20240101 ed25519 20250101T000000
sign expired-since 20240601
public expired-since 20240601
key expired-before 20240101 ed25519 20250101T000000
public expired-before 20240601
at 20250601 --quick-set-expire "$(fingerprint expired-before 1)" never
sign expired-before 20250602

# Renewed after signing; the public key carries the last self-signature only.
key renewed 20240101 ed25519 20250101T000000
sign renewed 20240601
at 20241201 --quick-set-expire "$(fingerprint renewed 1)" never
at 20241202 --armor --export-options export-minimal --output renewed.asc --export renewed@example.com

# Revoked after signing; the older copy does not know.
key revoked 20240101 ed25519 never
sign revoked 20240601
public revoked 20240601 revoked-older
sed 's/^:---/---/' "$GNUPGHOME/openpgp-revocs.d/$(fingerprint revoked 1).rev" | at 20250101 --import
public revoked 20250101

# Only the signing subkey is revoked.
key revoked-subkey 20240101 ed25519 never
at 20240101 --quick-add-key "$(fingerprint revoked-subkey 1)" rsa2048 sign never
sign revoked-subkey 20240601
printf '%s\n' 'key 1' revkey y 0 '' y save |
    at 20250101 --command-fd 0 --no-batch --edit-key revoked-subkey@example.com >/dev/null 2>&1
public revoked-subkey 20250101

# Weak in one way each.
key sha1-document 20240101 rsa2048 never
DIGEST=SHA1 sign sha1-document 20240601
public sha1-document 20240601
key sha1-self 20240101 rsa2048 never --cert-digest-algo SHA1
sign sha1-self 20240601
public sha1-self 20240601
for type in dsa1024 rsa1024; do
    key "$type" 20240101 "$type" never
    sign "$type" 20240601
    public "$type" 20240601
done

# Curves that not every build can compute with.
for type in brainpoolP256r1 secp256k1; do
    key "$type" 20240101 "$type" never
    sign "$type" 20240601
    public "$type" 20240601
done

# A key that may certify and not sign, though it did: made as one that signs, then told not to.
key certify-only 20240101 ed25519 never
sign certify-only 20240601
printf '%s\n' change-usage S Q save |
    at 20250101 --command-fd 0 --no-batch --edit-key certify-only@example.com >/dev/null 2>&1
at 20250102 --armor --export-options export-minimal --output certify-only.asc --export certify-only@example.com
