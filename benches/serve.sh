#!/usr/bin/env bash
# `tfoci serve` beside nginx, which serves the same files over TLS: requests a second and latency of VERSION.json over kept connections,
# the throughput of packages, TLS handshakes, `terraform init` of ten providers, and memory. All in one run, since machines differ.
# `proxy` is nginx as well: it passes on the packages of the same registry unread, which is the least that a server in front of it costs.
#
#   benches/serve.sh [SECONDS]        needs nginx, wrk, curl, openssl, terraform, GNU time, docker-registry
#
# PACKAGES says which packages: see packages.bash. `terraform init` unpacks those of `half` and `real` as it does real ones.
set -euo pipefail
seconds=${1:-5}
here=$(cd "$(dirname "$0")" && pwd)
tfoci=${TFOCI:-$here/../target/dist/tfoci}
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
at_layout=$(free_port) at_nginx=$(free_port) at_nginx2=$(free_port) at_registry=$(free_port) at_proxy=$(free_port) at_proxy2=$(free_port)

# The same documents and packages as files.
serve() { # PORT STORE
    "$tfoci" serve --from "$2" --listen "127.0.0.1:$1" --tls-cert chain.crt --tls-key server.key --ca-file ca.crt --max-rate 0 --quiet >"serve.$1" 2>&1 &
    serving=$!
    # Another program may have taken the port meanwhile, and would be measured instead.
    until grep -q '^Listening' "serve.$1"; do
        kill -0 "$serving" 2>/dev/null || { cat "serve.$1" >&2 && exit 1; }
        sleep 0.02
    done
}
serve "$at_layout" oci-layout:store
base=mirror/registry.example.com/acme
for name in "${names[@]}"; do
    mkdir -p "www/$base/$name"
    for file in index.json 1.0.0.json "terraform-provider-${name}_1.0.0_$platform.zip"; do
        curl --cacert ca.crt -fsS "https://127.0.0.1:$at_layout/$base/$name/$file" -o "www/$base/$name/$file"
    done
done
# The address in the registry of each package.
passed_on() {
    local name digest
    for name in "${names[@]}"; do
        digest=$(sha256sum "www/$base/$name/terraform-provider-${name}_1.0.0_$platform.zip" | cut -d' ' -f1)
        cat <<NGINX
        location = /$base/$name/terraform-provider-${name}_1.0.0_$platform.zip {
            proxy_pass https://registry/v2/tofu/registry.example.com/acme/$name/blobs/sha256:$digest;
        }
NGINX
    done
}
cat >nginx.conf <<NGINX
worker_processes 2; pid $scene/nginx.pid; error_log stderr; daemon off;
events { worker_connections 1024; }
http {
    access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000; default_type application/json;
    client_body_temp_path $scene/t1; proxy_temp_path $scene/t2; fastcgi_temp_path $scene/t3; uwsgi_temp_path $scene/t4; scgi_temp_path $scene/t5;
    server {
        listen 127.0.0.1:$at_nginx ssl; listen 127.0.0.1:$at_nginx2 ssl http2; ssl_certificate $scene/chain.crt; ssl_certificate_key $scene/server.key; root $scene/www;
    }
    upstream registry { server $registry; keepalive 16; }
    server {
        listen 127.0.0.1:$at_proxy ssl; listen 127.0.0.1:$at_proxy2 ssl http2; ssl_certificate $scene/chain.crt; ssl_certificate_key $scene/server.key; root $scene/www;
        proxy_http_version 1.1; proxy_set_header Connection ""; proxy_max_temp_file_size 0; proxy_buffers 16 64k; proxy_buffer_size 64k;
$(passed_on)
    }
}
NGINX
nginx -c "$scene/nginx.conf" 2>/dev/null &
until listens "$at_nginx"; do sleep 0.02; done
serve "$at_registry" "$template"

# What was measured is noted as `ROW SERVER VALUE`, in several rounds that take turns, and printed as medians with their ratio to nginx.
note() { echo "$1:$2 $3" >>samples; }
median() { sort -g | awk '{ all[NR] = $1 } END { print NR % 2 ? all[(NR + 1) / 2] : (all[NR / 2] + all[NR / 2 + 1]) / 2 }'; }
of() { sed -n "s|^$1:$2 ||p" samples | median; }
print() { # ROW UNIT
    local server peer
    peer=$(of "$1" nginx)
    for server in nginx layout registry proxy; do
        grep -q "^$1:$server " samples || continue
        awk -v row="$1" -v unit="$2" -v server="$server" -v value="$(of "$1" "$server")" -v peer="$peer" \
            'BEGIN { printf "%-38s %-10s %10.2f %-12s %5.2f of nginx\n", row, server, value, unit, value / peer }'
    done
}
port_of() { case $1 in nginx) echo "$at_nginx" ;; nginx2) echo "$at_nginx2" ;; proxy) echo "$at_proxy" ;; proxy2) echo "$at_proxy2" ;; layout) echo "$at_layout" ;; registry) echo "$at_registry" ;; esac }
all='nginx layout registry'

# Milliseconds of what `wrk` prints, as `812.00us` or `1.20ms`.
milliseconds() { sed 's/us$/ 0.001/; s/ms$/ 1/; s/\([0-9]\)s$/\1 1000/' | awk '{ print $1 * $2 }'; }
documents() { # SERVER CONNECTIONS
    wrk -t1 -c"$2" -d"${seconds}s" --latency "https://127.0.0.1:$(port_of "$1")/$base/${alike[0]}/1.0.0.json" >wrk.log
    note "VERSION.json, $2 connections" "$1" "$(awk '/Requests\/sec/ { print $2 }' wrk.log)"
    note "its p99" "$1" "$(awk '/99%/ { print $2 }' wrk.log | milliseconds)"
}
for connections in 10 100; do
    for _ in 1 2 3; do for server in $all; do documents "$server" "$connections"; done; done
    print "VERSION.json, $connections connections" requests/s
    print 'its p99' ms
    sed -i '/^its p99/d' samples
done

since() { awk "BEGIN { print $EPOCHREALTIME - $1 }"; }
zip=${names[0]}/terraform-provider-${names[0]}_1.0.0_$platform.zip
size=$(($(stat -c %s "www/$base/$zip") / 1000000))
fetch() { # SERVER READERS VERSION
    local began=$EPOCHREALTIME url
    # nginx offers HTTP/2 at a port of its own.
    url=https://127.0.0.1:$(port_of "$1$([[ $1$3 != nginx2 && $1$3 != proxy2 ]] || echo 2)")/$base/$zip
    for _ in $(seq "$2"); do curl "--http$3" --cacert ca.crt -fsS "$url" -o /dev/null & done
    wait $(jobs -p | tail -n "$2")
    note "$size MB, $2 readers, HTTP/$3" "$1" "$(awk "BEGIN { print $2 * $size / ($EPOCHREALTIME - $began) }")"
}
for version in 1.1 2; do
    for readers in 1 4; do
        for _ in 1 2 3 4 5; do
            for server in $all proxy; do
                # tfoci speaks HTTP/1.1.
                [[ $version == 1.1 || $server == nginx || $server == proxy ]] && fetch "$server" "$readers" "$version"
            done
        done
        print "$size MB, $readers readers, HTTP/$version" MB/s
    done
done

# Clients resume no session, so each of their connections costs a full handshake.
handshakes() { # SERVER CLIENTS
    local counted=() client
    for client in $(seq "$2"); do
        openssl s_time -connect "127.0.0.1:$(port_of "$1")" -CAfile ca.crt -new -time "$seconds" >"handshakes.$client" 2>/dev/null &
        counted+=($!)
    done
    wait "${counted[@]}"
    note "TLS, $2 clients" "$1" "$(awk '/real seconds/ { sum += $1 / $4 } END { print sum }' handshakes.*)"
    rm handshakes.*
}
for clients in 1 4; do
    for _ in 1 2; do for server in nginx layout; do handshakes "$server" "$clients"; done; done
    print "TLS, $clients clients" handshakes/s
done

init() { # SERVER VERSION
    local began
    rm -rf work && mkdir work
    {
        printf 'terraform {\n  required_providers {\n'
        for name in "${alike[@]}"; do echo "$name = { source = \"registry.example.com/acme/$name\" }"; done
        printf '  }\n}\n'
    } >work/main.tf
    echo "provider_installation { network_mirror { url = \"https://127.0.0.1:$(port_of "$1")/mirror/\" } }" >work/client.tfrc
    began=$EPOCHREALTIME
    (cd work && TF_CLI_CONFIG_FILE=client.tfrc CHECKPOINT_DISABLE=1 terraform init -no-color >init.log) || cat work/init.log
    note "terraform init of ${#alike[@]} providers, HTTP/$2" "${1%2}" "$(since "$began")"
}
# tfoci offers HTTP/1.1 only. Clients take HTTP/2 from a server that offers it, and are slower with it.
for _ in 1 2 3 4 5; do
    for server in nginx2 proxy2; do init "$server" 2; done
    for server in nginx layout registry proxy; do init "$server" 1.1; done
done
for version in 2 1.1; do print "terraform init of ${#alike[@]} providers, HTTP/$version" s; done

peak() { awk '/VmHWM/ { print $2 / 1024 " MiB" }' "/proc/$serving/status"; }
echo "peak memory of the server in front of the registry: $(peak)"

# 500 connections that are idle after one request, and eight readers that take ten seconds, longer than the server waits before it looks at
# idle connections.
cat >idle.lua <<'LUA'
local asked = 0
function delay() asked = asked + 1; return asked > 500 and 60000 or 0 end
LUA
crowd() {
    local readers=()
    kill "$serving" && wait "$serving" || true
    at_registry=$(free_port)
    serve "$at_registry" "$template"
    wrk -t1 -c500 -d20s -s idle.lua "https://127.0.0.1:$at_registry/healthz" >/dev/null &
    until (($(curl --cacert ca.crt -fsS "https://127.0.0.1:$at_registry/metrics" | awk '/^tfoci_connections / { print $2 }') > 500)); do sleep 0.1; done
    for _ in $(seq 8); do
        curl --http1.1 --limit-rate "$((size / 10))M" --cacert ca.crt -fsS "https://127.0.0.1:$at_registry/$base/$zip" -o /dev/null &
        readers+=($!)
    done
    wait "${readers[@]}"
    echo "peak memory with 500 idle connections and eight readers: $(peak)"
}
crowd
