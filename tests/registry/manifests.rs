use std::fs;
use std::thread;

use super::pusher::{NAME, Pusher};
use super::tags;
use crate::support::registry::answer::Answer;
use crate::support::registry::quirks::GITLAB_OLD;
use crate::support::registry::{Fault, Personality, Registry, Seen, Setup, matching};

const PLATFORMS: [&str; 2] = ["darwin_arm64", "linux_amd64"];
/// The option for the first of them.
const ONE: &str = "--platform darwin_arm64";
const INSPECT: &str = "inspect acme/demo@1.0.0 --from STORE";
/// The registry's answer to evidence that it refuses.
const UNKNOWN: &str = "unknown media type: application/vnd.tfoci.evidence.v1";
const WARNING: &str = "Warning registry.opentofu.org/acme/demo 1.0.0 HOST 400 MANIFEST_INVALID application/vnd.tfoci.evidence.v1 unverified";

fn plain(pusher: &Pusher, more: &str) -> Registry {
    let registry = Registry::plain();
    pusher.push(&registry, more).succeeds();
    registry.forget();
    registry
}

/// A registry that has the first platform of the release.
fn with_one_platform() -> (Pusher, Registry) {
    let pusher = Pusher::new(&PLATFORMS);
    let registry = Registry::plain();
    pusher.push(&registry, ONE).succeeds();
    (pusher, registry)
}

/// A registry with immutable tags.
fn immutable() -> Registry {
    let setup = Setup::of(Personality::Ecr).create(NAME);
    setup.quirks(|quirks| quirks.immutable = true).start()
}

fn gitlab() -> Registry {
    Setup::of(Personality::Gitlab).start()
}

fn no_evidence() -> Fault {
    Fault::Answer(Answer::error(400, "MANIFEST_INVALID", UNKNOWN))
}

/// Whether a request moves the version's tag.
fn moves(seen: &Seen) -> bool {
    seen.method == "PUT" && seen.path.ends_with("/manifests/1.0.0")
}

/// The status of the version and of its authentication in JSON.
fn pushed(pusher: &Pusher, registry: &Registry, more: &str) -> [String; 2] {
    let run = pusher.push(registry, &format!("--format json {more}"));
    let document = run.succeeds().json();
    let provider = &document["providers"][0];
    [&provider["status"], &provider["authentication"]["status"]]
        .map(|text| text.as_str().unwrap().to_owned())
}

#[test]
fn refused_evidence_does_not_stop_the_provider() {
    let (registry, pusher) = (gitlab(), Pusher::new(&PLATFORMS));
    let run = pusher.push(&registry, "").succeeds();
    run.says(&format!("{WARNING} Pushed 1 2"));
    assert_eq!(tags(&registry, NAME), ["1.0.0"]);
    let run = pusher.run(&registry, INSPECT).succeeds();
    run.shows("unverified");
}

#[test]
fn refused_evidence_is_reported_each_time() {
    let (registry, pusher) = (gitlab(), Pusher::new(&PLATFORMS));
    assert_eq!(pushed(&pusher, &registry, ""), ["copied", "signed"]);
    assert_eq!(pushed(&pusher, &registry, ""), ["present", "signed"]);
    let run = pusher.push(&registry, "").succeeds();
    run.says(&format!("{WARNING} Pushed nothing 2"));
}

#[test]
fn platforms_are_added_where_evidence_is_refused() {
    let (registry, pusher) = (gitlab(), Pusher::new(&PLATFORMS));
    assert_eq!(pushed(&pusher, &registry, ONE), ["copied", "signed"]);
    let run = pusher.push(&registry, "").succeeds();
    run.says(&format!("{WARNING} Pushed 1 1 1"));
    assert_eq!(tags(&registry, NAME), ["1.0.0"]);
}

#[test]
fn evidence_is_written_as_soon_as_the_registry_accepts_it() {
    let (registry, pusher) = (Registry::plain(), Pusher::new(&PLATFORMS));
    registry.fault(1, matching("PUT", "/manifests/evidence-"), no_evidence());
    assert_eq!(pushed(&pusher, &registry, ""), ["copied", "signed"]);
    assert_eq!(tags(&registry, NAME), ["1.0.0"]);
    // Untagged manifests may be deleted by then.
    registry.repository(NAME, |repository| {
        repository.blobs.retain(|_, bytes| bytes.starts_with(b"PK"))
    });
    assert_eq!(pushed(&pusher, &registry, ""), ["updated", "signed"]);
    assert_eq!(tags(&registry, NAME), ["1.0.0", "evidence-1.0.0"]);
    assert_eq!(pushed(&pusher, &registry, ""), ["present", "signed"]);
    pusher.run(&registry, INSPECT).succeeds().shows("signed");
}

#[test]
fn evidence_of_another_release_is_not_left_beside_the_provider() {
    let pusher = Pusher::new(&PLATFORMS);
    let signature = "dist/terraform-provider-demo_1.0.0_SHA256SUMS.sig";
    let signature = pusher.scene.path(signature);
    let signed = fs::read(&signature).unwrap();
    fs::remove_file(&signature).unwrap();
    // Without a key: a key that is named asks for a signature by it.
    let registry = Registry::plain();
    let push = format!("push dist --provider {NAME} --allow-unsigned {NAME} {ONE} --to STORE");
    pusher.run(&registry, &push).succeeds();
    fs::write(&signature, signed).unwrap();
    let before = registry.tags(NAME);
    registry.always(matching("PUT", "/manifests/evidence-"), no_evidence());
    let run = pusher.push(&registry, "").exits(1);
    run.says("error registry.opentofu.org/acme/demo 1.0.0 evidence");
    assert_eq!(registry.tags(NAME), before);
}

#[test]
fn a_registry_that_refuses_the_artifact_type_is_an_error_with_its_reason() {
    let registry = Setup::of(Personality::Gitlab)
        .quirks(|quirks| quirks.types = Some(GITLAB_OLD))
        .start();
    let run = Pusher::new(&PLATFORMS).push(&registry, "").exits(1);
    run.says("error registry.opentofu.org/acme/demo 1.0.0 HOST/acme/demo platform manifest 400 MANIFEST_INVALID application/vnd.opentofu.provider-target");
    assert_eq!(tags(&registry, NAME), Vec::<String>::new());
}

#[test]
fn platforms_cannot_be_added_to_an_immutable_tag() {
    let (pusher, registry) = (Pusher::new(&PLATFORMS), immutable());
    pusher.push(&registry, ONE).succeeds();
    let before = registry.tags(NAME);
    let run = pusher.push(&registry, "").exits(1);
    run.says("error registry.opentofu.org/acme/demo 1.0.0 HOST/acme/demo HOST/acme/demo:1.0.0 400 TAG_INVALID");
    assert_eq!(registry.tags(NAME), before);
}

#[test]
fn every_error_of_an_immutable_tag_is_understood() {
    let harbor = "Failed to process request due to 'acme/demo:1.0.0' configured as immutable.";
    let amazon = "The image tag '1.0.0' already exists";
    let answers = [
        (412, "PRECONDITION", harbor),
        (409, "CONFLICT", harbor),
        (403, "DENIED", harbor),
        (400, "ImageTagAlreadyExistsException", amazon),
    ];
    let meets = |(status, code, message): (u16, &str, &str)| {
        let (pusher, registry) = with_one_platform();
        registry.always(moves, Fault::Answer(Answer::error(status, code, message)));
        let run = pusher.push(&registry, "").exits(1);
        let from = "  HOST/acme/demo:1.0.0\n  from http://HOST/v2/acme/demo/manifests/1.0.0\n";
        run.tells(format!("{from}  answered {status} ({code}: {message})\n"));
        run.tells("hint: ");
    };
    // At the same time, since each mostly waits.
    thread::scope(|scope| {
        for answer in answers {
            scope.spawn(move || meets(answer));
        }
    });
}

/// Pushes to a registry with immutable tags. The requests that create the tags meet a fault after they took effect.
fn makes_a_tag_despite(fault: Fault) {
    let (pusher, registry) = (Pusher::new(&PLATFORMS), immutable());
    registry.fault(1, moves, fault.clone());
    registry.fault(1, matching("PUT", "/manifests/evidence-"), fault);
    assert_eq!(pushed(&pusher, &registry, ""), ["copied", "signed"]);
    assert_eq!(registry.count(moves), 1, "not sent again");
}

#[test]
fn a_tag_that_was_created_without_an_answer_is_kept() {
    makes_a_tag_despite(Fault::LostAnswer);
    makes_a_tag_despite(Fault::although_done(Answer::new(502)));
    let message = "it exists and the repository is immutable";
    let exists = Answer::error(400, "TAG_INVALID", message);
    makes_a_tag_despite(Fault::although_done(exists));
}

#[test]
fn a_tag_is_not_moved_again_after_a_lost_answer() {
    let meets = |fault: Fault| {
        let (pusher, registry) = with_one_platform();
        registry.forget();
        registry.fault(1, moves, fault);
        assert_eq!(pushed(&pusher, &registry, ""), ["updated", "signed"]);
        assert_eq!(registry.count(moves), 1);
    };
    // At the same time, since each mostly waits.
    thread::scope(|scope| {
        for fault in [Fault::LostAnswer, Fault::although_done(Answer::new(503))] {
            scope.spawn(move || meets(fault));
        }
    });
}

#[test]
fn a_manifest_whose_answer_was_lost_is_sent_again() {
    for fault in [Fault::LostAnswer, Fault::although_done(Answer::new(503))] {
        let (pusher, registry) = (Pusher::new(&PLATFORMS), Registry::plain());
        let by_digest = || matching("PUT", "/manifests/sha256:");
        registry.fault(1, by_digest(), fault);
        assert_eq!(pushed(&pusher, &registry, ""), ["copied", "signed"]);
        assert_eq!(registry.count(by_digest()), PLATFORMS.len() + 1);
        assert_eq!(tags(&registry, NAME), ["1.0.0", "evidence-1.0.0"]);
    }
}

/// Clients resolve tags to SHA-256 digests, and so does tfoci.
#[test]
fn a_digest_of_another_algorithm_is_replaced_by_reading_the_manifest() {
    let pusher = Pusher::new(&PLATFORMS);
    let registry = plain(&pusher, ONE);
    let other = format!("sha512:{}", "0".repeat(128));
    let fault = Fault::with("docker-content-digest", other);
    registry.always(matching("HEAD", "/manifests/"), fault);
    assert_eq!(pushed(&pusher, &registry, ""), ["updated", "signed"]);
}
