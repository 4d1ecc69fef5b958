//! The block list of the trust file, in every command that writes, reads or serves a store.

use std::fs;

use crate::serve::stores::Store;
use crate::support::author::{Author, steady};
use crate::support::origin::{Origin, Provider};
use crate::support::release::ReleaseFolder;
use crate::support::scene::Run;
use crate::support::signer::Signer;
use tfoci::platform::Platform;

const VERSIONS: [&str; 5] = ["1.0.0", "1.1.0-beta.1", "1.1.0", "1.2.0+b.1", "2.0.0"];
/// Those that the list denies.
const DENIED: [&str; 3] = ["1.1.0-beta.1", "1.1.0", "1.2.0+b.1"];
const TRUST: [&str; 2] = ["--trust", "trust.toml"];

/// The trust file: the key of the author comes first, and then the list.
fn trust(pattern: &str, versions: &str, until: &str) -> String {
    let key = Signer::acme().fingerprint();
    format!(
        "[[provider]]\nmatch = \"*/*/*\"\nkeys = [\"{key}\"]\n\n[[deny]]\nmatch = \"other.example/*/*\"\nreason = \"another\"\n\n[[deny]]\nmatch = \"{pattern}\"\nversions = \"{versions}\"\nreason = \"CVE-2026-1\"\n{until}"
    )
}

/// A store with all versions, and the trust file that denies some.
fn filled() -> Author {
    let author = Author::new();
    for version in VERSIONS {
        let folder = ReleaseFolder::new("demo", version);
        let folder = folder.platform(&Platform::current().to_string());
        folder.write(&author.scene.path(format!("dist-{version}")));
        push(&author, version, &["--key", "acme.asc"]).succeeds();
    }
    let text = trust(
        "registry.opentofu.org/acme/demo",
        ">= 1.1.0-alpha, <= 1.2.0",
        "",
    );
    author.scene.write("trust.toml", text);
    author
}

fn push(author: &Author, version: &str, more: &[&str]) -> Run {
    let folder = format!("dist-{version}");
    let push = format!("push {folder} --provider acme/demo");
    let to = "--to oci-layout:store";
    author.line(format!("{push} {to} {}", more.join(" ")))
}

/// Runs a command with the trust file.
fn with_list(author: &Author, arguments: &str) -> Run {
    let words = arguments.split(' ').chain(TRUST);
    author.tfoci(&words.collect::<Vec<_>>())
}

/// The versions in a store.
fn versions(author: &Author, store: &str) -> Vec<String> {
    let run = author.tfoci(&["versions", "acme/demo", "--from", store]);
    run.succeeds().stdout.lines().map(str::to_owned).collect()
}

/// Asserts that a run names each denied version, the reason and the line.
#[track_caller]
fn says_why(run: &Run) {
    for fact in ["CVE-2026-1", "trust.toml, line 10"].iter().chain(&DENIED) {
        assert!(run.stderr.contains(fact), "{fact}: {}", run.stderr);
    }
    assert!(!run.stderr.contains("another"), "{}", run.stderr);
}

#[test]
fn push_refuses_them() {
    let author = filled();
    for (version, status) in VERSIONS.map(|one| (one, if DENIED.contains(&one) { 3 } else { 0 })) {
        let run = push(
            &author,
            version,
            &[&TRUST[..], &["--key", "acme.asc"]].concat(),
        );
        assert_eq!(run.status, Some(status), "{version} {}", run.stderr);
    }
}

#[test]
fn copy_leaves_them_out_and_fails_for_those_that_are_named() {
    let author = filled();
    for (to, from) in [
        ("oci-layout:other", "oci-layout:store"),
        ("bundle:all.tar", "oci-layout:store"),
        ("oci-layout:third", "bundle:all.tar"),
    ] {
        let copy = format!("copy --from {from} --to {to}");
        let run = with_list(&author, &copy).succeeds();
        if from != "bundle:all.tar" {
            says_why(&run);
        }
        assert_eq!(versions(&author, to), ["1.0.0", "2.0.0"]);
    }
    for version in DENIED {
        let copy = format!("copy acme/demo@{version} --from oci-layout:store --to oci-layout:new");
        let run = with_list(&author, &copy).exits(3);
        assert!(run.stderr.contains("CVE-2026-1"), "{}", run.stderr);
        assert!(!author.scene.path("new").exists());
    }
    let rebuild = "copy --from oci-layout:store --to oci-layout:new --rebuild-index";
    says_why(&with_list(&author, rebuild).succeeds());
    assert_eq!(versions(&author, "oci-layout:new"), ["1.0.0", "2.0.0"]);
}

/// An entry that has ended has no effect. One that ends today has.
#[test]
fn an_entry_counts_until_its_day() {
    let author = filled();
    for (until, count) in [("until = 2026-01-31\n", 5), ("until = 2999-12-31\n", 2)] {
        let pattern = "registry.opentofu.org/acme/*";
        let text = trust(pattern, ">= 1.1.0-alpha, <= 1.2.0", until);
        author.scene.write("trust.toml", text);
        let to = format!("oci-layout:until-{count}");
        let copy = format!("copy --from oci-layout:store --to {to}");
        with_list(&author, &copy).succeeds();
        assert_eq!(versions(&author, &to).len(), count);
    }
    for wrong in [
        "until = \"2026-01-31\"\n",
        "until = 2026-01-31T00:00:00Z\n",
        "more = 1\n",
    ] {
        let text = trust("acme.example/*/*", "1.0.0", wrong);
        author.scene.write("trust.toml", text);
        author.tfoci(&["trust", "check", "trust.toml"]).exits(2);
    }
}

/// What the entries of providers require stays: an unsigned version is refused although another one is denied.
#[test]
fn the_list_changes_nothing_else() {
    let author = filled();
    let other = trust("registry.opentofu.org/acme/demo", "1.0.0", "");
    let other = other.replace(
        &Signer::acme().fingerprint(),
        &Signer::stranger().fingerprint(),
    );
    author.scene.write("trust.toml", other);
    let run = with_list(&author, "copy --from oci-layout:store --to oci-layout:new").exits(3);
    assert!(run.stderr.contains("CVE-2026-1"), "{}", run.stderr);
    let alone = "[[deny]]\nmatch = \"*/*/*\"\nversions = \"< 2\"\nreason = \"old\"\n";
    author.scene.write("trust.toml", alone);
    with_list(&author, "copy --from oci-layout:store --to oci-layout:new").succeeds();
    assert_eq!(versions(&author, "oci-layout:new"), ["2.0.0"]);
}

#[test]
fn install_and_lock_select_another_version() {
    let author = filled();
    let text = trust("registry.opentofu.org/acme/demo", "> 1.0.0", "");
    author.scene.write("trust.toml", text);
    let into = "install acme/demo --from oci-layout:store --into packages --platform all";
    let run = with_list(&author, into).succeeds();
    assert!(run.stderr.contains("CVE-2026-1"), "{}", run.stderr);
    let installed = author
        .scene
        .path("packages/registry.opentofu.org/acme/demo");
    let names = fs::read_dir(installed).unwrap();
    let names: Vec<_> = names.map(|name| name.unwrap().file_name()).collect();
    assert!(
        names
            .iter()
            .all(|name| name.to_str().unwrap().contains("_1.0.0_")),
        "{names:?}"
    );
    with_list(&author, &into.replace("demo ", "demo@2.0.0 ")).exits(3);
    for command in ["lock", "install"] {
        let run = with_list(
            &author,
            &format!("{command} acme/demo --from oci-layout:store"),
        );
        run.succeeds();
        let lock = fs::read_to_string(author.scene.path(".terraform.lock.hcl")).unwrap();
        assert!(lock.contains("\"1.0.0\""), "{lock}");
        // A version that is locked already, and one that an argument names.
        author
            .scene
            .write(".terraform.lock.hcl", lock.replace("1.0.0", "2.0.0"));
        let again = with_list(
            &author,
            &format!("{command} acme/demo --from oci-layout:store"),
        );
        again.exits(3);
        fs::remove_file(author.scene.path(".terraform.lock.hcl")).unwrap();
        with_list(
            &author,
            &format!("{command} acme/demo@2.0.0 --from oci-layout:store"),
        )
        .exits(3);
    }
}

#[test]
fn mirror_leaves_them_out() {
    let author = Author::new();
    let mut provider = Provider::new("acme/demo");
    for version in VERSIONS {
        provider = provider.version(version, &["linux_amd64"]);
    }
    let origin = Origin::of([provider]);
    origin.write_ca(&author.scene);
    let host = origin.host();
    let text = trust(&format!("{host}/acme/demo"), ">= 1.1.0-alpha, <= 1.2.0", "");
    author.scene.write("trust.toml", text);
    let mirror = format!(
        "mirror {host}/acme/demo@>=1 --prereleases --ca-file ca.pem --to oci-layout:store --to oci-layout:other"
    );
    says_why(&with_list(&author, &mirror).succeeds());
    let from = format!("verify --from oci-layout:store {host}/acme/demo");
    with_list(&author, &from).succeeds();
    for version in ["1.1.0", "1.1.0-beta.1"] {
        let named = mirror.replace(">=1", version);
        let run = with_list(&author, &named).exits(3);
        assert!(run.stderr.contains("CVE-2026-1"), "{}", run.stderr);
    }
    let listed = author.tfoci(&[
        "versions",
        &format!("{host}/acme/demo"),
        "--from",
        "oci-layout:other",
    ]);
    assert_eq!(steady(listed).stdout, "1.0.0\n2.0.0\n");
}

#[test]
fn verify_and_the_inventory_show_them_and_a_site_loses_them() {
    let author = filled();
    let run = with_list(&author, "verify --from oci-layout:store").exits(3);
    assert_eq!(
        run.stdout.matches("[denied]").count(),
        DENIED.len(),
        "{}",
        run.stdout
    );
    let list = with_list(&author, "list --long acme/demo --from oci-layout:store");
    let list = list.succeeds().stdout;
    let denied = list.lines().filter(|line| line.contains("CVE-2026-1"));
    let versions = denied.filter_map(|line| line.split_whitespace().next());
    let mut versions: Vec<&str> = versions.collect();
    versions.sort_unstable();
    assert_eq!(versions, ["1.1.0", "1.1.0-beta.1", "1.2.0+b.1"], "{list}");
    author
        .tfoci(&["site", "public", "--from", "oci-layout:store"])
        .succeeds();
    let index = || {
        fs::read_to_string(
            author
                .scene
                .path("public/registry.opentofu.org/acme/demo/index.json"),
        )
        .unwrap()
    };
    assert!(index().contains("1.1.0"));
    with_list(&author, "site public --from oci-layout:store --delete").succeeds();
    assert!(
        !index().contains("1.1.0") && !index().contains("1.2.0"),
        "{}",
        index()
    );
    assert!(
        index().contains("1.0.0") && index().contains("2.0.0"),
        "{}",
        index()
    );
}

/// `serve` reads the list again while it runs.
#[test]
fn serve_hides_them_without_a_restart() {
    let store = Store::demo();
    let text = trust("*/*/*", "9.0.0", "");
    store.scene.write("trust.toml", &text);
    let server = store.serve("--trust trust.toml --max-age 1");
    let index = format!("/mirror/{}/index.json", crate::serve::stores::DEMO);
    let before = server.get(&index).is(200).text();
    assert!(before.contains("\"1.0.0\""), "{before}");
    // As an editor does: the server never reads a half of it.
    let new = store
        .scene
        .write("trust.new", text.replace("9.0.0", "1.0.0"));
    fs::rename(new, store.scene.path("trust.toml")).unwrap();
    server.logs_words("Reloaded trust.toml");
    server.until(&index, |reply| !reply.text().contains("\"1.0.0\""));
    server.logs_words("Hidden 1.0.0 CVE-2026-1");
    server.stop();
}

#[test]
fn a_check_prints_the_list() {
    let author = filled();
    let run = author.tfoci(&["trust", "check", "trust.toml"]).succeeds();
    for text in [
        "deny ",
        "registry.opentofu.org/acme/demo",
        "CVE-2026-1",
        "line 10",
    ] {
        assert!(run.stdout.contains(text), "{text}: {}", run.stdout);
    }
    let show = with_list(&author, "trust show acme/demo").succeeds().stdout;
    assert!(
        show.contains("CVE-2026-1") && !show.contains("another"),
        "{show}"
    );
}
