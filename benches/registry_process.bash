# Starts and stops the registries of the benchmarks, over TLS on free ports of the loopback address. It is sourced, in the directory for
# everything that it makes. REGISTRY says which program: docker-registry (Debian's) or zot (on PATH).

REGISTRY=${REGISTRY:-docker-registry}
declare -A process port

# An authority, and a certificate for the loopback address.
make_certificates() {
    local new=(openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -batch)
    "${new[@]}" -x509 -subj /CN=benchmark -keyout ca.key -out ca.crt 2>/dev/null
    "${new[@]}" -subj /CN=localhost -keyout server.key -out server.csr 2>/dev/null
    openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -out server.crt \
        -extfile <(echo subjectAltName=IP:127.0.0.1) 2>/dev/null
}

listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# Starts the registry NAME with nothing in it. Its access log is NAME.log.
start_registry() {
    local one=$1
    stop_registry "$one"
    until port[$one]=$((20000 + RANDOM % 20000)) && ! listens "${port[$one]}"; do :; done
    "configure_$REGISTRY" "$one"
    "$REGISTRY" serve "$one.config" >"$one.log" 2>"$one.err" &
    process[$one]=$!
    until listens "${port[$one]}"; do
        kill -0 "${process[$one]}" 2>/dev/null || { cat "$one.err" >&2 && exit 1; }
        sleep 0.02
    done
}

configure_docker-registry() {
    cat >"$1.config" <<YAML
version: 0.1
log: {level: error}
storage: {filesystem: {rootdirectory: $PWD/$1.store}}
http:
  addr: 127.0.0.1:${port[$1]}
  secret: benchmark
  tls: {certificate: $PWD/server.crt, key: $PWD/server.key}
YAML
}

configure_zot() {
    cat >"$1.config" <<JSON
{
  "storage": {"rootDirectory": "$PWD/$1.store"},
  "http": {"address": "127.0.0.1", "port": "${port[$1]}", "tls": {"cert": "$PWD/server.crt", "key": "$PWD/server.key"}},
  "log": {"level": "info"}
}
JSON
}

stop_registry() {
    [[ -z ${process[$1]-} ]] || { kill "${process[$1]}" && wait "${process[$1]}" 2>/dev/null || true; }
    rm -rf -- "${PWD:?}/$1.store"
}

stop_registries() {
    local one
    for one in "${!process[@]}"; do kill "${process[$one]}" 2>/dev/null || true; done
}

# The number of requests that the registry NAME has had.
requests() { grep -cE '"[A-Z]+ /v2/|"path":"/v2/' "$1.log" || true; }
