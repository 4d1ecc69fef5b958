# Starts and stops the origin of the tests as a process of its own (tests/origin_double/serve.rs), in a development build. It is sourced
# in the project's directory, which it builds the origin from. The functions run in the directory for everything that they make, which
# has the directory `project`, and `ca.crt`, the registries' authority.

origin_tests=$(cargo test --quiet --locked --test tests --no-run --message-format json | sed -n 's/.*"executable":"\([^"]*\/tests-[^"]*\)".*/\1/p' | tail -n1)
origin=''

# Starts an origin of COUNT providers with packages of SIZE bytes for PLATFORMS. Each has VERSIONS versions, or one. It writes what the peers
# need in `project/main.tf`, and the providers' addresses into the array `names`.
start_origin() {
    local count=$1 size=$2 number host
    shift 2
    stop_origin
    rm -f origin.host
    coproc ORIGIN {
        export ORIGIN_PROVIDERS=$count ORIGIN_VERSIONS=${VERSIONS:-1} ORIGIN_SIZE=$size ORIGIN_PLATFORMS="$*" ORIGIN_DIR=$PWD
        exec "$origin_tests" origin_double::serve::serve --exact --ignored --nocapture
    }
    origin=$ORIGIN_PID to_origin=${ORIGIN[1]} from_origin=${ORIGIN[0]}
    until [[ -s origin.host ]]; do
        kill -0 "$origin" || exit 1
        sleep 0.1
    done
    host=$(<origin.host)
    cat ca.crt origin.pem >both.pem
    export SSL_CERT_FILE=$PWD/both.pem
    # Only the configuration names it.
    export TFOCI_ALLOW_PRIVATE=$host
    names=()
    {
        echo 'terraform {' && echo '  required_providers {'
        for ((number = 0; number < count; number++)); do
            names+=("$host/acme/p$number")
            echo "    p$number = { source = \"$host/acme/p$number\" }"
        done
        echo '  }' && echo '}'
    } >project/main.tf
}

stop_origin() {
    [[ -z $origin ]] || { kill "$origin" && wait "$origin"; } 2>/dev/null || true
    origin=''
}

# What the origin is told: how many milliseconds to wait from now on. It forgets its requests.
tell_origin() { echo "$1" >&"$to_origin"; }

# The number of requests that the origin has had since then.
asked() {
    local word count=0
    echo >&"$to_origin"
    while read -r word count <&"$from_origin" && [[ $word != requests ]]; do :; done
    echo "$count"
}
