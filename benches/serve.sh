#!/usr/bin/env bash
# `tfoci serve` beside nginx, which serves the same files over TLS: requests a second and latency of VERSION.json over kept connections,
# the throughput of packages, TLS handshakes, `terraform init` of ten providers, and memory. All in one run, since machines differ.
#
#   benches/serve.sh [SECONDS]        needs nginx, wrk, curl, openssl, terraform, GNU time, docker-registry
set -euo pipefail
seconds=${1:-5}
here=$(cd "$(dirname "$0")" && pwd)
tfoci=${TFOCI:-$here/../target/release/tfoci}
scene=$(mktemp -d)
chmod 755 "$scene" # The workers of nginx are another user.
cd "$scene"
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$scene"' EXIT
source "$here/registry_process.bash"

# The name under which clients reach both servers: they ask for a certificate of it.
make_certificates
cat server.crt >chain.crt
export SSL_CERT_FILE=$scene/ca.crt

source "$here/packages.bash"

# Ports that nobody listens at. Another run may be under way on this machine.
free_port() {
    local found
    until found=$((20000 + RANDOM % 10000)) && ! listens "$found"; do :; done
    echo "$found"
}
at_layout=$(free_port) at_nginx=$(free_port) at_registry=$(free_port)

# The same documents and packages as files.
serve() { # PORT STORE
    "$tfoci" serve --from "$2" --listen "127.0.0.1:$1" --tls-cert chain.crt --tls-key server.key --ca-file ca.crt --max-rate 0 --quiet >&2 &
    serving=$!
    until listens "$1"; do sleep 0.02; done
}
serve "$at_layout" oci-layout:store
base=mirror/registry.example.com/acme
for name in "${names[@]}"; do
    mkdir -p "www/$base/$name"
    for file in index.json 1.0.0.json "terraform-provider-${name}_1.0.0_$platform.zip"; do
        curl --cacert ca.crt -fsS "https://127.0.0.1:$at_layout/$base/$name/$file" -o "www/$base/$name/$file"
    done
done
cat >nginx.conf <<NGINX
worker_processes 2; pid $scene/nginx.pid; error_log stderr; daemon off;
events { worker_connections 1024; }
http {
    access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000; default_type application/json;
    client_body_temp_path $scene/t1; proxy_temp_path $scene/t2; fastcgi_temp_path $scene/t3; uwsgi_temp_path $scene/t4; scgi_temp_path $scene/t5;
    server {
        listen 127.0.0.1:$at_nginx ssl; ssl_certificate $scene/chain.crt; ssl_certificate_key $scene/server.key; root $scene/www;
    }
}
NGINX
nginx -c "$scene/nginx.conf" 2>/dev/null &
until listens "$at_nginx"; do sleep 0.02; done
serve "$at_registry" "$template"

measure() { wrk -t1 -c"$2" -d"${seconds}s" --latency "https://127.0.0.1:$1/$base/small0/1.0.0.json"; }
for connections in 10 100; do
    for server in "nginx:$at_nginx" "layout:$at_layout" "registry:$at_registry"; do
        echo "VERSION.json, $connections connections, ${server%:*}: $(measure "${server#*:}" "$connections" | awk '/99%/ {p=$2} /Requests\/sec/ {r=$2} END {print r " requests/s, p99 " p}')"
    done
done
fetch() { # PORT READERS
    local began=$EPOCHREALTIME
    for _ in $(seq "$2"); do curl --cacert ca.crt -fsS "https://127.0.0.1:$1/$base/large/terraform-provider-large_1.0.0_$platform.zip" -o /dev/null & done
    wait $(jobs -p | tail -n "$2")
    awk "BEGIN {printf \"%.2f s\", $EPOCHREALTIME - $began}"
}
for readers in 1 4; do
    for server in "nginx:$at_nginx" "layout:$at_layout" "registry:$at_registry" "nginx:$at_nginx" "layout:$at_layout" "registry:$at_registry"; do
        echo "150 MB, $readers readers, ${server%:*}: $(fetch "${server#*:}" "$readers")"
    done
done
# Clients resume no session, so each of their connections costs a full handshake.
handshakes() { # PORT CLIENTS
    local counted=() client
    for client in $(seq "$2"); do
        openssl s_time -connect "127.0.0.1:$1" -CAfile ca.crt -new -time "$seconds" >"handshakes.$client" 2>/dev/null &
        counted+=($!)
    done
    wait "${counted[@]}"
    awk '/real seconds/ { sum += $1 / $4 } END { printf "%.0f handshakes/s", sum }' handshakes.*
    rm handshakes.*
}
for clients in 1 4; do
    for server in "nginx:$at_nginx" "layout:$at_layout" "nginx:$at_nginx" "layout:$at_layout"; do
        echo "TLS, $clients clients, ${server%:*}: $(handshakes "${server#*:}" "$clients")"
    done
done
init() { # PORT
    rm -rf work && mkdir work
    {
        printf 'terraform {\n  required_providers {\n'
        for name in "${names[@]:1}"; do echo "$name = { source = \"registry.example.com/acme/$name\" }"; done
        printf '  }\n}\n'
    } >work/main.tf
    echo "provider_installation { network_mirror { url = \"https://127.0.0.1:$1/mirror/\" } }" >work/client.tfrc
    local began=$EPOCHREALTIME
    (cd work && TF_CLI_CONFIG_FILE=client.tfrc CHECKPOINT_DISABLE=1 terraform init -no-color >init.log) || cat work/init.log
    awk "BEGIN {printf \"%.2f s\", $EPOCHREALTIME - $began}"
}
for server in "nginx:$at_nginx" "registry:$at_registry" "nginx:$at_nginx" "registry:$at_registry" "layout:$at_layout"; do
    echo "terraform init of ten providers, ${server%:*}: $(init "${server#*:}")"
done
echo "peak memory of the server in front of the registry: $(awk '/VmHWM/ {print $2 / 1024 " MiB"}' "/proc/$serving/status")"
