use super::{PINNING, pinned};
use crate::mirror::LINUX;
use crate::mirror::origin_scene::OriginScene;
use crate::support::origin::{Fault, Provider, asks};
use crate::support::release::ReleaseFolder;
use crate::support::signer::Signer;

fn of(name: &str, signer: &'static Signer) -> Provider {
    let folder = ReleaseFolder::new(name, "1.0.0").platform(LINUX);
    Provider::new(&format!("acme/{name}")).release(folder.signed_by(signer))
}

/// An origin of these providers, by the same author.
fn origin(names: &str) -> OriginScene {
    let names = names.split(' ');
    OriginScene::of(names.map(|name| of(name, Signer::acme())))
}

/// The arguments that mirror these providers, and pin their keys.
fn all(names: &str) -> String {
    let names = names.split(' ');
    names
        .map(|name| format!("[ORIGIN]/acme/{name} "))
        .collect::<String>()
        + PINNING
}

#[test]
fn one_key_of_three_providers_is_pinned_for_their_namespace() {
    let scene = origin("a b c");
    let elsewhere = "# ours\n[[provider]]\nmatch = \"other.example/*/*\"\n";
    scene.trusts(elsewhere);
    let plan = format!("{} --dry-run", all("a b c"));
    let said = scene.mirror(&plan).ends(0);
    let covers = "also covers future providers of acme/*";
    assert_eq!(said.matches(covers).count(), 1, "{said}");
    assert_eq!(said.matches("Would pin ").count(), 4, "{said}");
    assert_eq!(scene.trust(), elsewhere);

    let run = scene.json(&all("c b a")).succeeds();
    assert_eq!(run.stderr.matches(covers).count(), 1, "{}", run.stderr);
    let document = run.json();
    assert_eq!(document["pins"].as_array().unwrap().len(), 3);
    let entry = pinned("*", "ACME");
    assert_eq!(scene.trust(), format!("{elsewhere}\n{entry}"));
    let copy = format!("keys/{}.asc", Signer::acme().fingerprint());
    assert!(scene.path(copy).exists());

    // The entry holds for the next run, and for providers that come later.
    let strict = "--trust trust.toml --require-pinned --recheck -q";
    scene.origin.publish(of("d", Signer::acme()));
    for name in ["a", "b", "c", "d"] {
        let known = format!("[ORIGIN]/acme/{name} {strict}");
        scene.mirror(&known).says(0, "");
    }
    scene.origin.publish(of("e", Signer::stranger()));
    for later in [format!("[ORIGIN]/acme/e {strict}"), all("e") + " -q"] {
        let said = "error [ORIGIN]/acme/e 1.0.0 [ORIGIN] SHA256SUMS.sig expected [ACME] <security@acme.example> trust.toml 8 received [STRANGER]";
        scene.mirror(&later).says(3, said);
    }
    assert_eq!(scene.trust(), format!("{elsewhere}\n{entry}"));
}

/// Whoever has one provider of a namespace gets no entry for it.
#[test]
fn every_other_namespace_has_an_entry_for_each_provider() {
    let pins = |scene: &OriginScene, names: &str, code: i32, expected: &[(&str, &str)]| {
        scene.mirror(&format!("{} -q", all(names))).ends(code);
        let entries = expected.iter().map(|(name, author)| pinned(name, author));
        let (text, entries) = (scene.trust(), entries.collect::<Vec<_>>().join("\n"));
        assert!(text.ends_with(&entries), "{text}");
    };
    let three = [("a", "ACME"), ("b", "ACME"), ("c", "ACME")];
    // Two, and a third one in the next run, whose others have entries.
    let scene = origin("a b c");
    pins(&scene, "a b", 0, &three[..2]);
    pins(&scene, "a b c", 0, &three);
    // Another key.
    let scene = origin("a b c d");
    scene.origin.publish(of("d", Signer::stranger()));
    let four = [&three[..], &[("d", "STRANGER")]].concat();
    pins(&scene, "a b c d", 0, &four);
    // One key more.
    let scene = origin("a b c");
    let next = ReleaseFolder::new("c", "1.1.0").platform(LINUX);
    let next = next.signed_by(Signer::stranger());
    scene.origin.publish(of("c", Signer::acme()).release(next));
    scene.mirror(&format!("{} -q", all("a b c@>=1.0"))).ends(0);
    assert_eq!(scene.trust().matches("acme/").count(), 3);
    // One that fails, and one that the store has already, so that nobody looks at its key.
    let scene = origin("a b c d");
    let broken = asks("package acme/d");
    scene.origin.always(broken, Fault::status(404));
    pins(&scene, "a b c d", 1, &three);
    let scene = origin("a b c d");
    scene.mirror("[ORIGIN]/acme/d -q").ends(0);
    pins(&scene, "a b c d", 0, &three);
    // Another entry.
    for theirs in ["acme/x", "acme/a", "acme/*", "*/*"] {
        let scene = origin("a b c");
        let entry = format!("[[provider]]\nmatch = \"[ORIGIN]/{theirs}\"\n");
        scene.trusts(&entry);
        scene.mirror(&format!("{} -q", all("a b c"))).ends(0);
        let text = scene.trust();
        assert!(text.contains(&entry), "{text}");
        assert_eq!(text.matches("[[provider]]").count(), 4, "{text}");
    }
}
