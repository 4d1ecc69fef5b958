# Packages as the layout `store` and, by `template`, in a registry. PACKAGES says which: `random`, ten of 24 MB that cannot be compressed and one
# of 150 MB; `half`, ten of 25 MB with executables of 50 MB, half of which cannot be compressed; or `real`, four with the executable of tofu
# (115 MB), compressed.
# It is sourced after registry_process.bash, in the directory for everything that it makes.

platform=linux_amd64
make_release() { # NAME METHOD: with the executable that comes by stdin
    mkdir -p "dist-$1"
    cat >"terraform-provider-$1_v1.0.0"
    chmod +x "terraform-provider-$1_v1.0.0"
    python3 - "$1" "$platform" "$2" <<'PY'
import sys, zipfile
name, platform, method = sys.argv[1:]
method = getattr(zipfile, "ZIP_" + method)
with zipfile.ZipFile(f"dist-{name}/terraform-provider-{name}_1.0.0_{platform}.zip", "w", method) as zip:
    zip.write(f"terraform-provider-{name}_v1.0.0")
PY
    rm "terraform-provider-$1_v1.0.0"
    (cd "dist-$1" && sha256sum ./*.zip | sed 's/\.\///' >"terraform-provider-$1_1.0.0_SHA256SUMS")
}
start_registry registry
registry=127.0.0.1:${port[registry]}
template="$registry/tofu/\${hostname}/\${namespace}/\${type}"
names=() # All of them; those of `alike` are alike.
if [[ ${PACKAGES:-random} == real ]]; then
    for number in 0 1 2 3; do
        names+=("real$number")
        { cat "$(command -v tofu)" && echo "$number"; } | make_release "real$number" DEFLATED
    done
    alike=("${names[@]}")
elif [[ ${PACKAGES:-random} == half ]]; then
    for number in 0 1 2 3 4 5 6 7 8 9; do
        names+=("half$number")
        python3 -c 'import os, sys
for _ in range(400): sys.stdout.buffer.write(os.urandom(62500) + bytes(62500))' | make_release "half$number" DEFLATED
    done
    alike=("${names[@]}")
else
    names=(large)
    head -c 150000000 /dev/urandom | make_release large STORED
    for number in 0 1 2 3 4 5 6 7 8 9; do
        names+=("small$number")
        head -c 24000000 /dev/urandom | make_release "small$number" STORED
    done
    alike=("${names[@]:1}")
fi
for name in "${names[@]}"; do
    for to in oci-layout:store "$template"; do
        "$tfoci" push "dist-$name" --provider "registry.example.com/acme/$name" --allow-unsigned 'registry.example.com/*/*' \
            --to "$to" --ca-file ca.crt --quiet >/dev/null
    done
done

