use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, mpsc};

use rustix::process::{Pid, Signal, kill_process};

use super::{assert_names_what_is_there, files, with, zip};
use crate::install::{DEMO, Facts, names, push, released, tree};
use crate::support::docker_registry::{Options, Program};
use crate::support::layout_of_registry::import;
use crate::support::registry::{Fault, Personality, Registry, Setup, answer, matching};
use crate::support::release::ReleaseFolder;
use crate::support::scene::Scene;

#[test]
fn documents_are_written_after_the_files_that_they_name() {
    let (scene, registry, from) = given(&["1.0.0", "1.1.0"]);
    let public = scene.path("public");
    let seen = Arc::new(Mutex::new(Vec::new()));
    let look = {
        let (public, seen) = (public.clone(), Arc::clone(&seen));
        move || {
            let names: Vec<String> = tree(&public).into_keys().collect();
            assert_names_what_is_there(&public);
            seen.lock().unwrap().push(names);
        }
    };
    registry.always(matching("GET", "/blobs/"), Fault::after(look));
    scene.line(format!("site public {DEMO} {from}")).succeeds();
    let seen = seen.lock().unwrap();
    let packages = |names: &[String]| names.iter().filter(|name| name.ends_with(".zip")).count();
    // Before the last package there were all others, and no list of versions.
    assert!(seen.iter().any(|names| packages(names) == 3), "{seen:?}");
    for names in seen.iter() {
        let is_list = |name: &String| name.contains("/index.") || name.starts_with("index.");
        assert!(!names.iter().any(is_list), "{names:?}");
        let documents = names.iter().filter(|name| name.ends_with(".json")).count();
        assert!(documents * 2 <= packages(names), "{names:?}");
    }
    assert_eq!(packages(&tree(&public).into_keys().collect::<Vec<_>>()), 4);
}

#[test]
fn a_registry_gives_the_same_files_as_a_layout() {
    let Some(registry) = Program::DockerRegistry.start(&Options::default()) else {
        return;
    };
    let scene = with(&["1.0.0"]);
    let store = format!("{}/{{hostname}}/{{namespace}}/{{type}}", registry.host());
    let plain = "--plain-http 127.0.0.1";
    let copy = format!("copy --from oci-layout:store --to {store} {plain}");
    scene.line(copy).succeeds();
    let from_registry = format!("site one --from {store} {plain}");
    scene.line(&from_registry).succeeds();
    scene.line("site two --from oci-layout:store").succeeds();
    let one = tree(&scene.path("one"));
    assert_eq!(one.len(), 5);
    assert!(one == tree(&scene.path("two")));
    let again = scene.line(&from_registry).succeeds();
    again.tells("Wrote nothing");
}

#[test]
fn wrong_bytes_of_a_registry_are_never_shown() {
    let (scene, registry, from) = given(&["1.0.0"]);
    let zh = Facts::of_demo(&scene, "linux_amd64").zh.replace("zh:", "");
    registry.always(matching("GET", &zh), Fault::wrong_bytes());
    scene.line(format!("site public {DEMO} {from}")).exits(3);
    for name in names(&scene.path("public")) {
        for shown in ["linux_amd64", ".json", ".tfoci-tmp-"] {
            assert!(!name.contains(shown), "{name}");
        }
    }
}

#[test]
fn an_interrupted_run_leaves_whole_files_only() {
    let (scene, registry, from) = given(&["1.0.0"]);
    let Facts { zh, .. } = Facts::of_demo(&scene, "windows_arm64");
    let (begun, begins) = mpsc::channel();
    let stall = Fault::stall_body_after(move || begun.send(()).unwrap());
    registry.always(matching("GET", &zh["zh:".len()..]), stall);
    let mut run = scene
        .piped(format!("site public {DEMO} {from}"))
        .spawn()
        .unwrap();
    begins.recv().unwrap();
    kill_process(Pid::from_child(&run), Signal::INT).unwrap();
    assert_eq!(run.wait().unwrap().code(), Some(130));
    let left = tree(&scene.path("public"));
    let name = zip("1.0.0", "linux_amd64");
    let whole = std::fs::read(released(&scene, DEMO, "1.0.0").join(&name)).unwrap();
    let expected = BTreeMap::from([(format!("{DEMO}/{name}"), whole)]);
    assert!(left == expected, "{:?}", left.keys());
}

/// A registry with these versions of the demo provider, and the words that name it as the store.
fn given(versions: &[&str]) -> (Scene, Registry, String) {
    let (scene, registry) = (with(versions), Registry::plain());
    import(&scene.path("store").join(DEMO), &registry, DEMO);
    let store = format!("{}/{{hostname}}/{{namespace}}/{{type}}", registry.host());
    let from = format!("--from {store} --plain-http 127.0.0.1 --jobs 1");
    (scene, registry, from)
}

/// A registry that lists its repositories and has those of a host, named as in its layouts, and the words that name it as the store.
fn listing(scene: &Scene, names: &[&str]) -> (Registry, String) {
    let registry = Setup::of(Personality::Plain);
    let registry = registry.quirks(|quirks| quirks.catalog = Some(2)).start();
    for name in names {
        let layout = scene.path("store/example.com").join(name);
        import(&layout, &registry, name);
    }
    let store = format!("{}/{{namespace}}/{{type}}", registry.host());
    let from = format!("site public --from {store} --plain-http 127.0.0.1");
    (registry, from)
}

/// Without `--default-host`, the providers of the template have another host, under which none of them verifies.
#[test]
fn a_forgotten_option_does_not_delete_the_site() {
    let scene = with(&["1.0.0"]);
    let (_registry, always) = listing(&scene, &["acme/demo"]);
    let site = |arguments: &str| scene.line(format!("{always} {arguments}"));
    site("--default-host example.com").succeeds();
    let published = files(&scene);
    let run = site("--delete").exits(3);
    run.tells("still published");
    assert_eq!(files(&scene), published);
}

/// A proxy that wants a login or is in maintenance, and a registry that lists only some repositories to this user.
#[test]
fn answers_other_than_those_of_the_registry_delete_nothing() {
    let errors = r#"{"errors":[{"code":"UNAVAILABLE"}]}"#;
    let without = r#"{"repositories":["team/other"]}"#;
    for (path, body, code, said) in [
        ("/manifests/evidence-1.0.0", "sign in", 3, "still published"),
        ("/tags/list", errors, 1, "`tags`"),
        ("/v2/_catalog", errors, 1, "`repositories`"),
        ("/v2/_catalog", without, 0, "still published"),
    ] {
        let scene = with(&["1.0.0"]);
        let release = ReleaseFolder::new("other", "0.3.0").platform("linux_amd64");
        push(&scene, "example.com/team/other", "0.3.0", &release);
        let (registry, always) = listing(&scene, &["acme/demo", "team/other"]);
        let always = format!("{always} --default-host example.com");
        let site = |arguments: &str| scene.line(format!("{always} {arguments}"));
        site("").succeeds();
        let published = files(&scene);
        let says = move |answer: &mut answer::Answer| answer.body = body.into();
        registry.always(matching("GET", path), Fault::alter(says));
        site("--delete").exits(code).tells(said);
        assert_eq!(files(&scene), published);
    }
}
