use std::time::{Duration, SystemTime};

use sequoia_openpgp::types::ReasonForRevocation;

use crate::mirror::origin_scene::OriginScene;
use crate::schema::follows;
use crate::support::origin::{Fault, Provider, Release, asks};
use crate::support::release::ReleaseFolder;
use crate::support::signer::Signer;

/// A provider whose newest release comes with this key.
fn provider(name: &str, key: &str) -> Provider {
    let release = |version: &str, keys: &[&str]| {
        let folder = ReleaseFolder::new(name, version).platform("linux_amd64");
        Release::from(folder).keys(keys)
    };
    let older = Provider::new(&format!("acme/{name}")).release(release("1.0.0", &[]));
    let newest = older.release(release("1.1.0", &[key]));
    newest.release(release("2.0.0-beta1", &[]))
}

impl OriginScene {
    /// Writes a trust file with an entry for each name, all with this key.
    fn pins(&self, names: &[&str], key: &Signer) {
        let key = key.fingerprint();
        let entry =
            |name| format!("[[provider]]\nmatch = \"[ORIGIN]/acme/{name}\"\nkeys = [\"{key}\"]\n");
        let entries: String = names.iter().map(entry).collect();
        self.write("trust.toml", self.named(&entries));
    }
}

/// The messages of the document.
fn warnings(scene: &OriginScene, more: &str, code: i32) -> Vec<String> {
    let line = format!("trust check trust.toml --ca-file ca.pem --format json{more}");
    let document = scene.scene.line(line).exits(code).json();
    follows("trust-check", &document);
    let warnings = document["warnings"].as_array().unwrap().iter();
    let messages = warnings.map(|one| one["message"].as_str().unwrap().to_owned());
    messages.collect()
}

#[test]
fn news_of_a_key_is_one_warning() {
    let day = Duration::from_secs(24 * 60 * 60);
    let (acme, over) = (Signer::acme(), Signer::expired_since());
    let soon = Signer::until(SystemTime::now() + day * 21 / 2);
    let late = Signer::until(SystemTime::now() + day * 90);
    let [key, expires, lasts, expired] = [acme, soon, late, over].map(Signer::public_armored);
    let renewed = acme.armored_renewed();
    let revoked = acme.armored_revoked(ReasonForRevocation::KeyRetired);
    for (signer, ours, served, expected) in [
        (acme, "", &key, None),
        (acme, &key, &key, None),
        (acme, &key, &renewed, Some("was published again")),
        // The origin is behind.
        (acme, &renewed, &key, None),
        (acme, "", &revoked, Some("is revoked")),
        (acme, &key, &revoked, Some("is revoked")),
        (soon, "", &expires, Some("expires in 10 days")),
        (soon, &expires, &expires, Some("expires in 10 days")),
        (late, &lasts, &lasts, None),
        (over, "", &expired, Some(" days ago")),
    ] {
        let scene = OriginScene::of([provider("demo", served)]);
        scene.pins(&["demo"], signer);
        if !ours.is_empty() {
            scene.write(format!("keys/{}.asc", signer.fingerprint()), ours);
        }
        let found = warnings(&scene, " --online", 0);
        let is_expected = |one: &String| expected.is_some_and(|text| one.contains(text));
        assert!(found.iter().all(is_expected), "{found:?}");
        assert_eq!(found.len(), usize::from(expected.is_some()), "{found:?}");
        let requests = "1 discovery, 1 versions, 1 download, 1 document, 1 signature";
        assert_eq!(scene.origin.counters(), requests);
        // Without `--online`, nobody is asked.
        assert!(warnings(&scene, " --strict", 0).is_empty());
        assert_eq!(scene.origin.counters(), requests);
        let strict = if expected.is_some() { 3 } else { 0 };
        warnings(&scene, " --online --strict", strict);
    }
    // What the copy says is not said twice.
    for (signer, copy) in [(acme, &revoked), (over, &expired)] {
        let scene = OriginScene::of([provider("demo", copy)]);
        scene.pins(&["demo"], signer);
        scene.write(format!("keys/{}.asc", signer.fingerprint()), copy);
        let found = warnings(&scene, " --online", 0);
        assert_eq!((found.len(), found), (1, warnings(&scene, "", 0)));
    }
}

#[test]
fn a_pattern_is_asked_about_by_the_name_of_a_provider() {
    let stranger = Signer::stranger().public_armored();
    let scene = OriginScene::of([provider("a", &stranger), provider("b", "nonsense")]);
    scene.pins(&["*"], Signer::acme());
    let check = |more: &str| scene.command_of("trust", &format!("check trust.toml {more}"));
    check("--online").says(0, "");
    assert!(scene.origin.seen().is_empty());
    let other =
        "Warning trust.toml 2 [ORIGIN]/acme/a [STRANGER] Warning trust.toml 2 [ORIGIN]/acme/b none";
    check("--online [ORIGIN]/acme/a [ORIGIN]/acme/b").says(0, other);
    check("--online other.example/acme/a").says(2, "error other.example/acme/a");
    check("[ORIGIN]/acme/a").ends(2);
}

/// A key of several providers has one warning.
#[test]
fn an_origin_that_cannot_be_asked_does_not_stop_the_others() {
    let acme = Signer::acme();
    let revoked = acme.armored_revoked(ReasonForRevocation::KeyRetired);
    let names = ["a", "b", "c", "d"];
    let scene = OriginScene::of(names.map(|name| provider(name, &revoked)));
    scene.pins(&names, acme);
    let (absent, refused) = (asks("versions acme/a"), asks("download acme/b"));
    scene.origin.always(absent, Fault::status(404));
    scene.origin.always(refused, Fault::status(403));
    let said = "Warning trust.toml 8 [ACME] <security@acme.example> Ed25519 error [ORIGIN]/acme/a error [ORIGIN]/acme/b 403";
    let check = "check trust.toml --online";
    scene.command_of("trust", check).says(1, said);
    assert_eq!(warnings(&scene, " --online", 1).len(), 1);
}
