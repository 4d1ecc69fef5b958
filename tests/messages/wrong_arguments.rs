//! Arguments in the wrong place, misspelt ones, and files and directories that do not exist.

use super::{Case, check};
use crate::support::author::Author;
use crate::support::scene::Scene;
use crate::support::signer::Signer;

const NOTHING: fn(&Author) = |_| {};

#[test]
fn urls_as_stores_and_sources() {
    check(&[
        Case {
            label: "the URL of a registry",
            given: NOTHING,
            arguments: "versions acme/demo --from https://registry.example.net/{namespace}/{type}",
            exit: 2,
            says: r"
error: the repository template `https://registry.example.net/{namespace}/{type}` is wrong
  `https://registry.example.net/example-namespace/example-type` is not a repository: it has a scheme, expected REGISTRY/NAME

hint: leave out the scheme: tfoci speaks HTTPS, and plain HTTP with `--plain-http HOST`. A network mirror is read with `--from network-mirror:URL`, where the command takes it
",
        },
        Case {
            label: "the URL of a registry, as Helm has it",
            given: NOTHING,
            arguments: "mirror acme/demo --to oci://registry.example.net/{namespace}/{type}",
            exit: 2,
            says: r"
error: the repository template `oci://registry.example.net/{namespace}/{type}` is wrong
  `oci://registry.example.net/example-namespace/example-type` is not a repository: it has a scheme, expected REGISTRY/NAME

hint: leave out the scheme: tfoci speaks HTTPS, and plain HTTP with `--plain-http HOST`. A network mirror is read with `--from network-mirror:URL`, where the command takes it
",
        },
        Case {
            label: "the URL of a directory",
            given: NOTHING,
            arguments: "mirror acme/demo --to file:///srv/store",
            exit: 2,
            says: r"
error: the repository template `file:///srv/store` is wrong
  `file:///srv/store` is not a repository: it has a scheme, expected REGISTRY/NAME

hint: leave out the scheme: tfoci speaks HTTPS, and plain HTTP with `--plain-http HOST`. A network mirror is read with `--from network-mirror:URL`, where the command takes it
",
        },
        Case {
            label: "the URL of a filesystem mirror to copy",
            given: NOTHING,
            arguments: "mirror acme/demo --from file:///srv/out --to oci-layout:store",
            exit: 2,
            says: r"
error: `file:///srv/out` is not a source
  expected network-mirror:URL or filesystem-mirror:DIR

hint: stores are copied with `tfoci copy`
",
        },
        Case {
            label: "the URL of a network mirror",
            given: NOTHING,
            arguments: "mirror acme/demo --from https://mirror.example.net/providers/ --to oci-layout:store",
            exit: 2,
            says: r"
error: `https://mirror.example.net/providers/` is not a source
  expected network-mirror:URL or filesystem-mirror:DIR

hint: a network mirror is written `network-mirror:https://mirror.example.net/providers/`; stores are copied with `tfoci copy`
",
        },
    ]);
}

/// The place of a disk that is not mounted is not filled instead of the disk.
#[test]
fn a_destination_of_which_the_directory_above_is_missing() {
    for command in [
        "push dist --provider acme/demo --key acme.asc --to",
        "copy --from oci-layout:store --to",
        "mirror example.com/acme/demo --to",
    ] {
        let author = Author::new();
        author.with_pushed();
        let to = "oci-layout:disk/mirror";
        let arguments: Vec<&str> = command.split(' ').chain([to]).collect();
        let run = author.tfoci(&arguments).exits(1).without_result();
        let said = run.stderr.find("cannot create").unwrap();
        assert_eq!(
            &run.stderr[said..],
            "cannot create the directory disk/mirror\n  expected that the directory above it exists\n\nhint: if it is the place of a disk, mount the disk; otherwise create the directory\n"
        );
        assert!(!author.scene.path("disk").exists());
        std::fs::create_dir(author.scene.path("disk")).unwrap();
        if !command.starts_with("mirror") {
            author.tfoci(&arguments).succeeds();
        }
    }
}

#[test]
fn arguments_in_the_wrong_place() {
    check(&[
        Case {
            label: "versions of one version",
            given: NOTHING,
            arguments: "versions acme/demo@1.0.0 --from oci-layout:store",
            exit: 2,
            says: r"
error: `versions` takes an address without a version
  expected registry.opentofu.org/acme/demo
  received acme/demo@1.0.0

hint: did you mean `tfoci inspect acme/demo@1.0.0`?
",
        },
        Case {
            label: "versions of a constraint",
            given: NOTHING,
            arguments: "versions acme/demo@>=1.0.0 --from oci-layout:store",
            exit: 2,
            says: r"
error: `versions` takes an address without a version
  expected registry.opentofu.org/acme/demo
  received acme/demo@>=1.0.0
",
        },
        Case {
            label: "a provider beside a mirror file with `to`",
            given: |author| {
                let file = "[[provider]]\naddress = \"example.com/acme/demo\"\nto = [\"oci-layout:store\"]\n";
                author.scene.write("m.toml", file);
            },
            arguments: "mirror example.com/acme/null --file m.toml",
            exit: 2,
            says: r"
error: nothing says where to mirror example.com/acme/null
  the `to` of m.toml is for the providers of that file only

hint: name the store with `--to STORE`, or add the provider to m.toml
",
        },
        Case {
            label: "a template without a type",
            given: NOTHING,
            arguments: "versions acme/demo --from registry.example.net/tofu/{namespace}",
            exit: 2,
            says: r"
error: the template `registry.example.net/tofu/{namespace}` has no `{type}`
  `registry.opentofu.org/acme/demo` would share its repository with every other type, and clients refuse such a template

hint: add `{type}` to the template; or, for this one repository, `--exact-repository`
",
        },
    ]);
}

#[test]
fn an_artifact_of_another_provider_is_read_with_a_warning() {
    let author = Author::new();
    author.with_release_in_place();
    let exact = [
        "--exact-repository",
        "--provider",
        "other.example/acme/demo",
    ];
    author.push(&exact).succeeds();
    const WARNING: &str = "   Warning registry.opentofu.org/acme/demo 1.0.0: this artifact was made for other.example/acme/demo; the address of the store may give both providers one repository\n";
    let run = author.tfoci(&[
        "inspect",
        "acme/demo@1.0.0",
        "--from",
        "oci-layout:store",
        "--exact-repository",
    ]);
    run.succeeds().says(WARNING);
    let arguments = "install acme/demo --from oci-layout:store --exact-repository --into out --platform linux_amd64 --dry-run";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let run = author.tfoci(&arguments).succeeds();
    assert!(run.stderr.contains(WARNING), "{}", run.stderr);
    let arguments = "copy acme/demo --from oci-layout:store --to oci-layout:other --exact-repository --rebuild-index --dry-run";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let run = author.tfoci(&arguments).succeeds();
    assert!(run.stderr.contains(WARNING), "{}", run.stderr);
}

/// Both providers may be by one author, and no signature covers the address.
#[test]
fn an_artifact_of_another_provider_is_refused_where_keys_are_required() {
    let author = Author::new();
    author.with_release_in_place();
    let exact = [
        "--exact-repository",
        "--provider",
        "other.example/acme/demo",
    ];
    author.push(&exact).succeeds();
    let pin = Signer::acme().fingerprint();
    let entry = "[[provider]]\nmatch = \"*/*/*\"\n";
    author.scene.write("any.toml", entry);
    let pinned = format!("{entry}keys = [\"{pin}\"]\n");
    author.scene.write("pinned.toml", pinned);
    for command in [
        "inspect acme/demo@1.0.0",
        "versions acme/demo --all",
        "install acme/demo --into out --platform linux_amd64",
        "lock acme/demo",
        "site public acme/demo",
        "copy acme/demo --to oci-layout:other --rebuild-index",
        "copy acme/demo --to oci-layout:other",
    ] {
        for trust in [
            "--key acme.asc",
            "--key acme.asc --require-pinned",
            "--trust pinned.toml",
        ] {
            let arguments = format!("{command} {trust} --from oci-layout:store --exact-repository");
            let arguments: Vec<&str> = arguments.split(' ').collect();
            let run = author.tfoci(&arguments).exits(3);
            let told = run.stderr + &run.stdout;
            assert!(
                told.contains("the repository has this version of another provider"),
                "{command}: {told}"
            );
            assert!(
                !told.contains("this artifact was made for"),
                "{command}: {told}"
            );
        }
    }
    let arguments =
        "inspect acme/demo@1.0.0 --trust any.toml --from oci-layout:store --exact-repository";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let run = author.tfoci(&arguments).succeeds();
    assert!(
        run.stderr.contains("this artifact was made for"),
        "{}",
        run.stderr
    );
}

#[test]
fn misspelt_stores_and_sources() {
    check(&[
        Case {
            label: "a network mirror",
            given: NOTHING,
            arguments: "mirror acme/demo --from netwrok-mirror:https://m.example/ --to oci-layout:store",
            exit: 2,
            says: r"
error: `netwrok-mirror:https://m.example/` is not a source
  expected network-mirror:URL or filesystem-mirror:DIR

hint: stores are copied with `tfoci copy`
",
        },
        Case {
            label: "a symbol without braces",
            given: NOTHING,
            arguments: "versions acme/demo --from h.example/$hostname/$type",
            exit: 2,
            says: r"
error: the repository template `h.example/$hostname/$type` is wrong
  `h.example/$hostname/$type` is not a repository: `$hostname` has `$`, expected a-z, 0-9 and single separators . _ __ -

hint: a symbol has braces: write `${hostname}`, in single quotes
",
        },
    ]);
}

#[test]
fn files_and_directories_that_options_name() {
    check(&[
        Case {
            label: "a file of credentials",
            given: NOTHING,
            arguments: "versions acme/demo --from example.com/acme/demo --exact-repository --authfile none.json",
            exit: 1,
            says: r"
error: cannot read none.json
  No such file or directory (os error 2)
  named by --authfile
",
        },
        Case {
            label: "a CLI configuration",
            given: NOTHING,
            arguments: "versions acme/demo --from example.com/acme/demo --exact-repository --cli-config none.rc",
            exit: 1,
            says: r"
error: cannot read none.rc
  No such file or directory (os error 2)
  named by --cli-config
",
        },
        Case {
            label: "a CLI configuration to check",
            given: NOTHING,
            arguments: "cli-config --check --cli-config none.rc",
            exit: 1,
            says: r"
error: cannot read none.rc
  No such file or directory (os error 2)
  named by --cli-config
",
        },
        Case {
            label: "a directory of a configuration",
            given: NOTHING,
            arguments: "lock --chdir none",
            exit: 1,
            says: r"
error: cannot read none
  No such file or directory (os error 2)
  named by --chdir
",
        },
    ]);
    let scene = Scene::new();
    let printed = scene.tfoci(["--version"]).succeeds().stdout;
    assert_eq!(scene.tfoci(["version"]).succeeds().stdout, printed);
}

#[test]
fn a_trust_file_that_is_for_others_is_named_by_push() {
    let author = Author::with_release();
    let entry = "[[provider]]\nmatch = \"other.example/*/*\"\nkeys = [\"acme.asc\"]\n";
    author.scene.write("trust.toml", entry);
    let arguments = "push dist --provider acme/demo --to oci-layout:other --trust trust.toml";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let said = author.tfoci(&arguments).exits(3).stderr;
    let warning = "   Warning no entry of trust.toml matches registry.opentofu.org/acme/demo: no key is pinned for it\n";
    assert!(said.contains(warning), "{said}");
}
