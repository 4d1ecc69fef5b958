//! `tfoci inspect`: what a version holds, and whether it is authentic.

use std::fs;

use serde_json::{Value, json};

use crate::schema::follows;
use crate::support::author::Author;
use crate::support::expected::layouts;
use crate::support::layout::Parts;
use crate::support::release::{Mistake, ReleaseFolder};
use crate::support::scene::{Run, Scene};
use crate::support::signer::Signer;
use crate::versions::pushed;

/// Evidence that was altered, removed, or belongs to another release.
mod evidence;

const FINGERPRINT: &str = "9C78E446E95831CCD2C594C816122978F255039A";
/// The fingerprint of the key of `testdata/release`.
const CHECKSUMS: &str = "15a8eb55243c696725e777cb6db53b2ee5a7215881bf11a9051ee83a977b7951";
const ABOUT: &str = "registry.opentofu.org/acme/demo 1.0.0 (oci-layout:mirror)";

fn inspect(scene: &Scene, more: &str) -> Run {
    scene.line(format!(
        "inspect acme/demo@1.0.0 --from oci-layout:mirror {more}"
    ))
}

fn document(run: &Run) -> Value {
    let document = run.json();
    follows("inspect", &document);
    document
}

#[test]
fn the_report_in_text() {
    let run = inspect(&pushed(), "").succeeds();
    assert_eq!(run.stderr, "");
    let signed = "authentication  signed 16122978F255039A (embedded)";
    assert_eq!(run.stdout, format!("{HEAD}{signed}\n{PACKAGES}"));
}

const HEAD: &str = "\
provider        registry.opentofu.org/acme/demo 1.0.0
reference       oci-layout:mirror/registry.opentofu.org/acme/demo:1.0.0@sha256:702224a16662a4507ca29944b28a4ce21970232eac70456889bb6909036fb834
protocols       5.0, 6.0
";

const PACKAGES: &str = "\
package         darwin_arm64         436 B  zh:34e22e01f10d6481608e6e69526bbf1460b9f606d4d09290309fea1f681eec29
package         linux_amd64          435 B  zh:a38d1748917d20c12472eff47b4cf1ceffd59f586f3260833b8823e455e45a3f
package         linux_arm64          435 B  zh:523d7ab7f2fab52fd6bd07802da6bca3e3791ebfbdfdb377ad7c4542673bf2bd
package         windows_amd64        445 B  zh:21cf7592bf0afec3ecbf611c2f5247b38956b046fc5a6636d0c57a38b1520acf
";

#[test]
fn the_report_in_json() {
    let run = inspect(&pushed(), "--format json").succeeds();
    let document = document(&run);
    assert_eq!(document["protocols"], json!(["5.0", "6.0"]));
    let signed =
        json!({"status": "signed", "anchor": "embedded", "fingerprint": FINGERPRINT, "notes": []});
    assert_eq!(document["authentication"], signed);
    let first = json!({
        "platform": "darwin_arm64",
        "manifest": "sha256:769ee88951446d7e70798e6dae8109b3836a52ee600586676d56d596e4a81fa5",
        "size": 436,
        "zh": "zh:34e22e01f10d6481608e6e69526bbf1460b9f606d4d09290309fea1f681eec29",
    });
    assert_eq!(document["packages"][0], first);
    let packages = document["packages"].as_array().unwrap().iter();
    assert!(packages.is_sorted_by_key(|package| package["platform"].as_str()));
}

/// A trust file that pins a key.
fn pinning(key: &str) -> String {
    format!("[[provider]]\nmatch = \"registry.opentofu.org/acme/*\"\nkeys = [\"{key}\"]\n")
}

#[test]
fn a_version_signed_by_the_pinned_key_is_pinned() {
    let scene = pushed();
    scene.write("trust.toml", pinning(FINGERPRINT));
    for pin in ["--key acme.asc", "--trust trust.toml"] {
        let run = inspect(&scene, &format!("{pin} --require-pinned")).succeeds();
        let signed = "authentication  signed 16122978F255039A (pinned)";
        assert_eq!(run.stdout, format!("{HEAD}{signed}\n{PACKAGES}"));
    }
}

#[test]
fn a_version_signed_by_an_unpinned_key_is_refused() {
    let scene = pushed();
    let other = Signer::stranger().fingerprint();
    scene.write("stranger.asc", Signer::stranger().public_armored());
    scene.write("trust.toml", pinning(&other));
    for pin in ["--key stranger.asc", "--trust trust.toml"] {
        let run = inspect(&scene, pin).exits(3);
        let refused = format!("{HEAD}authentication  refused\n{PACKAGES}");
        assert_eq!(run.stdout, refused);
        run.says(&format!(
            "error {ABOUT} SHA256SUMS.sig expected {other} received {FINGERPRINT}"
        ));
    }
    let run = inspect(&scene, "--key stranger.asc --format json").exits(3);
    let document = document(&run);
    assert_eq!(document["error"]["category"], "untrusted");
    assert_eq!(document.get("authentication"), None);
}

#[test]
fn require_pinned_without_a_pinned_key_is_a_usage_error() {
    let run = inspect(&pushed(), "--require-pinned").exits(2);
    run.says(&format!("error {ABOUT}"));
}

/// Writes and pushes a release.
fn push(scene: &Scene, release: ReleaseFolder, store: &str, more: &str) {
    let folder = format!("{store}.release");
    release.write(&scene.path(&folder));
    scene.write("signer.asc", Signer::acme().public_armored());
    let push = format!("push {folder} --provider acme/demo --to oci-layout:{store}");
    scene.line(format!("{push} {more}")).succeeds();
}

/// What the report says about the authentication.
fn authentication(run: &Run) -> &str {
    let mut lines = run.stdout.lines();
    let line = lines.find_map(|line| line.strip_prefix("authentication  "));
    line.unwrap()
}

#[test]
fn unsigned_versions_are_shown_as_such() {
    let scene = Scene::new();
    let release = ReleaseFolder::new("demo", "1.0.0").platform("linux_amd64");
    let unsigned = release.mistake(Mistake::SignatureMissing);
    push(&scene, unsigned, "mirror", "--allow-unsigned */*");
    assert_eq!(authentication(&inspect(&scene, "").succeeds()), "checksum");
    inspect(&scene, "--key signer.asc").exits(3);

    let foreign = format!("oci-layout:{}", layouts().join("good-oras").display());
    let arguments = format!("inspect acme/demo@1.0.0 --exact-repository --from {foreign}");
    let run = scene.line(&arguments).succeeds();
    assert_eq!(authentication(&run), "unverified");
    let run = scene.line(format!("{arguments} --format json")).succeeds();
    let document = document(&run);
    let unverified = json!({"status": "unverified", "notes": []});
    assert_eq!(document["authentication"], unverified);
    assert_eq!(document["protocols"], json!([]));
}

#[test]
fn mistakes_that_clients_accept_are_noted() {
    let scene = Scene::new();
    let inspect = "inspect acme/demo@1.0.0 --exact-repository --from";
    let lenient = layouts().join("lenient-wrong-case");
    let run = scene.line(format!("{inspect} oci-layout:{}", lenient.display()));
    assert_eq!(authentication(&run.succeeds()), "unverified lenient-json");

    let good = Parts::good();
    let [_, _, plain] = good.write(&scene.path("plain"));
    let plain = usize::try_from(fs::metadata(plain).unwrap().len()).unwrap();
    let largest = 4 << 20;
    for (length, note) in [
        (largest, ""),
        (largest + 1, " large-manifest"),
        (largest + (1 << 20) - 1, " large-manifest"),
    ] {
        let index = good.index.clone() + &" ".repeat(length - plain);
        let parts = Parts {
            index,
            ..good.clone()
        };
        parts.write(&scene.path("layout"));
        let run = scene
            .line(format!("{inspect} oci-layout:layout"))
            .succeeds();
        assert_eq!(authentication(&run), format!("unverified{note}"));
    }
}

#[test]
fn missing_versions_and_stores_are_errors() {
    let scene = pushed();
    for (address, facts) in [
        ("acme/demo@2.0.0", "demo oci-layout:mirror 2.0.0 has 1.0.0"),
        ("acme/other@1.0.0", "other oci-layout:mirror"),
    ] {
        let run = scene.line(format!("inspect {address} --from oci-layout:mirror"));
        let facts = format!("error registry.opentofu.org/acme/{facts}");
        run.exits(1).says(&facts);
    }
}

/// A misspelt `match` must not look like trust.
#[test]
fn a_trust_file_without_an_entry_for_the_provider_is_reported() {
    let author = Author::pushed();
    let entry = pinning(&Signer::acme().fingerprint()).replace("acme/", "acne/");
    author.write("trust.toml", entry);
    let from = "--from oci-layout:store --trust trust.toml";
    for command in [
        "inspect acme/demo@1.0.0",
        "verify acme/demo",
        "install acme/demo --platform linux_amd64 --into out",
        "copy --to oci-layout:other",
    ] {
        let run = author.line(format!("{command} {from}")).succeeds();
        run.says("Warning trust.toml registry.opentofu.org/acme/demo");
        let run = author.line(format!("{command} {from} --key acme.asc"));
        run.succeeds().omits("Warning");
    }
    let run = author.line(format!("inspect acme/demo@1.0.0 {from} --require-pinned"));
    run.exits(2).omits("Warning");
}
