//! Settings: files and variables that stand in for options, and who may set what.

use crate::support::author::Author;
use crate::support::scene::Run;
use crate::support::signer::Signer;

const USER: &str = ".config/tfoci/config.toml";
const HERE: &str = "tfoci.toml";
const PROVIDER: &str = "registry.opentofu.org/acme/demo\n";

/// An author with a version in `oci-layout:store`, and `other` as an empty store.
fn author(scene: &[(&str, &str)]) -> Author {
    let author = Author::pushed();
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
    assert!(lists(author(&[(USER, &store)]).scene.line("list")));
    let both = [(USER, other.as_str()), (HERE, &store)];
    assert!(lists(author(&both).scene.line("list")));
    let scene = author(&[(USER, &store), (HERE, &other)]).scene;
    scene.line("list").exits(1);
    let scene = scene.env("TFOCI_STORE", "oci-layout:store");
    assert!(lists(scene.line("list")));
    scene.line("list --from=oci-layout:other").exits(1);
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
        let run = scene.line(arguments).succeeds();
        assert_eq!(run.stderr.matches(HERE).count(), 1, "{}", run.stderr);
        let option = match arguments.starts_with("push") {
            true => "--to",
            false => "--from",
        };
        let run = scene.line(format!("{arguments} {option}=oci-layout:store"));
        run.succeeds().omits(HERE);
    }
    let reference = author.push("").succeeds().stdout;
    let run = scene.line(format!("inspect {reference}"));
    run.succeeds().says("");
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
        let run = scene.line(arguments);
        assert_ne!(run.status, Some(0), "{arguments}");
        run.omits(HERE);
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
        let scene = author(&[(HERE, &text)]).scene;
        let (name, _) = line.split_once(' ').unwrap();
        let run = scene.line("list").exits(2);
        run.says(&format!("error {name} tfoci.toml"));
        scene.line("list --from oci-layout:store").succeeds();
    }
    // The file of the directory above has no effect.
    let scene = author(&[(HERE, "store = \"oci-layout:store\"\n")]).scene;
    let script = "mkdir below && cd below && exec \"$0\" list";
    let program = env!("CARGO_BIN_EXE_tfoci");
    scene.run("sh", ["-c", script, program]).exits(2);
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
        let run = scene.line(format!("{arguments} -vv"));
        run.exits(2).keeps_secrets().says("error tfoci.toml 1");
    }
    std::fs::remove_file(scene.path(HERE)).unwrap();
    scene.write(HERE, "mirror_file = \"secret.json\"\n");
    let run = scene.line("mirror -vv").exits(2).keeps_secrets();
    run.says("Using secret.json error secret.json 1");
}

#[test]
fn paths_in_the_file_of_the_user_are_relative_to_it() {
    let trust = "[[provider]]\nmatch = \"*/*/*\"\nkeys = [\"KEY\"]\n";
    let [theirs, ours] = [Signer::stranger(), Signer::acme()]
        .map(|signer| trust.replace("KEY", &signer.fingerprint()));
    let settings = "trust = \"trust.toml\"\nstore = \"oci-layout:store\"\n";
    let scene = author(&[
        (USER, settings),
        (".config/tfoci/trust.toml", &theirs),
        ("acme.toml", &ours),
    ])
    .scene;
    scene.line("inspect acme/demo").exits(3);
    scene.line("inspect acme/demo --trust acme.toml").succeeds();
    // A mirror file names its trust file itself. A variable comes before it.
    scene.write(
        "mirror.toml",
        "trust = \"acme.toml\"\n[[provider]]\naddress = \"registry.opentofu.org/acme/demo\"\n",
    );
    scene.line("verify --file mirror.toml").succeeds();
    let strict = scene.env("TFOCI_TRUST", ".config/tfoci/trust.toml");
    strict.line("verify --file mirror.toml").exits(3);
    let ca = strict.env("TFOCI_CA_FILE", "none.pem");
    let from = "--from=registry.example.com/{hostname}/{namespace}/{type}";
    let run = ca.line(format!("versions acme/demo {from}")).exits(1);
    run.says("error none.pem");
}

#[test]
fn mirror_reads_the_mirror_file_of_the_settings_if_nothing_is_named() {
    let entry = "[[provider]]\naddress = \"registry.invalid/acme/demo\"\n";
    let scene = author(&[
        (HERE, "mirror_file = \"mirror.toml\"\n"),
        ("mirror.toml", entry),
    ])
    .scene;
    // No name is resolved: the mirror is a directory without this provider.
    for (line, code) in [
        ("mirror --from=filesystem-mirror:other", 2),
        (
            "mirror --from=filesystem-mirror:other --to oci-layout:new",
            1,
        ),
    ] {
        let run = scene.line(line).exits(code);
        run.says("Using mirror.toml error registry.invalid/acme/demo");
    }
    let named = "mirror acme/demo --from=filesystem-mirror:other --to oci-layout:new";
    scene.line(named).exits(1).omits("mirror.toml");
}

#[test]
fn config_says_what_holds_and_where_it_stands() {
    let user = "store = \"oci-layout:other\"\nca_file = \"/etc/ca.pem\"\n";
    let here = "store = \"oci-layout:\\u001b[31mstore\"\n";
    let scene = author(&[(USER, user), (HERE, here)]).scene;
    let scene = scene.env("TFOCI_MIRROR_FILE", "mirror.toml");
    let document = scene.line("config --format json").succeeds().json();
    let found = |at: usize, name: &str| document["settings"][at][name].as_str();
    assert_eq!(found(0, "value"), Some("oci-layout:\u{1b}[31mstore"));
    assert_eq!(found(0, "from"), Some(HERE));
    assert_eq!(found(1, "value"), None);
    assert_eq!(found(2, "value"), Some("/etc/ca.pem"));
    assert!(found(2, "from").unwrap().ends_with(USER));
    assert_eq!(found(4, "from"), Some("TFOCI_MIRROR_FILE"));
    let text = scene.line("config").succeeds().stdout;
    assert!(!text.contains('\u{1b}'), "{text}");
    scene.write(USER, "stor = \"x\"\n");
    scene.line("list").exits(2).says("error stor store");
}
