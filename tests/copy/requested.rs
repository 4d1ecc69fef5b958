use serde_json::Value;

use super::{FROM, TO, assert_same, copy};
use crate::support::author::Author;
use crate::support::judge;
use crate::support::release::ReleaseFolder;
use crate::support::scene::Run;

const HOST: &str = "registry.opentofu.org/acme";
const PLATFORMS: [&str; 2] = ["darwin_arm64", "linux_amd64"];

/// A store with `one` 1.0.0, 1.1.0-rc.1 and 2.0.0, and `two` 1.0.0. The releases are in `NAME-VERSION`.
fn filled() -> Author {
    let author = Author::new();
    for (name, version) in [
        ("one", "1.0.0"),
        ("one", "1.1.0-rc.1"),
        ("one", "2.0.0"),
        ("two", "1.0.0"),
    ] {
        let dist = format!("{name}-{version}");
        let folder = ReleaseFolder::new(name, version).each(&PLATFORMS);
        folder.write(&author.path(&dist));
        let push = format!("push {dist} --provider acme/{name} --to {FROM} --key acme.asc");
        author.line(push).succeeds();
    }
    author
}

/// `TYPE VERSION STATUS` of each version of a report, and its platforms.
pub fn outcomes(run: &Run) -> Vec<String> {
    let document = run.json();
    let text = |value: &Value| value.as_str().unwrap_or("none").to_owned();
    let outcome = |one: &Value| {
        let provider = text(&one["provider"]);
        let (_, name) = provider.rsplit_once('/').unwrap();
        let packages = one["packages"].as_array().unwrap().iter();
        let packages: Vec<String> = packages.map(|package| text(&package["platform"])).collect();
        let (version, status) = (text(&one["version"]), text(&one["status"]));
        let line = format!("{name} {version} {status} {}", packages.join(" "));
        line.trim_end().to_owned()
    };
    let providers = document["providers"].as_array().unwrap();
    providers.iter().map(outcome).collect()
}

/// An outcome with both platforms.
fn with_both(outcome: &str) -> String {
    format!("{outcome} {}", PLATFORMS.join(" "))
}

fn copy_json(author: &Author, more: impl AsRef<str>) -> Run {
    copy(author, FROM, TO, format!("{} --format json", more.as_ref()))
}

fn zh(author: &Author, name: &str, version: &str, platform: &str) -> String {
    let zip = format!("{name}-{version}/terraform-provider-{name}_{version}_{platform}.zip");
    format!("zh:{}", judge::sha256(&author.path(zip)))
}

/// Writes a lock file with one entry.
fn lock(author: &Author, name: &str, version: &str, hashes: &[String]) {
    let hashes = hashes.join("\", \"");
    let entry = format!("  version = \"{version}\"\n  hashes = [\"{hashes}\"]\n");
    let text = format!("provider \"{HOST}/{name}\" {{\n{entry}}}\n");
    author.write(".terraform.lock.hcl", text);
}

const FILE: &str = r#"
to = ["registry.invalid/{type}"]
trust = "trust.toml"

[[provider]]
address = "registry.opentofu.org/acme/one"
constraints = ">= 1.0"
newest = 2
prereleases = true

[[provider]]
address = "registry.opentofu.org/acme/two"
"#;

const TRUST: &str =
    "[[provider]]\nmatch = \"registry.opentofu.org/acme/*\"\nkeys = [\"../acme.asc\"]\n";

#[test]
fn a_mirror_file_selects_as_it_does_for_a_mirror() {
    let author = filled();
    author.write("plans/mirror.toml", FILE);
    author.write("plans/trust.toml", TRUST);
    let asked = "--file plans/mirror.toml --require-pinned";
    let run = copy_json(&author, asked).succeeds();
    let newest = [
        "one 1.1.0-rc.1 copied",
        "one 2.0.0 copied",
        "two 1.0.0 copied",
    ];
    assert_eq!(outcomes(&run), newest.map(with_both));
    run.tells("(pinned)");
    // Addresses are copied too, with all of their versions, and each version once.
    let more = format!("{asked} acme/one");
    let run = copy_json(&author, more).succeeds();
    let all = [
        "one 1.0.0 copied",
        "one 1.1.0-rc.1 present",
        "one 2.0.0 present",
        "two 1.0.0 present",
    ];
    assert_eq!(outcomes(&run), all.map(with_both));
    assert_same(&author);
}

#[test]
fn the_trust_file_of_a_mirror_file_has_to_exist() {
    let author = filled();
    author.write("plans/mirror.toml", FILE);
    let asked = "--file plans/mirror.toml";
    let run = copy(&author, FROM, TO, asked).exits(1).without_result();
    run.says("error plans/trust.toml 2");
    let other = TRUST.replace("acme.asc", "stranger.asc");
    author.write("plans/trust.toml", other);
    copy(&author, FROM, TO, asked).exits(3);
    // The command line takes precedence.
    author.write("trust.toml", TRUST.replace("../acme.asc", "acme.asc"));
    let more = format!("{asked} --trust trust.toml -q");
    copy(&author, FROM, TO, more).succeeds();
}

const PLATFORM_FILE: &str = r#"
platforms = ["linux_amd64", "windows_amd64"]

[[provider]]
address = "registry.opentofu.org/acme/one"
constraints = "1.0.0"
"#;

/// An index with fewer platforms has another digest.
#[test]
fn the_platforms_of_a_mirror_file_need_a_new_index() {
    let author = filled();
    author.write("mirror.toml", PLATFORM_FILE);
    let asked = "--file mirror.toml";
    let run = copy(&author, FROM, TO, asked).succeeds();
    run.says("Warning registry.opentofu.org/acme/one 1.0.0 windows_amd64 Copied registry.opentofu.org/acme/one 1.0.0 2 signed [ACME ID] embedded Copied 1 2 0 2 [TIME]");
    let fewer = "--file mirror.toml --rebuild-index";
    let run = copy(&author, FROM, "oci-layout:fewer", fewer).succeeds();
    run.says("Warning registry.opentofu.org/acme/one 1.0.0 windows_amd64 Copied registry.opentofu.org/acme/one 1.0.0 1 signed [ACME ID] embedded Copied 1 1 0 1 [TIME]");
    assert_eq!(judge::installs(&author.path("fewer")).len(), 1);
    // No wanted platform remains.
    let none = PLATFORM_FILE.replace("\"linux_amd64\", ", "");
    author.write("mirror.toml", none);
    for more in [asked, fewer] {
        let run = copy(&author, FROM, "oci-layout:none", more).exits(1);
        run.says("error registry.opentofu.org/acme/one 1.0.0 oci-layout:store/registry.opentofu.org/acme/one windows_amd64 darwin_arm64 linux_amd64");
    }
}

#[test]
fn a_table_without_a_match_fails_alone() {
    let author = filled();
    let [unmet, met] = [">= 3.0", "1.0.0"].map(|text| format!("one\"\nconstraints = \"{text}"));
    let tables = [&*unmet, &met, "none", "two"];
    let tables = tables.map(|text| format!("[[provider]]\naddress = \"{HOST}/{text}\"\n"));
    author.write("mirror.toml", tables.concat());
    let run = copy_json(&author, "--file mirror.toml").exits(1);
    let both = ["one 1.0.0 copied", "two 1.0.0 copied"].map(with_both);
    let failed = ["none none failed", "one none failed"].map(str::to_owned);
    assert_eq!(outcomes(&run), [both, failed].concat());
    run.tells("`>= 3.0.0`");
}

#[test]
fn exactly_what_is_locked_is_copied() {
    let author = filled();
    let hashes = PLATFORMS.map(|platform| zh(&author, "one", "1.0.0", platform));
    lock(&author, "one", "1.0.0", &hashes);
    // A lock file satisfies `--require-pinned`.
    let asked = "--from-lock . --require-pinned";
    let run = copy(&author, FROM, TO, asked).succeeds();
    run.says(
        "Copied registry.opentofu.org/acme/one 1.0.0 2 signed [ACME ID] lock Copied 1 2 0 2 [TIME]",
    );
    let again = copy(&author, FROM, TO, "--from-lock .terraform.lock.hcl").succeeds();
    again.says(
        "Present registry.opentofu.org/acme/one 1.0.0 2 signed [ACME ID] lock Copied 2 [TIME]",
    );
    // It does not for versions that it does not lock.
    let more = format!("{asked} acme/one@2.0.0");
    let run = copy_json(&author, more).exits(2);
    let all = [
        with_both("one 1.0.0 present"),
        "one 2.0.0 failed".to_owned(),
    ];
    assert_eq!(outcomes(&run), all);
}

#[test]
fn other_packages_than_the_locked_ones_are_refused() {
    let author = filled();
    let linux = zh(&author, "one", "1.0.0", "linux_amd64");
    let darwin = zh(&author, "one", "1.0.0", "darwin_arm64");
    lock(&author, "one", "1.0.0", std::slice::from_ref(&linux));
    let asked = "--from-lock .";
    let run = copy(&author, FROM, TO, asked).exits(3).without_result();
    run.says(&format!("error registry.opentofu.org/acme/one 1.0.0 oci-layout:store/registry.opentofu.org/acme/one darwin_arm64 expected {linux} received {darwin}"));
    assert!(!author.path("other").exists());
    let more = "--rebuild-index --platform linux_amd64";
    copy(&author, FROM, TO, format!("{asked} {more}")).succeeds();
    assert_eq!(judge::installs(&author.path("other")).len(), 1);
    // The store has the locked version with other content.
    lock(&author, "one", "2.0.0", &[linux]);
    copy(&author, FROM, TO, asked).exits(3);
    lock(&author, "one", "3.0.0", &[darwin]);
    let run = copy(&author, FROM, TO, asked).exits(1);
    let says = format!("error {HOST}/one 3.0.0 2.0.0 1.1.0-rc.1 1.0.0");
    run.says(&says);
}

#[test]
fn an_empty_lock_file_does_not_select_everything() {
    let author = filled();
    author.write(".terraform.lock.hcl", "");
    let run = copy(&author, FROM, TO, "--from-lock .").succeeds();
    run.without_result()
        .says("Warning /.terraform.lock.hcl Copied [TIME]");
    assert!(!author.path("other").exists());
}
