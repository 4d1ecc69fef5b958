//! `tfoci cli-config`: the printed block, real clients that read it, and the check of existing configurations.

use std::fs;

use serde_json::Value;
use tfoci::platform::Platform;

use crate::clients::run;
use crate::install::{DEMO, push};
use crate::readme::block;
use crate::schema::follows;
use crate::support::programs::has;
use crate::support::release::ReleaseFolder;
use crate::support::scene::{Run, Scene};

/// `--check`: what clients ignore.
mod ignored;
/// `--check`.
mod traps;

const TEMPLATE: &str = "h.example/${hostname}/${namespace}/${type}";

/// Prints the block where `mirror` is a directory.
fn print(arguments: &[&str]) -> Run {
    let scene = Scene::new();
    let package = "acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip";
    for host in ["registry.opentofu.org", "registry.terraform.io"] {
        scene.write(format!("mirror/{host}/{package}"), "");
    }
    scene.tfoci(["cli-config"].iter().chain(arguments))
}

#[test]
fn printed_blocks_are_those_expected() {
    for (arguments, block) in [
        (
            &[
                "acme/*",
                "a.example/acme/demo",
                "acme/*",
                "--from",
                TEMPLATE,
            ][..],
            r#"provider_installation {
  oci_mirror {
    repository_template = "h.example/${hostname}/${namespace}/${type}"
    include             = ["registry.opentofu.org/acme/*", "a.example/acme/demo"]
  }
  direct {
    exclude = ["registry.opentofu.org/acme/*", "a.example/acme/demo"]
  }
}
"#,
        ),
        (
            &["--from", "h.example/{hostname}/{namespace}/{type}"],
            r#"provider_installation {
  # Every provider comes from this mirror. A `direct` block beside it would offer
  # versions that the mirror lacks, and clients would fail to install them.
  oci_mirror {
    repository_template = "h.example/${hostname}/${namespace}/${type}"
  }
}
"#,
        ),
        // HCL 1 keeps quotes within an interpolation unescaped, and only those.
        (
            &[
                "a.example/*/*",
                "--from",
                r#"%{ if hostname == "x" }h%{ else }i%{ endif }.example/${hostname == "a" ? "b.c" : "d"}/${namespace}/${type}"#,
            ],
            r#"provider_installation {
  oci_mirror {
    repository_template = "%{ if hostname == \"x\" }h%{ else }i%{ endif }.example/${hostname == "a" ? "b.c" : "d"}/${namespace}/${type}"
    include             = ["a.example/*/*"]
  }
  direct {
    exclude = ["a.example/*/*"]
  }
}
"#,
        ),
        (
            &[
                "acme/demo",
                "--client",
                "terraform",
                "--into",
                "mirror",
                "--from",
                "oci-layout:store",
            ],
            r#"provider_installation {
  # `tfoci install` writes this directory from oci-layout:store.
  filesystem_mirror {
    path    = "[TMP]/mirror"
    include = ["registry.terraform.io/acme/demo"]
  }
  direct {
    exclude = ["registry.terraform.io/acme/demo"]
  }
}
"#,
        ),
        (
            &[
                "acme/*",
                "--client",
                "terraform",
                "--default-host",
                "b.example",
                "--url",
                "https://m.example/v1",
                "--from",
                TEMPLATE,
            ],
            r#"provider_installation {
  # This server has the providers of h.example/${hostname}/${namespace}/${type}.
  network_mirror {
    url     = "https://m.example/v1/"
    include = ["b.example/acme/*"]
  }
  direct {
    exclude = ["b.example/acme/*"]
  }
}
"#,
        ),
        (
            &[
                "acme/demo",
                "--exact-repository",
                "--from",
                "h.example/any/name",
            ],
            r#"provider_installation {
  oci_mirror {
    repository_template = "h.example/any/name"
    include             = ["registry.opentofu.org/acme/demo"]
  }
  direct {
    exclude = ["registry.opentofu.org/acme/demo"]
  }
}
"#,
        ),
    ] {
        let run = print(arguments).succeeds();
        assert_eq!((run.stdout.as_str(), run.stderr.as_str()), (block, ""));
        let run = print(&[arguments, &["--format", "json"]].concat()).succeeds();
        let document: Value = serde_json::from_str(&run.stdout).unwrap();
        follows("cli-config", &document);
        assert_eq!(document["configuration"], block);
    }
}

#[test]
fn a_block_with_which_no_client_could_install_is_refused() {
    let plain = |host| {
        let from = "h.example:5000/${namespace}/${type}";
        print(&["*/*", "--from", from, "--plain-http", host])
    };
    for host in ["h.example", "h.example:5000"] {
        plain(host).exits(2).without_result().says(
            "error: OpenTofu speaks only HTTPS to registries
  received h.example:5000, which `--plain-http` names

hint: leave out `--plain-http` if the registry has HTTPS for clients; else use `--into DIR` or `--url URL`
",
        );
    }
    assert_eq!(plain("other.example").succeeds().stderr, "");
    let with_port = ["a.example:8443/*/*", "--url", "https://m.example/mirror/"];
    print(&with_port).exits(2).without_result().says(
        "error: clients ask no network mirror for a provider whose host has a port
  received a.example:8443/*/*

hint: leave it out: `direct` installs it from its origin. `--into DIR` can have it
",
    );
    let scene = Scene::new();
    scene.write("store/a.example/acme/demo/index.json", "{}");
    scene.write("store/a.example/acme/demo/oci-layout", "{}");
    for into in ["store", "oci-layout:store"] {
        let run = scene.tfoci(["cli-config", "--into", into]).exits(2);
        run.without_result().says(
            "error: clients cannot install from oci-layout:store
  expected a registry, or `--into DIR` or `--url URL`

hint: `tfoci install --from oci-layout:store --into DIR` writes a filesystem mirror
",
        );
    }
}

#[test]
fn a_block_that_clients_may_be_unable_to_use_has_a_warning() {
    let url = |url| print(&["a.example/*/*", "--url", url]).succeeds().stderr;
    assert_eq!(
        url("https://m.example"),
        "      Note https://m.example/ is right for a site that `tfoci site` wrote. The network mirror of `tfoci serve` is at https://m.example/mirror/\n"
    );
    assert_eq!(url("https://m.example/mirror"), "");
    let every = ["cli-config", "--url", "https://m.example:8443/mirror/"];
    assert_eq!(
        Scene::new().tfoci(every).succeeds().stderr,
        "      Note providers whose addresses begin with m.example:8443/ cannot come from a network mirror, and all others can; for `tfoci serve`, its page at https://m.example:8443/ shows a block that has both\n"
    );
    assert_eq!(
        print(&["--into", "later"]).succeeds().stderr,
        "   Warning there is no directory later: clients fail until `tfoci install --into later` has written it\n"
    );
    let scene = Scene::new();
    scene.write("file", "");
    let run = scene.tfoci(["cli-config", "--into", "file"]).exits(1);
    assert_eq!(run.stderr, "error: file is a file, expected a directory\n");
}

#[test]
fn stores_that_no_client_can_read_are_refused() {
    for (arguments, says) in [
        (
            &["--from", TEMPLATE, "--client", "terraform"][..],
            "error: terraform cannot install from an OCI registry
  expected `--into DIR` for a filesystem mirror, `--url URL` for a network mirror, or `--client tofu`

hint: `tfoci install --into DIR` writes a filesystem mirror from the registry. `registry.terraform.io` as the default host means terraform, unless `--client` says otherwise
",
        ),
        (
            &["--from", "oci-layout:store"],
            "error: clients cannot install from oci-layout:store
  expected a registry, or `--into DIR` or `--url URL`

hint: `tfoci install --from oci-layout:store --into DIR` writes a filesystem mirror
",
        ),
        (
            &["--url", "http://m.example/"],
            "error: `http://m.example/` is not a URL from which clients install
  expected https://HOST/PATH/
",
        ),
        (
            &["acme/*", "--from", "h.example/{namespace}"],
            "error: the repository template `h.example/{namespace}` is wrong
  it does not refer to `type`, in which the providers can differ

hint: put `{hostname}`, `{namespace}` and `{type}` into the address; or name only providers that it tells apart, such as `'example.com/*/*'` without `{hostname}`
",
        ),
        // Clients accept this template, and install every provider from one repository.
        (
            &["*/*/*", "acme/demo", "--from", "h.example/acme/demo"],
            "error: the repository template `h.example/acme/demo` is wrong
  it does not refer to `hostname`, in which the providers can differ
  it does not refer to `namespace`, in which the providers can differ
  it does not refer to `type`, in which the providers can differ

hint: put `{hostname}`, `{namespace}` and `{type}` into the address; or name only providers that it tells apart, such as `'example.com/*/*'` without `{hostname}`
",
        ),
        (
            &["acme/demo", "acme/more", "--from", "h.example/acme/demo"],
            "error: the repository template `h.example/acme/demo` is wrong
  it does not refer to `type`, in which the providers differ

hint: put `{hostname}`, `{namespace}` and `{type}` into the address; or name only providers that it tells apart, such as `'example.com/*/*'` without `{hostname}`
",
        ),
        (
            &["bücher/*", "--from", TEMPLATE],
            "error: `registry.opentofu.org/bücher/example-type` has characters that no OCI repository can have in its name
  expected ASCII, and one or two underscores only between letters or digits
",
        ),
        (
            &["a.example:8443/acme/*", "--from", TEMPLATE],
            "error: the repository template `h.example/${hostname}/${namespace}/${type}` has no repository for `a.example:8443/acme/*`, for example `a.example:8443/acme/example-type`
  `h.example/a.example:8443/acme/example-type` is not a repository: ",
        ),
        (
            &["acme", "--into", "mirror"],
            "error: `acme` is not a pattern of providers
  expected HOSTNAME/NAMESPACE/TYPE, such as `example.com/acme/*`, `example.com/*/*`, or `*/*/*` for all
",
        ),
    ] {
        let run = print(arguments);
        assert!(run.stderr.starts_with(says), "{says}\n{}", run.stderr);
        assert_eq!(run.exits(2).stdout, "");
    }
    for arguments in [
        &[][..],
        &["--client", "terraform"],
        &["--into", "a", "--url", "b"],
        &["--check", "acme/demo"],
    ] {
        let run = print(arguments).exits(2);
        assert!(
            run.stderr.contains("Usage: tfoci cli-config"),
            "{}",
            run.stderr
        );
    }
    print(&["--check", "own.tfrc"]).exits(2);
    // A table of hosts need not contain the clients' placeholder.
    let table = r#"${{"registry.opentofu.org" = "h.example"}[hostname]}/${namespace}/${type}"#;
    print(&["acme/*", "--from", table]).succeeds();
}

#[test]
fn clients_install_from_a_directory_with_any_name() {
    let here = Platform::current().to_string();
    for client in ["terraform", "tofu"].into_iter().filter(|name| has(name)) {
        let scene = Scene::new();
        let release = ReleaseFolder::new("demo", "1.0.0").platform(&here);
        push(&scene, DEMO, "1.0.0", &release);
        let into = r#"mirror "${a}" %{b} \ $${c ${d"#;
        let install = ["install", "--from", "oci-layout:store", "--into", into];
        let installed = scene.tfoci(install).succeeds().stderr;
        let print = ["cli-config", DEMO, "--into", into, "--client", client];
        let block = scene.tfoci(print).succeeds().stdout;
        // Both commands print the same block.
        let (_, after) = installed.split_once("CLI configuration:\n\n").unwrap();
        assert_eq!(after, block);
        let root = scene.path("").canonicalize().unwrap();
        let root = root.to_str().unwrap().trim_end_matches('/');
        scene.write("client.tfrc", block.replace("[TMP]", root));
        let needs = format!(
            "terraform {{\n  required_providers {{\n    demo = {{\n      source = \"{DEMO}\"\n    }}\n  }}\n}}\n"
        );
        scene.write("project/main.tf", needs);
        let init = ["init", "-input=false", "-no-color"];
        run(&scene, &scene.path("project"), client, init).succeeds();
        assert!(fs::exists(scene.path("project/.terraform.lock.hcl")).unwrap());
    }
}

#[test]
fn the_block_in_the_readme_is_printed() {
    let template = "ghcr.io/acme/providers/${hostname}/${namespace}/${type}";
    let printed = print(&["example.com/acme/*", "--from", template]).succeeds();
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words(&block("hcl", "oci_mirror {")), words(&printed.stdout));
}

/// Terraform users name its default host once, in the environment, and `lock` then writes for Terraform.
#[test]
fn the_default_host_of_terraform_says_which_client_it_is_for() {
    let scene = Scene::new().env("TFOCI_DEFAULT_HOST", "registry.terraform.io");
    let arguments = ["cli-config", "acme/demo", "--from", TEMPLATE];
    let run = scene.tfoci(arguments).exits(2);
    let says = "error: terraform cannot install from an OCI registry\n";
    assert!(run.stderr.starts_with(says), "{}", run.stderr);
    let run = scene.tfoci(arguments.into_iter().chain(["--client", "tofu"]));
    let included = "include             = [\"registry.terraform.io/acme/demo\"]";
    assert!(run.succeeds().stdout.contains(included));
    let run = scene.tfoci(["cli-config", "--check", "--format", "json"]);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(document["client"], "terraform");
}
