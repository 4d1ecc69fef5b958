//! Settings: files and variables that stand in for options, and who may set what.

use serde_json::Value;

use crate::support::author::Author;
use crate::support::scene::Run;
use crate::support::signer::Signer;

const USER: &str = ".config/tfoci/config.toml";
const HERE: &str = "tfoci.toml";
const PROVIDER: &str = "registry.opentofu.org/acme/demo\n";

/// An author with a version in `oci-layout:store`, and `other` as an empty store.
fn author(scene: &[(&str, &str)]) -> Author {
    let author = Author::new();
    author.with_pushed();
    std::fs::create_dir(author.scene.path("other")).unwrap();
    for (file, text) in scene {
        author.scene.write(file, text);
    }
    author
}

fn lists(run: Run) -> bool {
    run.succeeds().stdout == PROVIDER
}

#[test]
fn an_option_comes_before_a_variable_and_that_before_the_files() {
    let [store, other] = ["store", "other"].map(|name| format!("store = \"oci-layout:{name}\"\n"));
    let list = ["list"];
    let from = |name: &str| format!("--from=oci-layout:{name}");
    assert!(lists(author(&[(USER, &store)]).scene.tfoci(list)));
    let both = [(USER, other.as_str()), (HERE, &store)];
    assert!(lists(author(&both).scene.tfoci(list)));
    let both = [(USER, store.as_str()), (HERE, &other)];
    let mut author = author(&both);
    author.scene.tfoci(list).exits(1);
    author.scene = author.scene.env("TFOCI_STORE", "oci-layout:store");
    assert!(lists(author.scene.tfoci(list)));
    author.scene.tfoci(["list", &from("other")]).exits(1);
}

/// Without an option for the store, in a directory that names it.
#[test]
fn commands_take_the_store_of_the_settings() {
    let author = author(&[(HERE, "store = \"oci-layout:store\"\n")]);
    let scene = &author.scene;
    for arguments in [
        "list",
        "versions acme/demo",
        "inspect acme/demo",
        "resolve acme/demo",
        "verify",
        "site public",
        "push dist --provider acme/demo --key acme.asc",
    ] {
        let run = scene.tfoci(arguments.split(' ')).succeeds();
        assert_eq!(run.stderr.matches(HERE).count(), 1, "{}", run.stderr);
        let named: Vec<&str> = arguments.split(' ').collect();
        let option = match named.contains(&"push") {
            true => "--to=oci-layout:store",
            false => "--from=oci-layout:store",
        };
        let run = scene.tfoci(named.into_iter().chain([option])).succeeds();
        assert!(!run.stderr.contains(HERE), "{}", run.stderr);
    }
    let reference = author.push("").succeeds().stdout;
    scene
        .tfoci(["inspect", reference.trim()])
        .succeeds()
        .says("");
}

/// A pull request that writes `tfoci.toml` does not move where a client looks, nor where another command writes what it reads.
#[test]
fn the_store_of_the_settings_is_not_for_clients_and_not_for_copies() {
    let author = author(&[(HERE, "store = \"oci-layout:store\"\ntrust = \"theirs\"\n")]);
    let scene = &author.scene;
    for arguments in [
        "lock acme/demo --from oci-layout:other",
        "install acme/demo --from oci-layout:other --into mirror",
        "install acme/demo --into mirror",
        "copy acme/demo --to oci-layout:new",
    ] {
        let run = scene.tfoci(arguments.split(' '));
        assert_ne!(run.status, Some(0), "{arguments}");
        assert!(!run.stderr.contains(HERE), "{}", run.stderr);
    }
    assert!(!scene.path("mirror").exists() && !scene.path("new").exists());
}

#[test]
fn a_directory_sets_nothing_but_stores() {
    for line in [
        "trust = \"trust.toml\"",
        "ca_file = \"ca.pem\"",
        "default_host = \"a.example\"",
    ] {
        let text = format!("store = \"oci-layout:store\"\n{line}\n");
        let author = author(&[(HERE, &text)]);
        let name = line.split(' ').next().unwrap();
        let run = author.scene.tfoci(["list"]).exits(2);
        run.says(&format!("error {name} tfoci.toml"));
        author
            .scene
            .tfoci(["list", "--from", "oci-layout:store"])
            .succeeds();
    }
    // The file of the directory above has no effect.
    let author = author(&[(HERE, "store = \"oci-layout:store\"\n")]);
    std::fs::create_dir(author.scene.path("below")).unwrap();
    let mut below = author.scene.command(env!("CARGO_BIN_EXE_tfoci"));
    let output = below.arg("list").current_dir(author.scene.path("below"));
    assert_eq!(output.output().unwrap().status.code(), Some(2));
}

/// A pull request can make `tfoci.toml` a link to a file with passwords, or name such a file in it.
#[test]
#[cfg(unix)]
fn a_directory_shows_no_text_of_other_files() {
    let secret = "{\"auths\": {\"a.example\": {\"auth\": \"hunter2\"}}}\n";
    let author = author(&[("secret.json", secret)]);
    let scene = &author.scene;
    std::os::unix::fs::symlink("secret.json", scene.path(HERE)).unwrap();
    for arguments in ["list", "config", "mirror"] {
        let run = scene.tfoci([arguments, "-vv"]);
        run.exits(2).keeps_secrets().says("error tfoci.toml 1");
    }
    std::fs::remove_file(scene.path(HERE)).unwrap();
    scene.write(HERE, "mirror_file = \"secret.json\"\n");
    let run = scene.tfoci(["mirror", "-vv"]).exits(2).keeps_secrets();
    run.says("Using secret.json error secret.json 1");
}

#[test]
fn paths_in_the_file_of_the_user_are_relative_to_it() {
    let trust = "[[provider]]\nmatch = \"*/*/*\"\nkeys = [\"KEY\"]\n";
    let author = author(&[
        (
            USER,
            "trust = \"trust.toml\"\nstore = \"oci-layout:store\"\n",
        ),
        (
            ".config/tfoci/trust.toml",
            &trust.replace("KEY", &Signer::stranger().fingerprint()),
        ),
        (
            "acme.toml",
            &trust.replace("KEY", &Signer::acme().fingerprint()),
        ),
    ]);
    let inspect = ["inspect", "acme/demo"];
    author.scene.tfoci(inspect).exits(3);
    let named = inspect.iter().chain(&["--trust", "acme.toml"]);
    author.scene.tfoci(named).succeeds();
    // A mirror file names its trust file itself. A variable comes before it.
    author.scene.write(
        "mirror.toml",
        "trust = \"acme.toml\"\n[[provider]]\naddress = \"registry.opentofu.org/acme/demo\"\n",
    );
    let verify = ["verify", "--file", "mirror.toml"];
    author.scene.tfoci(verify).succeeds();
    let strict = Author {
        scene: author.scene.env("TFOCI_TRUST", ".config/tfoci/trust.toml"),
    };
    strict.scene.tfoci(verify).exits(3);
    let ca = strict.scene.env("TFOCI_CA_FILE", "none.pem");
    let from = "--from=registry.example.com/{hostname}/{namespace}/{type}";
    ca.tfoci(["versions", "acme/demo", from])
        .exits(1)
        .says("error none.pem");
}

#[test]
fn mirror_reads_the_mirror_file_of_the_settings_if_nothing_is_named() {
    let entry = "[[provider]]\naddress = \"registry.invalid/acme/demo\"\n";
    let author = author(&[
        (HERE, "mirror_file = \"mirror.toml\"\n"),
        ("mirror.toml", entry),
    ]);
    // No name is resolved: the mirror is a directory without this provider.
    let from = "--from=filesystem-mirror:other";
    author
        .scene
        .tfoci(["mirror", from])
        .exits(2)
        .says("Using mirror.toml error registry.invalid/acme/demo");
    let run = author
        .scene
        .tfoci(["mirror", from, "--to", "oci-layout:new"]);
    run.exits(1)
        .says("Using mirror.toml error registry.invalid/acme/demo");
    let named = author
        .scene
        .tfoci(["mirror", "acme/demo", from, "--to", "oci-layout:new"]);
    assert!(!named.exits(1).stderr.contains("mirror.toml"));
}

#[test]
fn config_says_what_holds_and_where_it_stands() {
    let author = author(&[
        (
            USER,
            "store = \"oci-layout:other\"\nca_file = \"/etc/ca.pem\"\n",
        ),
        (HERE, "store = \"oci-layout:\\u001b[31mstore\"\n"),
    ]);
    let scene = author.scene.env("TFOCI_MIRROR_FILE", "mirror.toml");
    let run = scene.tfoci(["config", "--format", "json"]).succeeds();
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    let found = |at: usize, name: &str| document["settings"][at][name].as_str();
    assert_eq!(found(0, "value"), Some("oci-layout:\u{1b}[31mstore"));
    assert_eq!(found(0, "from"), Some(HERE));
    assert_eq!(found(1, "value"), None);
    assert_eq!(found(2, "value"), Some("/etc/ca.pem"));
    assert!(found(2, "from").unwrap().ends_with(USER));
    assert_eq!(found(4, "from"), Some("TFOCI_MIRROR_FILE"));
    let text = scene.tfoci(["config"]).succeeds().stdout;
    assert!(!text.contains('\u{1b}'), "{text}");
    scene.write(USER, "stor = \"x\"\n");
    scene.tfoci(["list"]).exits(2).says("error stor store");
}
