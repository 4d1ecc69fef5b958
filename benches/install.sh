#!/usr/bin/env bash
# `tfoci install` into a working directory, beside `terraform init` from nginx and `tofu init` from the same registry. All in one run, since
# machines differ. The providers are ten with 24 MB that cannot be compressed; with PACKAGES=half ten with 25 MB, compressed from twice as much;
# or with PACKAGES=real four with 115 MB, compressed.
#
#   [PACKAGES=half|real] benches/install.sh [ROUNDS]       needs nginx, openssl, terraform, tofu, GNU time, docker-registry
set -euo pipefail
rounds=${1:-3}
here=$(cd "$(dirname "$0")" && pwd)
tfoci=${TFOCI:-$here/../target/dist/tfoci}
scene=$(mktemp -d)
chmod 755 "$scene" # The workers of nginx are another user.
cd "$scene"
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$scene"' EXIT
source "$here/registry_process.bash"
make_certificates
export SSL_CERT_FILE=$scene/ca.crt CHECKPOINT_DISABLE=1
source "$here/packages.bash"

# The network mirror as files.
base=www/registry.example.com/acme
for name in "${alike[@]}"; do
    mkdir -p "$base/$name"
    zip=terraform-provider-${name}_1.0.0_$platform.zip
    cp "dist-$name/$zip" "$base/$name/"
    echo '{"versions":{"1.0.0":{}}}' >"$base/$name/index.json"
    echo "{\"archives\":{\"$platform\":{\"url\":\"$zip\"}}}" >"$base/$name/1.0.0.json"
done
cat >nginx.conf <<NGINX
worker_processes 2; pid $scene/nginx.pid; error_log stderr; daemon off;
events { worker_connections 1024; }
http {
    access_log off; sendfile on; tcp_nopush on; default_type application/json;
    client_body_temp_path $scene/t1; proxy_temp_path $scene/t2; fastcgi_temp_path $scene/t3; uwsgi_temp_path $scene/t4; scgi_temp_path $scene/t5;
    server { listen 127.0.0.1:28442 ssl; ssl_certificate $scene/server.crt; ssl_certificate_key $scene/server.key; root $scene/www; }
}
NGINX
nginx -c "$scene/nginx.conf" 2>/dev/null &
until listens 28442; do sleep 0.02; done
echo 'provider_installation { network_mirror { url = "https://127.0.0.1:28442/" } }' >terraform.tfrc
echo "provider_installation { oci_mirror { repository_template = \"$template\" } }" >tofu.tfrc

fresh() {
    rm -rf work && mkdir work
    {
        printf 'terraform {\n  required_providers {\n'
        for name in "${alike[@]}"; do echo "$name = { source = \"registry.example.com/acme/$name\" }"; done
        printf '  }\n}\n'
    } >work/main.tf
}
run() { # NAME COMMAND…: prints the seconds, and the peak memory in MiB
    local what=$1
    shift
    fresh
    sync # Else the disk is still busy with what the run before has written.
    (cd work && /usr/bin/time -f '%e %M' -o ../time "$@" >../log 2>&1) || { cat log >&2 && exit 1; }
    awk -v what="$what" '{printf "%s: %s s, %.1f MiB\n", what, $1, $2 / 1024}' time
}
for _ in $(seq "$rounds"); do
    run 'terraform init from nginx' env TF_CLI_CONFIG_FILE=../terraform.tfrc terraform init -no-color
    run 'tofu init from the registry' env TF_CLI_CONFIG_FILE=../tofu.tfrc tofu init -no-color
    run 'tfoci install from the registry' "$tfoci" install --from "$template" --ca-file ../ca.crt --quiet
    run 'tfoci install from the layout' "$tfoci" install --from oci-layout:../store --quiet
done
