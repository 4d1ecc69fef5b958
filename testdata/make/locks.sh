#!/bin/sh
# Writes testdata/locks/CLIENT.hcl for each client on PATH (terraform, tofu): what its `init` makes of providers in a directory.
# Needs no network.
set -eu
locks=$(cd "$(dirname "$0")/../locks" && pwd)
scene=$(mktemp -d)
trap 'rm -rf "$scene"' EXIT
os=linux
arch=$(uname -m | sed 's/x86_64/amd64/; s/aarch64/arm64/')

provider() { # HOST/NAMESPACE/TYPE VERSION
    directory="$scene/mirror/$1/$2/${os}_$arch"
    mkdir -p "$directory"
    printf '%s %s\n' "$1" "$2" >"$directory/terraform-provider-${1##*/}_v$2"
    chmod 755 "$directory/terraform-provider-${1##*/}_v$2"
}
provider example.com/acme/constrained 1.4.2
provider example.com/acme/free 0.9.0
provider example.com/acme/grown 2.0.0-beta.1+build.5
provider example.com:8443/acme/port 1.0.0
provider bücher.example/ünï/demo 3.10.0
provider registry.opentofu.org/hashicorp/null 3.2.1

mkdir "$scene/module"
cat >"$scene/module/main.tf" <<'END'
terraform {
  required_providers {
    constrained = {
      source  = "example.com/acme/constrained"
      version = ">= 1, ~> 1.4, != 1.4.1, < 2, ~>1.4.0"
    }
    free  = { source = "example.com/acme/free" }
    grown = { source = "example.com/acme/grown", version = "2.0.0-beta.1+build.5" }
    port  = { source = "example.com:8443/acme/port", version = "~> 1" }
    demo  = { source = "bücher.example/Ünï/demo", version = ">= 3" }
    null  = { source = "registry.opentofu.org/hashicorp/null" }
  }
}
END
cat >"$scene/client.tfrc" <<END
disable_checkpoint = true
provider_installation {
  filesystem_mirror { path = "$scene/mirror" }
}
END
for client in terraform tofu; do
    command -v "$client" >/dev/null || continue
    rm -rf "$scene/module/.terraform"
    # What stands for the same version is kept, sorted and completed.
    cat >"$scene/module/.terraform.lock.hcl" <<'END'
# A comment that will be lost.
provider "example.com/acme/grown" {
  hashes = ["zh:ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff", # a comment
    "zh:0000000000000000000000000000000000000000000000000000000000000000", "zh:short"]
  version = "2.0.0-beta.1+build.5"
}
END
    TF_CLI_CONFIG_FILE="$scene/client.tfrc" "$client" -chdir="$scene/module" init -input=false -no-color >"$scene/log" ||
        { cat "$scene/log" >&2; exit 1; }
    cp "$scene/module/.terraform.lock.hcl" "$locks/$client.hcl"
done
