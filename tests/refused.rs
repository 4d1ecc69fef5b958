//! Releases that are refused whichever way they come: pushed, mirrored, copied, or mirrored when a client requests them.

use std::fs;

use serde_json::Value;

use crate::mirror::origin_scene::OriginScene;
use crate::serve::server::Server;
use crate::support::author::{Author, REPOSITORY};
use crate::support::layout;
use crate::support::origin::{Release, asks};
use crate::support::release::{Mistake, ReleaseFolder};
use crate::support::scene::Run;
use crate::support::signer::Signer;
use crate::support::tamper;

const LINUX: &str = "linux_amd64";

/// A release of `acme/demo` 1.0.0 that is refused.
struct Bad {
    name: &'static str,
    release: ReleaseFolder,
    /// The keys that its origin serves and that its author names.
    keys: String,
    /// What did not verify, or the category of the failure: when it is pushed, mirrored, and copied.
    faults: [&'static str; 3],
}

fn folder() -> ReleaseFolder {
    ReleaseFolder::new("demo", "1.0.0").platform(LINUX)
}

/// Every bad release.
fn all() -> Vec<Bad> {
    let acme = Signer::acme();
    let row =
        |name, release, signer: &Signer, faults| (name, release, signer.public_armored(), faults);
    let made = |name, mistake, faults| row(name, folder().mistake(mistake), acme, faults);
    let by = |name, signer: &'static Signer, faults| {
        row(name, folder().signed_by(signer), signer, faults)
    };
    let listed = |name, change: fn(&str) -> String, faults| {
        row(name, folder().document(change), acme, faults)
    };
    let of_testdata = |name, case, faults| {
        let (release, key) = ReleaseFolder::of_testdata(case);
        (name, release, key, faults)
    };
    #[rustfmt::skip] // A table.
    let rows = [
        listed("the document names other zips", |text| text.replace(['0', '1'], "2"), ["not-verified"; 3]),
        made("the zips were altered", Mistake::ZipsAltered, ["wrong-hash", "wrong-hash", "not-verified"]),
        made("the document names no zip", Mistake::ZipsUnlisted, ["not-verified"; 3]),
        made("the document was altered", Mistake::DocumentAltered, ["bad-signature"; 3]),
        made("the document is missing", Mistake::DocumentMissing, ["not_found", "not_found", "not-signed"]),
        made("the signature is none", Mistake::SignatureBroken, ["bad-signature"; 3]),
        made("the signature is by another key", Mistake::SignatureByStranger, ["key-changed"; 3]),
        made("the signature is armoured", Mistake::SignatureArmored, ["bad-signature"; 3]),
        made("the signature is missing", Mistake::SignatureMissing, ["not-signed", "not_found", "not-signed"]),
        by("the key is revoked", Signer::revoked(), ["key-revoked"; 3]),
        of_testdata("the key of testdata is revoked", "revoked", ["key-revoked"; 3]),
        of_testdata("the signature is of a SHA-1 digest", "sha1-document", ["bad-signature"; 3]),
        of_testdata("the key may not sign", "certify-only", ["bad-signature"; 3]),
    ];
    let bad = |(name, release, keys, faults)| Bad {
        name,
        release,
        keys,
        faults,
    };
    rows.map(bad).into()
}

impl Bad {
    /// Asserts the exit code and the fault of a run.
    #[track_caller]
    fn assert_refused(&self, way: usize, run: &Run) {
        let (name, fault) = (self.name, self.faults[way]);
        let document: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
        let of_version = &document["providers"][0]["error"];
        let error = document.get("error").unwrap_or(of_version);
        let found = error.get("kind").unwrap_or(&error["category"]);
        assert_eq!(found, fault, "{name}: {}", run.stderr);
        let code = if fault == "not_found" { 1 } else { 3 };
        assert_eq!(run.status, Some(code), "{name}: {}", run.stderr);
    }

    /// From its author, into a new store and into one with another version. No allowance lets it in.
    fn is_not_pushed(&self) {
        for older in [false, true] {
            let author = Author::new();
            if older {
                author.releases(ReleaseFolder::new("demo", "0.9.0").platform(LINUX));
                author.push("").succeeds();
            }
            author.releases(self.release.clone());
            author.write("keys.asc", &self.keys);
            for allowed in ["", "--allow-unsigned acme/demo"] {
                let line = format!("--key keys.asc --format json {allowed}");
                let run = author.untouched(|| author.push_unsigned(line));
                self.assert_refused(0, &run);
            }
        }
    }

    fn offered(&self) -> OriginScene {
        OriginScene::release(Release::from(self.release.clone()).keys(&[&self.keys]))
    }

    /// From an origin. Its packages are not even requested.
    fn is_not_mirrored(&self) {
        let scene = self.offered();
        for more in ["", "--allow-unsigned [ORIGIN]/acme/demo"] {
            let run = scene.json(&format!("[ORIGIN]/acme/demo {more}"));
            self.assert_refused(1, &run);
            assert!(scene.installs().is_empty(), "{}", self.name);
        }
        assert_eq!(scene.origin.count(asks("package")), 0, "{}", self.name);
    }

    /// From a store whose writer replaced the package and the evidence of a good release by those of this one.
    fn is_not_copied(&self) {
        let author = Author::of(folder());
        author.push("").succeeds();
        let layout = author.path(REPOSITORY);
        let bad = self.release.build();
        let good = &folder().build().zips[0].1.bytes;
        fs::write(layout::blob(&layout, good), &bad.zips[0].1.bytes).unwrap();
        match &bad.document {
            None => tamper::untag(&layout, "evidence-1.0.0"),
            Some(document) => tamper::alter(&layout, "evidence-1.0.0", |evidence| {
                let key = self.keys.clone().into_bytes();
                let signature = bad.signature.map(|file| [file.bytes, key]);
                let parts = [document.bytes.clone()].into_iter();
                let parts = parts.chain(signature.into_iter().flatten());
                let layers = evidence["layers"].as_array_mut().unwrap();
                let replaced = layers.iter().zip(parts).map(|(layer, bytes)| {
                    let media_type = layer["mediaType"].as_str().unwrap();
                    let mut stored = tamper::put(&layout, media_type, &bytes);
                    stored["annotations"] = layer["annotations"].clone();
                    stored
                });
                *layers = replaced.collect();
            }),
        }
        author.write("keys.asc", &self.keys);
        let line = "copy acme/demo@1.0.0 --from oci-layout:store --to oci-layout:other --key keys.asc --format json";
        self.assert_refused(2, &author.line(line));
        let index = author.path("other/registry.opentofu.org/acme/demo/index.json");
        assert!(!index.exists(), "{}", self.name);
    }

    /// From an origin, for a client of a server.
    fn is_not_served(&self) {
        let scene = self.offered();
        let pattern = scene.named("[ORIGIN]/*/*");
        let line = format!("--from oci-layout:cache --fill --include {pattern} --ca-file ca.pem");
        let server = Server::plain(&scene.scene, line);
        let base = format!("/mirror/{}", scene.origin.address("acme/demo"));
        server.get(&format!("{base}/1.0.0.json")).is(404);
        let index = format!("{base}/index.json");
        server.until(&index, |reply| !reply.text().contains("1.0.0"));
        let host = scene.origin.host().replace(':', "_");
        assert!(!scene.path("cache").join(host).exists(), "{}", self.name);
        server.stop();
    }
}

#[test]
fn bad_releases_are_not_pushed() {
    all().iter().for_each(Bad::is_not_pushed);
}

#[test]
fn bad_releases_are_not_mirrored() {
    all().iter().for_each(Bad::is_not_mirrored);
}

#[test]
fn bad_releases_are_not_copied() {
    all().iter().for_each(Bad::is_not_copied);
}

#[test]
fn bad_releases_are_not_served() {
    all().iter().for_each(Bad::is_not_served);
}
