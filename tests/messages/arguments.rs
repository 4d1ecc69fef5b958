//! Arguments that cannot be meant.

use super::{Case, check};
use crate::support::author::Author;

const NOTHING: fn(&Author) = |_| {};

#[test]
fn addresses() {
    check(&[
        Case {
            label: "a type alone",
            given: NOTHING,
            arguments: "push dist --provider demo --to oci-layout:store",
            exit: 2,
            says: r"
error: `demo` is a type without a host and namespace
  expected HOST/NAMESPACE/demo, such as example.com/acme/demo
",
        },
        Case {
            label: "too many parts",
            given: NOTHING,
            arguments: "push dist --provider a/b/c/d --to oci-layout:store",
            exit: 2,
            says: r"
error: `a/b/c/d` is not a provider address
  expected HOSTNAME/NAMESPACE/TYPE
",
        },
        Case {
            label: "a repository's name",
            given: NOTHING,
            arguments: "push dist --provider acme/terraform-provider-demo --to oci-layout:store",
            exit: 2,
            says: r"
error: the provider type `terraform-provider-demo` begins with `terraform-`
  expected demo
",
        },
        Case {
            label: "a legacy address",
            given: NOTHING,
            arguments: "push dist --provider=-/demo --to oci-layout:store",
            exit: 2,
            says: r"
error: `-/demo` is a legacy address
  expected the namespace that the provider has today
",
        },
        Case {
            label: "a built-in provider",
            given: NOTHING,
            arguments: "push dist --provider terraform.io/builtin/terraform --to oci-layout:store",
            exit: 2,
            says: r"
error: `terraform.io/builtin/terraform` is built into the client and never installed
",
        },
        Case {
            label: "an underscore",
            given: NOTHING,
            arguments: "push dist --provider acme_inc/demo --to oci-layout:store",
            exit: 2,
            says: r"
error: `acme_inc` is not a namespace: it has an underscore
  expected letters, digits and inner dashes
",
        },
        Case {
            label: "a URL",
            given: NOTHING,
            arguments: "push dist --provider https://example.com/acme/demo --to oci-layout:store",
            exit: 2,
            says: r"
error: `https://example.com/acme/demo` is not a provider address
  expected HOSTNAME/NAMESPACE/TYPE

hint: write it without `https://`: `example.com/acme/demo`
",
        },
        Case {
            label: "punycode",
            given: NOTHING,
            arguments: "push dist --provider xn--bcher-kva.example/acme/demo --to oci-layout:store",
            exit: 2,
            says: r"
error: `xn--bcher-kva.example` is not a host name: it is written in punycode
  expected Unicode
",
        },
        Case {
            label: "a default host that is none",
            given: NOTHING,
            arguments: "push dist --provider acme/demo --default-host a..b --to oci-layout:store",
            exit: 2,
            says: r"
error: invalid value 'a..b' for '--default-host <HOST>': `a..b` is not a host name: it has an empty label
  expected something before and after every dot

For more information, try '--help'.
",
        },
        Case {
            label: "letters that OCI does not know",
            given: NOTHING,
            arguments: "push dist --provider bücher/demo --to oci-layout:store",
            exit: 1,
            says: r"
error: `registry.opentofu.org/bücher/demo` has characters that no OCI repository can have in its name
  expected ASCII, and one or two underscores only between letters or digits
",
        },
        Case {
            label: "control characters",
            given: NOTHING,
            arguments: "push dist --provider acme/de\u{1b}[2Jmo --to oci-layout:store",
            exit: 2,
            says: r"
error: `de�[2Jmo` is not a provider type: it has characters that are not allowed
  expected letters, digits and inner dashes
",
        },
    ]);
}

#[test]
fn versions() {
    check(&[
        Case {
            label: "nothing after the @",
            given: NOTHING,
            arguments: "push dist --provider acme/demo@ --to oci-layout:store",
            exit: 2,
            says: r"
error: `acme/demo@` has nothing after the `@`
  expected a version or constraint, or no `@`
",
        },
        Case {
            label: "a constraint where one version is needed",
            given: NOTHING,
            arguments: "push dist --provider acme/demo@>=1.0 --to oci-layout:store",
            exit: 2,
            says: r"
error: `acme/demo@>=1.0` does not name one version
  expected ADDR@VERSION
",
        },
        Case {
            label: "latest",
            given: NOTHING,
            arguments: "install acme/demo@latest --from oci-layout:store --into out",
            exit: 2,
            says: r"
error: `latest` is not a version constraint: `latest` is not a version
  expected no constraint, for the newest release
",
        },
        Case {
            label: "a v",
            given: NOTHING,
            arguments: "push dist --provider acme/demo@v1.0.0 --to oci-layout:store",
            exit: 2,
            says: r"
error: `v1.0.0` is not a version constraint: its version begins with `v`
  expected it without the `v`

hint: did you mean `1.0.0`?
",
        },
        Case {
            label: "a platform that is none",
            given: NOTHING,
            arguments: "push dist --provider acme/demo --platform linux --to oci-layout:store",
            exit: 2,
            says: r"
error: invalid value 'linux' for '--platform <OS_ARCH>': `linux` is not a platform: expected OS_ARCH, such as `linux_amd64`

For more information, try '--help'.
",
        },
        Case {
            label: "a platform that is none, to install",
            given: NOTHING,
            arguments: "install acme/demo --platform linux --from oci-layout:store --into out",
            exit: 2,
            says: r"
error: `linux` is not a platform: expected OS_ARCH, such as `linux_amd64`
",
        },
    ]);
}

#[test]
fn stores() {
    check(&[
        Case {
            label: "no prefix",
            given: NOTHING,
            arguments: "push dist --provider acme/demo --to mirror",
            exit: 2,
            says: r"
error: the repository template `mirror` is wrong
  `mirror` is not a repository: it has no slash, expected REGISTRY/NAME

hint: a directory is written `oci-layout:DIR`, a registry `REGISTRY/REPOSITORY`
",
        },
        Case {
            label: "a template that a shell has emptied",
            given: NOTHING,
            arguments: "push dist --provider acme/demo --to registry.example.net/providers//",
            exit: 2,
            says: r"
error: the repository template `registry.example.net/providers//` is wrong
  `registry.example.net/providers//` is not a repository: it has an empty component

hint: put the template in single quotes: between double quotes a shell replaces `${…}` by nothing. `{namespace}` needs no quotes
",
        },
        Case {
            label: "one repository of another name",
            given: NOTHING,
            arguments: "push dist --provider acme/demo --to registry.example.net/providers/other",
            exit: 2,
            says: r"
error: `registry.example.net/providers/other` names one repository, and not that of `registry.opentofu.org/acme/demo`

hint: put `{hostname}`, `{namespace}` and `{type}` into the address; or, for this one repository, add `--exact-repository`
",
        },
        Case {
            label: "a directory without its prefix",
            given: |author| {
                author.scene.write("dist/sub/file", "");
            },
            arguments: "push dist --provider acme/demo --to dist/sub",
            exit: 2,
            says: r"
error: `dist/sub` names one repository, and not that of `registry.opentofu.org/acme/demo`

hint: did you mean `oci-layout:dist/sub`?
",
        },
        Case {
            label: "a directory to serve without its prefix",
            given: NOTHING,
            arguments: "serve --from media/disk --plain-http",
            exit: 2,
            says: r"
error: media/disk names one repository for several providers

hint: a directory is written `oci-layout:DIR`; the template of a registry has `{hostname}`, `{namespace}` and `{type}`
",
        },
        Case {
            label: "a template that does not tell providers apart",
            given: NOTHING,
            arguments: "install acme/demo acme/other --from registry.example.net/acme/{namespace} --into out",
            exit: 2,
            says: r"
error: the repository template `registry.example.net/acme/{namespace}` is wrong
  it does not refer to `type`, in which the providers differ

hint: put `{hostname}`, `{namespace}` and `{type}` into the address; or name only providers that it tells apart, such as `'example.com/*/*'` without `{hostname}`
",
        },
        Case {
            label: "a template whose symbols a shell replaced by nothing",
            given: NOTHING,
            arguments: "install acme/demo acme/other --from registry.example.net/acme/// --into out",
            exit: 2,
            says: r"
error: the repository template `registry.example.net/acme///` is wrong
  it does not refer to `type`, in which the providers differ

hint: put the template in single quotes: between double quotes a shell replaces `${…}` by nothing. `{namespace}` needs no quotes
",
        },
        Case {
            label: "no directory",
            given: NOTHING,
            arguments: "push dist --provider acme/demo --to oci-layout:",
            exit: 2,
            says: r"
error: `oci-layout:` names no directory
  expected oci-layout:DIR
",
        },
        Case {
            label: "a directory as a URL",
            given: NOTHING,
            arguments: "push dist --provider acme/demo --to oci-layout://store/a",
            exit: 2,
            says: r"
error: `oci-layout://store/a` is written as a URL
  expected oci-layout:store/a or oci-layout:/store/a
",
        },
        Case {
            label: "a template",
            given: NOTHING,
            arguments: "push dist --provider acme/demo --to oci-layout:store/${type}",
            exit: 2,
            says: r"
error: `oci-layout:store/${type}` holds the template symbol `${`: HOSTNAME/NAMESPACE/TYPE is appended to a directory by itself
",
        },
        Case {
            label: "pushing below a layout",
            given: |author| {
                author.scene.write("store/oci-layout", "{}");
            },
            arguments: "push dist --provider acme/demo --to oci-layout:store",
            exit: 2,
            says: r"
error: registry.opentofu.org/acme/demo (oci-layout:store): store is itself an OCI image layout
  expected a directory of layouts

hint: for the provider that is in it, name the provider and add `--exact-repository`
",
        },
        Case {
            label: "reading below a layout",
            given: |author| {
                author.scene.write("store/oci-layout", "{}");
            },
            arguments: "versions acme/demo --from oci-layout:store",
            exit: 2,
            says: r"
error: store is itself an OCI image layout
  expected a directory of layouts

hint: for the provider that is in it, name the provider and add `--exact-repository`
",
        },
        Case {
            label: "everything of one repository",
            given: |author| {
                author.scene.write("store/oci-layout", "{}");
            },
            arguments: "install --from oci-layout:store --exact-repository --into out",
            exit: 2,
            says: r"
error: no provider is named, and `oci-layout:store` cannot list those that it has

hint: a directory is written `oci-layout:DIR`. A template whose providers can be listed has `{namespace}` and `{type}`, and no other expressions; else name the provider, such as `acme/demo@1.0.0`
",
        },
        Case {
            label: "an annotation without a value",
            given: NOTHING,
            arguments: "push dist --provider acme/demo --annotation colour --to oci-layout:store",
            exit: 2,
            says: r"
error: `colour` is not an annotation that can be set
  expected KEY=VALUE
",
        },
        Case {
            label: "an annotation of the artifact's",
            given: NOTHING,
            arguments: "push dist --provider acme/demo --annotation org.tfoci.package=x --to oci-layout:store",
            exit: 2,
            says: r"
error: the annotation `org.tfoci.package` is tfoci's own

hint: choose another key; registries link a package to its sources by `org.opencontainers.image.source`
",
        },
    ]);
}

#[test]
fn names_that_a_registry_cannot_have() {
    check(&[
        Case {
            label: "Docker Hub has two levels",
            given: NOTHING,
            arguments: "push dist --provider acme/demo --to docker.io/acme/{namespace}/{type}",
            exit: 2,
            says: r"
error: the registry takes no name with so many levels
  expected docker.io/NAMESPACE/NAME
  received docker.io/acme/acme/demo

hint: join what tells providers apart with underscores, such as `{namespace}_{type}`
",
        },
        Case {
            label: "a deeper name for this provider only",
            given: NOTHING,
            arguments: r#"versions acme/demo --from docker.io/acme/%{if(namespace=="acme")}a/b%{endif}${type}"#,
            exit: 1,
            says: r"
error: the registry takes no name with so many levels
  expected docker.io/NAMESPACE/NAME
  received docker.io/acme/a/bdemo

hint: join what tells providers apart with underscores, such as `{namespace}_{type}`
",
        },
        Case {
            label: "Google's project and repository come first",
            given: NOTHING,
            arguments: "versions acme/demo --from europe-docker.pkg.dev/acme/demo",
            exit: 2,
            says: r"
error: the registry takes no name with so few levels
  expected europe-docker.pkg.dev/PROJECT/REPOSITORY/NAME, or deeper
  received europe-docker.pkg.dev/acme/demo

hint: add the levels that are missing
",
        },
    ]);
}

#[test]
fn a_credential_helper_that_is_not_installed() {
    check(&[Case {
        label: "named for the registry",
        given: |author| {
            let file = r#"{"credHelpers": {"localhost:1": "none"}}"#;
            author.scene.write(".docker/config.json", file);
        },
        arguments: "logout localhost:1",
        exit: 1,
        says: r"
error: docker-credential-none cannot be started
  No such file or directory (os error 2)

hint: install docker-credential-none, or take it out of the file that names it
",
    }]);
}
