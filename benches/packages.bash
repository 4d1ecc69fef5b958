# Ten providers with a package of 24 MB that cannot be compressed, and one of 150 MB: as the layout `store` and, by `template`, in a registry.
# It is sourced after registry_process.bash, in the directory for everything that it makes.

platform=linux_amd64
make_release() { # NAME MEGABYTES
    mkdir -p "dist-$1"
    head -c "$2"000000 /dev/urandom >"terraform-provider-$1_v1.0.0"
    chmod +x "terraform-provider-$1_v1.0.0"
    python3 - "$1" "$platform" <<'PY'
import sys, zipfile
name, platform = sys.argv[1:]
with zipfile.ZipFile(f"dist-{name}/terraform-provider-{name}_1.0.0_{platform}.zip", "w") as zip:
    zip.write(f"terraform-provider-{name}_v1.0.0")
PY
    rm "terraform-provider-$1_v1.0.0"
    (cd "dist-$1" && sha256sum ./*.zip | sed 's/\.\///' >"terraform-provider-$1_1.0.0_SHA256SUMS")
}
start_registry registry
registry=127.0.0.1:${port[registry]}
template="$registry/tofu/\${hostname}/\${namespace}/\${type}"
names=(large)
make_release large 150
for number in 0 1 2 3 4 5 6 7 8 9; do
    names+=("small$number")
    make_release "small$number" 24
done
for name in "${names[@]}"; do
    for to in oci-layout:store "$template"; do
        "$tfoci" push "dist-$name" --provider "registry.example.com/acme/$name" --allow-unsigned 'registry.example.com/*/*' \
            --to "$to" --ca-file ca.crt --quiet >/dev/null
    done
done

