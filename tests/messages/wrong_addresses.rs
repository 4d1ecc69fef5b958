//! Texts that are not addresses of providers, stores or sources, and variables with such texts.

use super::{Case, check};
use crate::support::author::Author;

const NOTHING: fn(&Author) = |_| {};

#[test]
fn arguments_that_are_no_addresses() {
    check(&[
        Case {
            label: "a mirror file",
            given: NOTHING,
            arguments: "mirror mirror.toml --to oci-layout:store",
            exit: 2,
            says: r"
error: `mirror.toml` is a type without a namespace
  expected NAMESPACE/TYPE

hint: a mirror file is named with `--file mirror.toml`
",
        },
        Case {
            label: "a lock file",
            given: NOTHING,
            arguments: "mirror .terraform.lock.hcl --to oci-layout:store",
            exit: 2,
            says: r"
error: `.terraform.lock.hcl` is a type without a namespace
  expected NAMESPACE/TYPE

hint: a lock file is named with `--from-lock .terraform.lock.hcl`
",
        },
        Case {
            label: "a version",
            given: NOTHING,
            arguments: "mirror acme/demo 1.0.0 --to oci-layout:store",
            exit: 2,
            says: r"
error: `1.0.0` is a type without a namespace
  expected NAMESPACE/TYPE

hint: a version follows its provider: `ADDR@1.0.0`
",
        },
        Case {
            label: "a pattern",
            given: NOTHING,
            arguments: "mirror acme/* --to oci-layout:store",
            exit: 2,
            says: r"
error: `*` is not a provider type: it has characters that are not allowed
  expected letters, digits and inner dashes

hint: an address names one provider and has no `*`
",
        },
        Case {
            label: "a pattern of a host with two parts",
            given: NOTHING,
            arguments: "cli-config --from registry.example.net/{namespace}/{type} example.com/*",
            exit: 2,
            says: r"
error: `example.com` is neither a namespace nor a provider type: it has a dot
  expected letters, digits and inner dashes
",
        },
        Case {
            label: "a pattern with a version",
            given: NOTHING,
            arguments: "cli-config --from registry.example.net/{namespace}/{type} acme/demo@1.0.0",
            exit: 2,
            says: r"
error: `demo@1.0.0` is neither a namespace nor a provider type: it has a dot
  expected letters, digits and inner dashes
",
        },
    ]);
}

#[test]
fn addresses_of_stores_that_are_cut_short() {
    for (from, hint) in [
        (
            "",
            "a variable of the shell that is not set gives an empty text",
        ),
        ("registry.example.net/x/", "leave out the slash at the end"),
    ] {
        let run = Author::new()
            .tfoci(&["versions", "acme/demo", "--from", from])
            .exits(2);
        assert!(
            run.stderr.ends_with(&format!("hint: {hint}\n")),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn an_armoured_signature() {
    check(&[
        Case {
            label: "gpg --clearsign",
            given: |author| {
                author.with_release_in_place();
                let name = "dist/terraform-provider-demo_1.0.0_SHA256SUMS";
                std::fs::remove_file(author.scene.path(format!("{name}.sig"))).unwrap();
                let text = "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n";
                author.scene.write(format!("{name}.asc"), text);
            },
            arguments: "push dist --provider acme/demo --key acme.asc --to oci-layout:store",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo (dist): `terraform-provider-demo_1.0.0_SHA256SUMS.asc` is a signature in text, which clients do not read
  expected terraform-provider-demo_1.0.0_SHA256SUMS.sig in binary

hint: it is a signed copy of the document, and no signature of its own: `gpg --detach-sign --output terraform-provider-demo_1.0.0_SHA256SUMS.sig terraform-provider-demo_1.0.0_SHA256SUMS` makes one
",
        },
        Case {
            label: "gpg --armor --detach-sign",
            given: |author| {
                author.with_release_in_place();
                let signature = author
                    .scene
                    .path("dist/terraform-provider-demo_1.0.0_SHA256SUMS.sig");
                let armoured = signature.with_extension("asc");
                std::fs::rename(signature, armoured).unwrap();
            },
            arguments: "push dist --provider acme/demo --key acme.asc --to oci-layout:store",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo (dist): `terraform-provider-demo_1.0.0_SHA256SUMS.asc` is a signature in text, which clients do not read
  expected terraform-provider-demo_1.0.0_SHA256SUMS.sig in binary

hint: `gpg --dearmor --output terraform-provider-demo_1.0.0_SHA256SUMS.sig terraform-provider-demo_1.0.0_SHA256SUMS.asc` makes it; next time, leave out `--armor`
",
        },
    ]);
}

#[test]
fn sources_in_the_place_of_stores() {
    check(&[
        Case {
            label: "a mirror that is copied",
            given: NOTHING,
            arguments: "copy acme/demo --from filesystem-mirror:mirror --to oci-layout:store",
            exit: 2,
            says: r"
error: `filesystem-mirror:mirror` is not a store
  expected oci-layout:DIR, or a registry's repository template

hint: `tfoci mirror ADDR --from filesystem-mirror:mirror --to STORE` copies from it into a store
",
        },
        Case {
            label: "the origin",
            given: NOTHING,
            arguments: "install acme/demo --from origin --into mirror",
            exit: 2,
            says: r"
error: `origin` is not a store
  expected oci-layout:DIR, or a registry's repository template

hint: `tfoci mirror ADDR --to STORE` copies from the origin into a store
",
        },
        Case {
            label: "a layout without its index",
            given: |author| {
                author.scene.write(
                    "store/registry.example.com/acme/demo/oci-layout",
                    r#"{"imageLayoutVersion":"1.0.0"}"#,
                );
            },
            arguments: "list --from oci-layout:store",
            exit: 1,
            says: r"
error: no provider is in oci-layout:store
  expected an OCI layout in DIR/HOSTNAME/NAMESPACE/TYPE

hint: there are layouts without index.json below it: they are damaged, or were not copied to the end
",
        },
    ]);
}

#[test]
fn variables_that_name_nothing_useful() {
    let author = Author::new();
    author.scene.write("none.pem", "no certificate\n");
    let scene = author
        .scene
        .env("SSL_CERT_FILE", "none.pem")
        .env("HTTPS_PROXY", "ftp://proxy.example.net")
        .env("NETRC", "none");
    let run = scene.tfoci(["versions", "acme/demo", "--from", "oci-layout:store"]);
    for said in [
        "   Warning SSL_CERT_FILE names none.pem, which has no certificate in PEM\n",
        "   Warning HTTPS_PROXY names ftp://proxy.example.net/, which is not used: a proxy is http://HOST:PORT or https://HOST:PORT\n",
    ] {
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
    let run = scene.tfoci([
        "mirror",
        "example.invalid/acme/demo",
        "--to",
        "oci-layout:store",
    ]);
    let said = "   Warning NETRC names none, which does not exist\n";
    assert!(run.stderr.contains(said), "{}", run.stderr);
}

#[test]
fn a_trust_file_that_matches_nothing_is_named_where_pins_are_required() {
    check(&[Case {
        label: "a misspelt match",
        given: |author| {
            author.with_release_in_place();
            author.scene.write(
                "trust.toml",
                "[[provider]]\nmatch = \"exmaple.com/acme/*\"\nkeys = [\"acme.asc\"]\n",
            );
        },
        arguments: "push dist --provider example.com/acme/demo --trust trust.toml --require-pinned --to oci-layout:store",
        exit: 2,
        says: r"
error: example.com/acme/demo: no key is pinned

hint: pin its fingerprint or key file for `example.com/acme/demo` in a trust file; or name the key with `--key FILE`, which replaces the key files of a trust file
",
    }]);
}
