//! The block list of the trust file, in every command that writes, reads or serves a store.

use std::fs;

use crate::serve::stores::Store;
use crate::support::author::Author;
use crate::support::origin::{Origin, Provider};
use crate::support::release::ReleaseFolder;
use crate::support::scene::Run;
use crate::support::signer::Signer;
use tfoci::platform::Platform;

const VERSIONS: [&str; 5] = ["1.0.0", "1.1.0-beta.1", "1.1.0", "1.2.0+b.1", "2.0.0"];
/// Those that the list denies.
const DENIED: [&str; 3] = ["1.1.0-beta.1", "1.1.0", "1.2.0+b.1"];
/// Those that it does not deny.
const OTHERS: [&str; 2] = ["1.0.0", "2.0.0"];
const DEMO: &str = "registry.opentofu.org/acme/demo";
/// The constraints for those that it denies.
const MIDDLE: &str = ">= 1.1.0-alpha, <= 1.2.0";
const COPY: &str = "copy --from oci-layout:store --to oci-layout:new";

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
        folder.write(&author.path(format!("dist-{version}")));
        push(&author, version, "").succeeds();
    }
    author.write("trust.toml", trust(DEMO, MIDDLE, ""));
    author
}

fn push(author: &Author, version: &str, more: &str) -> Run {
    let push = format!("push dist-{version} --provider acme/demo --key acme.asc");
    author.line(format!("{push} --to oci-layout:store {more}"))
}

/// Runs a command with the trust file.
fn with_list(author: &Author, line: impl AsRef<str>) -> Run {
    author.line(format!("{} --trust trust.toml", line.as_ref()))
}

/// The versions in a store.
fn versions(author: &Author, store: &str) -> Vec<String> {
    let run = author.line(format!("versions acme/demo --from {store}"));
    run.succeeds().stdout.lines().map(str::to_owned).collect()
}

/// Asserts that a run names each denied version, the reason and the line.
#[track_caller]
fn says_why(run: &Run) {
    for fact in ["CVE-2026-1", "line 10 of the trust file"]
        .iter()
        .chain(&DENIED)
    {
        run.tells(fact);
    }
    run.omits("another");
}

#[test]
fn push_refuses_them() {
    let author = filled();
    for version in VERSIONS {
        let status = if DENIED.contains(&version) { 3 } else { 0 };
        push(&author, version, "--trust trust.toml").exits(status);
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
        let run = with_list(&author, format!("copy --from {from} --to {to}")).succeeds();
        if from != "bundle:all.tar" {
            says_why(&run);
        }
        assert_eq!(versions(&author, to), OTHERS);
    }
    for version in DENIED {
        let run = with_list(&author, format!("{COPY} acme/demo@{version}"));
        run.exits(3).tells("CVE-2026-1");
        assert!(!author.path("new").exists());
    }
    says_why(&with_list(&author, format!("{COPY} --rebuild-index")).succeeds());
    assert_eq!(versions(&author, "oci-layout:new"), OTHERS);
}

/// An entry that has ended has no effect. One that ends today has.
#[test]
fn an_entry_counts_until_its_day() {
    let author = filled();
    for (until, count) in [("until = 2026-01-31\n", 5), ("until = 2999-12-31\n", 2)] {
        let text = trust("registry.opentofu.org/acme/*", MIDDLE, until);
        author.write("trust.toml", text);
        let to = format!("oci-layout:until-{count}");
        with_list(&author, COPY.replace("oci-layout:new", &to)).succeeds();
        assert_eq!(versions(&author, &to).len(), count);
    }
    for wrong in [
        "until = \"2026-01-31\"\n",
        "until = 2026-01-31T00:00:00Z\n",
        "more = 1\n",
    ] {
        let text = trust("acme.example/*/*", "1.0.0", wrong);
        author.write("trust.toml", text);
        author.line("trust check trust.toml").exits(2);
    }
}

/// What the entries of providers require stays: an unsigned version is refused although another one is denied.
#[test]
fn the_list_changes_nothing_else() {
    let author = filled();
    let [ours, theirs] = [Signer::acme(), Signer::stranger()].map(Signer::fingerprint);
    let other = trust(DEMO, "1.0.0", "").replace(&ours, &theirs);
    author.write("trust.toml", other);
    with_list(&author, COPY).exits(3).tells("CVE-2026-1");
    let alone = "[[deny]]\nmatch = \"*/*/*\"\nversions = \"< 2\"\nreason = \"old\"\n";
    author.write("trust.toml", alone);
    with_list(&author, COPY).succeeds();
    assert_eq!(versions(&author, "oci-layout:new"), ["2.0.0"]);
}

#[test]
fn install_and_lock_select_another_version() {
    let author = filled();
    author.write("trust.toml", trust(DEMO, "> 1.0.0", ""));
    let into = "install acme/demo --from oci-layout:store --into packages --platform all";
    let run = with_list(&author, into).succeeds();
    run.tells("CVE-2026-1");
    let names = fs::read_dir(author.path(format!("packages/{DEMO}"))).unwrap();
    for name in names {
        let name = name.unwrap().file_name().into_string().unwrap();
        assert!(name.contains("_1.0.0_"), "{name}");
    }
    with_list(&author, into.replace("demo ", "demo@2.0.0 ")).exits(3);
    let path = author.path(".terraform.lock.hcl");
    for command in ["lock", "install"] {
        let line = format!("{command} acme/demo --from oci-layout:store");
        with_list(&author, &line).succeeds();
        let lock = fs::read_to_string(&path).unwrap();
        assert!(lock.contains("\"1.0.0\""), "{lock}");
        // A version that is locked already, and one that an argument names.
        fs::write(&path, lock.replace("1.0.0", "2.0.0")).unwrap();
        with_list(&author, &line).exits(3);
        fs::remove_file(&path).unwrap();
        with_list(&author, line.replace("demo ", "demo@2.0.0 ")).exits(3);
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
    let demo = format!("{host}/acme/demo");
    author.write("trust.toml", trust(&demo, MIDDLE, ""));
    let to = "--to oci-layout:store --to oci-layout:other";
    let mirror = format!("mirror {demo}@>=1 --prereleases --ca-file ca.pem {to}");
    says_why(&with_list(&author, &mirror).succeeds());
    with_list(&author, format!("verify --from oci-layout:store {demo}")).succeeds();
    for version in ["1.1.0", "1.1.0-beta.1"] {
        let named = mirror.replace(">=1", version);
        with_list(&author, &named).exits(3).tells("CVE-2026-1");
    }
    let listed = author.line(format!("versions {demo} --from oci-layout:other"));
    assert_eq!(listed.stdout, "1.0.0\n2.0.0\n");
}

#[test]
fn verify_and_the_inventory_show_them_and_a_site_loses_them() {
    let author = filled();
    let run = with_list(&author, "verify --from oci-layout:store").exits(3);
    let count = run.stdout.matches("[denied]").count();
    assert_eq!(count, DENIED.len(), "{}", run.stdout);
    let list = with_list(&author, "list --long acme/demo --from oci-layout:store");
    let list = list.succeeds().stdout;
    let denied = list.lines().filter(|line| line.contains("CVE-2026-1"));
    let versions = denied.filter_map(|line| line.split_whitespace().next());
    let mut versions: Vec<&str> = versions.collect();
    versions.sort_unstable();
    assert_eq!(versions, ["1.1.0", "1.1.0-beta.1", "1.2.0+b.1"], "{list}");
    let site = "site public --from oci-layout:store --delete";
    author.line(site).succeeds();
    let index = || fs::read_to_string(author.path(format!("public/{DEMO}/index.json"))).unwrap();
    assert!(index().contains("1.1.0"));
    with_list(&author, site).succeeds();
    let index = index();
    for version in VERSIONS {
        let is_there = index.contains(&format!("\"{version}\""));
        assert_eq!(is_there, OTHERS.contains(&version), "{version}: {index}");
    }
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
    let text = text.replace("9.0.0", "1.0.0");
    let new = store.scene.write("trust.new", text);
    fs::rename(new, store.scene.path("trust.toml")).unwrap();
    server.logs_words("Reloaded trust.toml");
    server.until(&index, |reply| !reply.text().contains("\"1.0.0\""));
    server.logs_words("Hidden 1.0.0 CVE-2026-1");
    server.stop();
}

#[test]
fn a_check_prints_the_list() {
    let author = filled();
    let run = author.line("trust check trust.toml").succeeds();
    for text in ["deny ", DEMO, "CVE-2026-1", "line 10"] {
        assert!(run.stdout.contains(text), "{text}: {}", run.stdout);
    }
    let show = with_list(&author, "trust show acme/demo").succeeds().stdout;
    let is_right = show.contains("CVE-2026-1") && !show.contains("another");
    assert!(is_right, "{show}");
}
