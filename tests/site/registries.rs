use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};

use super::{assert_names_what_is_there, files};
use crate::install::{DEMO, Facts, demo, push, released, tree};
use crate::support::docker_registry::{Options, Program};
use crate::support::layout_of_registry::import;
use crate::support::registry::{Fault, Personality, Setup, answer, matching};
use crate::support::release::ReleaseFolder;
use crate::support::scene::Scene;

#[test]
fn documents_are_written_after_the_files_that_they_name() {
    let scene = Scene::new();
    for version in ["1.0.0", "1.1.0"] {
        push(&scene, DEMO, version, &demo(version));
    }
    let registry = Setup::of(Personality::Plain).start();
    import(&scene.path("store").join(DEMO), &registry, DEMO);
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
    let from = format!("{}/{{hostname}}/{{namespace}}/{{type}}", registry.host());
    let arguments = format!("site public {DEMO} --from {from} --plain-http 127.0.0.1 --jobs 1");
    scene.line(arguments).succeeds();
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
    let scene = Scene::new();
    push(&scene, DEMO, "1.0.0", &demo("1.0.0"));
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
    let scene = Scene::new();
    push(&scene, DEMO, "1.0.0", &demo("1.0.0"));
    let registry = Setup::of(Personality::Plain).start();
    import(&scene.path("store").join(DEMO), &registry, DEMO);
    let zh = Facts::of_demo(&scene, "linux_amd64").zh.replace("zh:", "");
    registry.always(matching("GET", &zh), Fault::wrong_bytes());
    let from = format!("{}/{{hostname}}/{{namespace}}/{{type}}", registry.host());
    let arguments = format!("site public {DEMO} --from {from} --plain-http 127.0.0.1");
    scene.line(arguments).exits(3);
    let names: Vec<String> = tree(&scene.path("public")).into_keys().collect();
    let is_shown = |name: &&String| name.contains("linux_amd64") || name.ends_with(".json");
    assert_eq!(names.iter().find(is_shown), None);
    assert!(
        !names.iter().any(|name| name.contains(".tfoci-tmp-")),
        "{names:?}"
    );
}

#[test]
fn an_interrupted_run_leaves_whole_files_only() {
    let scene = Scene::new();
    push(&scene, DEMO, "1.0.0", &demo("1.0.0"));
    let registry = Setup::of(Personality::Plain).start();
    import(&scene.path("store").join(DEMO), &registry, DEMO);
    let zh = Facts::of_demo(&scene, "windows_arm64")
        .zh
        .replace("zh:", "");
    let (begun, begins) = mpsc::channel();
    let stall = Fault::stall_body_after(move || begun.send(()).unwrap());
    registry.always(matching("GET", &zh), stall);
    let from = format!("{}/{{hostname}}/{{namespace}}/{{type}}", registry.host());
    let mut run = scene.command(env!("CARGO_BIN_EXE_tfoci"));
    let site = format!("site public {DEMO} --from {from} --plain-http 127.0.0.1 --jobs 1");
    run.args(site.split(' '));
    run.stdout(Stdio::null()).stderr(Stdio::null());
    let mut run = run.spawn().unwrap();
    begins.recv().unwrap();
    let kill = Command::new("kill")
        .args(["-s", "INT", &run.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    assert_eq!(run.wait().unwrap().code(), Some(130));
    let left = tree(&scene.path("public"));
    let name = "terraform-provider-demo_1.0.0_linux_amd64.zip";
    let whole = std::fs::read(released(&scene, DEMO, "1.0.0").join(name)).unwrap();
    assert!(
        left == BTreeMap::from([(format!("{DEMO}/{name}"), whole)]),
        "{:?}",
        left.keys()
    );
}

/// Without `--default-host`, the providers of the template have another host, under which none of them verifies.
#[test]
fn a_forgotten_option_does_not_delete_the_site() {
    let scene = Scene::new();
    push(&scene, DEMO, "1.0.0", &demo("1.0.0"));
    let registry = Setup::of(Personality::Plain);
    let registry = registry.quirks(|quirks| quirks.catalog = Some(2)).start();
    import(&scene.path("store").join(DEMO), &registry, "acme/demo");
    let from = format!("{}/{{namespace}}/{{type}}", registry.host());
    let always = format!("site public --from {from} --plain-http 127.0.0.1");
    let site = |arguments: &str| scene.line(format!("{always} {arguments}"));
    site("--default-host example.com").succeeds();
    let published = files(&scene);
    let run = site("--delete").exits(3);
    run.tells("example.com/acme/demo is still published");
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
        let scene = Scene::new();
        push(&scene, DEMO, "1.0.0", &demo("1.0.0"));
        let other = "example.com/team/other";
        let release = ReleaseFolder::new("other", "0.3.0").platform("linux_amd64");
        push(&scene, other, "0.3.0", &release);
        let registry = Setup::of(Personality::Plain);
        let registry = registry.quirks(|quirks| quirks.catalog = Some(2)).start();
        for name in ["acme/demo", "team/other"] {
            let layout = scene.path("store/example.com").join(name);
            import(&layout, &registry, name);
        }
        let from = format!("{}/{{namespace}}/{{type}}", registry.host());
        let more = "--plain-http 127.0.0.1 --default-host example.com";
        let site =
            |arguments: &str| scene.line(format!("site public --from {from} {more} {arguments}"));
        site("").succeeds();
        let published = files(&scene);
        let says = move |answer: &mut answer::Answer| answer.body = body.into();
        registry.always(matching("GET", path), Fault::alter(says));
        site("--delete").exits(code).tells(said);
        assert_eq!(files(&scene), published);
    }
}
