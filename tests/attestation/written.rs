use serde_json::json;

use super::{BUNDLE, DEMO, ID, NAME, SUMMARY, Site, beyond, requests, trust};
use crate::support::author::Author;
use crate::support::judge::sha256;
use crate::support::layout::digest;
use crate::support::registry::{Fault, Seen, matching};
use crate::support::signer::Signer;
use crate::support::tamper;

fn hex(digest: &str) -> &str {
    digest.strip_prefix("sha256:").unwrap()
}

#[test]
fn a_push_states_what_it_verified_and_where() {
    let site = Site::attested();
    let index = site.index("1.0.0");
    let statement = site.statement("1.0.0");
    assert_eq!(statement["_type"], "https://in-toto.io/Statement/v1");
    assert_eq!(statement["predicateType"], SUMMARY);
    let subjects = statement["subject"].as_array().unwrap();
    let first = json!({"name": format!("{DEMO}@1.0.0"), "digest": {"sha256": hex(&index)}});
    assert_eq!(subjects[0], first);
    for subject in &subjects[1..] {
        let file = subject["name"].as_str().unwrap();
        let zip = sha256(&site.author.scene.path("dist").join(file));
        assert_eq!(subject["digest"]["sha256"], zip);
    }
    assert_eq!(subjects.len(), 3);
    let predicate = &statement["predicate"];
    assert_eq!(predicate["verifier"]["id"], ID);
    assert_eq!(predicate["verificationResult"], "PASSED");
    let levels = json!(["SLSA_BUILD_LEVEL_UNEVALUATED", "TFOCI_SIGNATURE_PINNED"]);
    assert_eq!(predicate["verifiedLevels"], levels);
    let resource = format!("{}/{NAME}", site.registry.host());
    assert_eq!(predicate["resourceUri"], resource);
    let sums = "dist/terraform-provider-demo_1.0.0_SHA256SUMS";
    let sums = sha256(&site.author.scene.path(sums));
    let input = json!({"digest": {"sha256": sums}});
    assert_eq!(predicate["inputAttestations"][0], input);
    let own = &predicate[format!("{ID}#signature")];
    assert_eq!(own["signer"], Signer::acme().fingerprint());
    assert_eq!(own["anchor"], "pinned");
    let rule = digest(own["rule"].to_string().as_bytes());
    assert_eq!(predicate["policy"]["digest"]["sha256"], hex(&rule));
    let (manifest, _) = &site.attached("1.0.0")[0];
    assert_eq!(manifest["artifactType"], BUNDLE);
    assert_eq!(manifest["layers"][0]["mediaType"], BUNDLE);
    let annotations = &manifest["annotations"];
    assert_eq!(annotations["dev.sigstore.bundle.content"], "dsse-envelope");
    assert_eq!(annotations["dev.sigstore.bundle.predicateType"], SUMMARY);
    site.verify(&format!("--attestation-id {ID}")).succeeds();
}

/// Readers that require it never see a version without it.
#[test]
fn it_is_there_before_the_tag() {
    for lists in [true, false] {
        let site = Site::new(lists);
        site.push("").succeeds();
        let seen = site.registry.seen().into_iter();
        let puts = seen.filter(matching("PUT", "/manifests/"));
        let puts: Vec<String> = puts.map(|one| one.path).collect();
        let at = |end: &str| puts.iter().position(|path| path.ends_with(end));
        let index = format!("manifests/sha256-{}", hex(&site.index("1.0.0")));
        let by_digest = |path: &String| path.contains("/manifests/sha256:");
        assert!(puts.iter().any(by_digest), "{puts:?}");
        assert_eq!(at(&index).is_some(), !lists);
        assert_eq!(at("manifests/1.0.0"), Some(puts.len() - 1), "{puts:?}");
    }
}

#[test]
fn another_run_asks_for_the_list_and_writes_nothing() {
    for lists in [true, false] {
        let site = Site::new(lists);
        let push = format!("push dist --provider {NAME} --key acme.asc --to [REG]");
        site.tfoci(&push).succeeds();
        requests(&site.registry);
        site.tfoci(&push).succeeds();
        let without = requests(&site.registry);
        site.push("--dry-run").succeeds().tells("Would");
        assert!(site.attached("1.0.0").is_empty());
        site.push("").succeeds().tells("Updated");
        let before = site.attached("1.0.0");
        assert_eq!(before.len(), 1);
        requests(&site.registry);
        site.push("").succeeds().tells("Present");
        assert_eq!(site.attached("1.0.0"), before);
        let more = beyond(&without, requests(&site.registry));
        let index = site.index("1.0.0");
        let list = format!("GET /v2/{NAME}/referrers/{index}");
        let tag = format!("GET /v2/{NAME}/manifests/sha256-{}", hex(&index));
        let expected = match lists {
            true => vec![list],
            false => vec![tag, list],
        };
        assert_eq!(more, expected);
        // Another key or name states something else.
        let key = "--attest other.pem --attest-id https://other.example";
        site.tfoci(format!("{push} {key}")).succeeds();
        assert_eq!(site.attached("1.0.0").len(), 2);
        site.verify("").succeeds();
    }
}

/// The rule counts, and not how its key is named.
#[test]
fn a_rule_that_changes_is_attested_anew() {
    let site = Site::attested();
    let by = |more: &str| {
        trust(&site.author.scene, more);
        let push = format!("push dist --provider {NAME} --trust trust.toml");
        site.tfoci(format!("{push} --to [REG] [ATTEST]")).succeeds();
        site.attached("1.0.0").len()
    };
    let acme = Signer::acme();
    let key = format!("keys/{}.asc", acme.fingerprint());
    site.author.scene.write(key, acme.public_armored());
    assert_eq!(by(""), 1);
    assert_eq!(by("expired = \"refuse\""), 2);
    assert_eq!(by("expired = \"refuse\""), 2);
}

/// Nobody but the store vouches for a key that lies beside the version, so that a copy attests it only with a pin.
#[test]
fn a_copy_attests_what_it_can_prove() {
    let site = Site::new(true);
    site.author.push("").succeeds();
    let copy = "copy acme/demo --from oci-layout:store --to [REG] [ATTEST]";
    let said = site.tfoci(copy).succeeds().stderr;
    assert_eq!(said.matches("not attested").count(), 1, "{said}");
    assert!(site.attached("1.0.0").is_empty());
    site.tfoci(format!("{copy} --key acme.asc")).succeeds();
    assert_eq!(site.statement("1.0.0")["predicate"]["verifier"]["id"], ID);
    // A bundle and a layout carry it on, byte for byte.
    let before = site.attached("1.0.0");
    site.tfoci("copy acme/demo --from [REG] --to bundle:all.tar")
        .succeeds();
    let to = "--key acme.asc --to oci-layout:carried [ATTEST]";
    let run = site.tfoci(format!("copy acme/demo --from bundle:all.tar {to}"));
    run.succeeds().omits("not attested");
    let verify = "--key acme.asc --attestation-key mirror.pub";
    for store in ["bundle:all.tar", "oci-layout:carried"] {
        let run = site.tfoci(format!("verify acme/demo --from {store} {verify}"));
        run.succeeds();
    }
    let layout = site.author.scene.path("carried").join(DEMO);
    let list = site.index("1.0.0").replace(':', "-");
    let list = tamper::document(&layout, &tamper::tagged(&layout, &list));
    let mut entries = list["manifests"].as_array().unwrap().iter();
    let carried = &before[0].0["layers"];
    assert!(entries.any(|entry| tamper::document(&layout, entry)["layers"] == *carried));
    site.tfoci("copy acme/demo --from oci-layout:carried --to bundle:own.tar [ATTEST]")
        .exits(2);
}

#[test]
fn an_unsigned_release_is_never_attested() {
    let site = Site::new(true);
    site.author.with_pushed_unsigned();
    let run = site.tfoci("copy acme/demo --from oci-layout:store --to [REG] [ATTEST]");
    run.succeeds().tells("not attested");
    assert!(site.attached("1.0.0").is_empty());
}

#[test]
fn a_registry_that_refuses_a_subject_takes_the_version() {
    for status in [400, 405, 409, 413, 422, 501] {
        let site = Site::new(true);
        // The attestation is written before the manifests of the platforms.
        let is_put = |seen: &Seen| seen.method == "PUT" && seen.path.contains("/manifests/sha256:");
        site.registry.fault(1, is_put, Fault::status(status));
        site.push("").succeeds().tells("not attested");
        assert!(site.attached("1.0.0").is_empty());
        site.verify("").exits(3);
        // It may have no lists of what is attached either.
        let site = Site::new(true);
        let is_list = |seen: &Seen| seen.path.contains("/referrers/");
        site.registry.always(is_list, Fault::status(status));
        site.push("").succeeds();
    }
}

/// A lock file proves a package. It does not prove whose key lies beside it in the source store.
#[test]
fn a_lock_file_vouches_for_no_key() {
    let site = Site::new(true);
    site.author.push("").succeeds();
    let layout = site.author.scene.path("store").join(DEMO);
    let manifest = tamper::document(&layout, &tamper::tagged(&layout, "1.0.0"));
    let platform = tamper::document(&layout, &manifest["manifests"][0]);
    let zip = platform["layers"][0]["digest"].as_str().unwrap();
    let zh = zip.replace("sha256:", "zh:");
    let lock =
        format!("provider \"{DEMO}\" {{\n  version = \"1.0.0\"\n  hashes = [\"{zh}\"]\n}}\n");
    site.author.scene.write(".terraform.lock.hcl", lock);
    let platform = &manifest["manifests"][0]["platform"];
    let os = platform["os"].as_str().unwrap();
    let arch = platform["architecture"].as_str().unwrap();
    let locked = format!("--from-lock .terraform.lock.hcl --rebuild-index --platform {os}_{arch}");
    let copy = format!("copy --from oci-layout:store --to [REG] [ATTEST] {locked}");
    site.tfoci(copy).succeeds().tells("not attested");
    assert!(site.attached("1.0.0").is_empty());
}

/// Programs that tfoci runs, and logs, do not get the private key.
#[cfg(unix)]
#[test]
fn the_private_key_stays_here() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut author = Author::with_release();
    let key = super::MirrorKey::new(1).private();
    let secret = key.lines().nth(1).unwrap();
    let script = "#!/bin/sh\nenv > $HOME/seen\nexit 1\n";
    let helper = author.scene.write("bin/docker-credential-spy", script);
    std::fs::set_permissions(&helper, std::fs::Permissions::from_mode(0o755)).unwrap();
    let config = r#"{"credsStore": "spy"}"#;
    author.scene.write(".docker/config.json", config);
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", helper.parent().unwrap().display());
    let scene = author.scene.env("PATH", &path);
    author.scene = scene.env("TFOCI_ATTEST_KEY", &key);
    let push = format!("push dist --provider {NAME} --key acme.asc --attest-id {ID} -vv");
    let registry = "--to 127.0.0.1:1/{namespace}/{type} --plain-http 127.0.0.1";
    author.line(format!("{push} {registry}")).hides(secret);
    let seen = std::fs::read_to_string(author.scene.path("seen")).unwrap();
    assert!(!seen.contains(secret), "{seen}");
    for mistake in [
        format!("{push} {registry} --attest {key}"),
        format!("{push} {registry} --attest={key}"),
        format!("verify {NAME} --from oci-layout:store --attestation-key {key}"),
    ] {
        author.line(mistake).exits(2).hides(secret);
    }
}

#[test]
fn keys_come_from_files_and_variables() {
    let site = Site::new(true);
    let author = &site.author;
    let pem = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    author.scene.write("encrypted.pem", pem);
    for options in [
        "--attest mirror.pem",
        &format!("--attest-id {ID}"),
        &format!("--attest mirror.pub --attest-id {ID}"),
        &format!("--attest encrypted.pem --attest-id {ID}"),
        &format!("--attest mirror.pem --attest-id {ID}#x"),
        "--attest mirror.pem --attest-id mirror",
    ] {
        let push = format!("push dist --provider {NAME} --key acme.asc --to oci-layout:out");
        let run = site.tfoci(format!("{push} {options}")).exits(2);
        let seed = super::MirrorKey::new(1).private();
        run.hides(seed.lines().nth(1).unwrap());
    }
    assert!(!author.scene.path("out").exists());
}
