use std::fs;
use std::path::Path;

use super::{
    OTHER, assert_names_what_is_there, dry_run, files, listed, names, of_demo, of_two_providers,
    push_other, site, with_two, zip,
};
use crate::chaos::tracer::{self, ENDLESS, Fault, REMOVE, RENAME, Threads, WRITE};
use crate::install::{DEMO, demo, push, released, tree};
use crate::support::programs::can_trace;
use crate::support::release::ReleaseFolder;
use crate::support::scene::Scene;
use crate::support::tamper::untag;

/// A site of two providers, of which the store loses a version and a provider.
fn after_losses() -> Scene {
    let scene = of_two_providers();
    untag(&scene.path("store").join(DEMO), "1.0.0");
    fs::remove_dir_all(scene.path("store/example.net")).unwrap();
    scene
}

#[test]
fn versions_that_the_store_no_longer_has_stay_until_they_are_deleted() {
    let scene = after_losses();
    let foreign = [
        of_demo(&scene, "notes.txt"),
        of_demo(&scene, "terraform-provider-demo_1.0.0_linux_amd64.zip.sig"),
        of_demo(&scene, "terraform-provider-more_1.0.0_linux_amd64.zip"),
        of_demo(&scene, "old/1.0.0.json"),
        scene.path("public").join(OTHER).join("README"),
        scene.path("public/css/a/b/index.json"),
    ];
    for path in &foreign {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "foreign").unwrap();
    }
    for run in [site(&scene, ""), dry_run(&scene, "")] {
        run.succeeds()
            .says("Note example.com/acme/demo 1.0.0 example.net/team/other 0.3.0 --delete");
    }
    let named = site(&scene, DEMO).succeeds();
    named.says("Note example.com/acme/demo 1.0.0 --delete");
    assert_eq!(listed(&scene), ["1.0.0", "1.1.0"]);

    let run = dry_run(&scene, "--delete").succeeds();
    run.says("delete example.com/acme/demo 1.0.0");
    assert_eq!(listed(&scene), ["1.0.0", "1.1.0"]);

    // With an address, another provider is not touched.
    let run = site(&scene, format!("{DEMO} --delete --format json")).succeeds();
    let deleted = serde_json::json!([{"provider": DEMO, "version": "1.0.0"}]);
    assert_eq!(run.json()["deleted"], deleted);
    assert_eq!(listed(&scene), ["1.1.0"]);
    let other = scene.path("public").join(OTHER);
    assert!(other.join("index.json").is_file());

    let run = site(&scene, "--delete").succeeds();
    run.omits("Note");
    run.says("Deleted example.net/team/other 0.3.0");
    let left: Vec<_> = fs::read_dir(&other).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    for path in &foreign {
        assert_eq!(fs::read(path).unwrap(), b"foreign", "{}", path.display());
    }
    let mut own = names(&scene);
    own.retain(|name| !foreign.contains(&of_demo(&scene, name)));
    let zips = ["linux_amd64", "windows_arm64"].map(|platform| zip("1.1.0", platform));
    let documents = ["1.1.0.json", "index.json"].map(str::to_owned);
    assert_eq!(own, [documents, zips].concat());
}

#[test]
fn nothing_is_deleted_if_the_store_cannot_be_read() {
    let scene = after_losses();
    let index = scene.path("store").join(DEMO).join("index.json");
    // Clients take a document without a list for an empty list.
    for text in ["{", "{}", r#"{"schemaVersion":2}"#] {
        fs::write(&index, text).unwrap();
        site(&scene, format!("--delete {DEMO}")).exits(1);
        assert_eq!(listed(&scene), ["1.0.0", "1.1.0"]);
    }
    fs::remove_dir_all(scene.path("store")).unwrap();
    site(&scene, "--delete").exits(1);
    assert_eq!(listed(&scene), ["1.0.0", "1.1.0"]);
}

/// What is damaged in the store says nothing about what is published.
#[test]
fn a_version_of_which_the_store_lost_a_part_stays() {
    let scene = with_two();
    site(&scene, "").succeeds();
    let published = files(&scene);
    let layout = scene.path("store").join(DEMO);
    let blobs = fs::read_dir(layout.join("blobs/sha256")).unwrap();
    let blobs: Vec<_> = blobs.map(|blob| blob.unwrap().path()).collect();
    type Damage = fn(&Path, &[u8]);
    let damages: [Damage; 2] = [
        |path, _| fs::remove_file(path).unwrap(),
        |path, bytes| fs::write(path, vec![b'x'; bytes.len()]).unwrap(),
    ];
    let mut kept = 0;
    for blob in blobs {
        for damage in damages {
            let whole = fs::read(&blob).unwrap();
            damage(&blob, &whole);
            let run = site(&scene, "--delete");
            assert_eq!(files(&scene), published, "{}", run.stderr);
            kept += usize::from(run.stderr.contains("still published"));
            fs::write(&blob, whole).unwrap();
        }
    }
    assert!(kept > 10, "{kept}");
}

/// Registries and people delete tags one by one.
#[test]
fn a_version_of_which_the_store_lost_the_evidence_stays() {
    let scene = with_two();
    site(&scene, "").succeeds();
    let published = files(&scene);
    untag(&scene.path("store").join(DEMO), "evidence-1.1.0");
    let run = site(&scene, "--delete --key acme.asc").exits(3);
    run.says("error example.com/acme/demo 1.1.0 Note example.com/acme/demo 1.1.0 1 of 2");
    assert_eq!(files(&scene), published);
}

#[test]
fn a_platform_that_the_store_lost_is_deleted_too() {
    let scene = with_two();
    site(&scene, "").succeeds();
    fs::remove_dir_all(scene.path("store")).unwrap();
    fs::remove_dir_all(released(&scene, DEMO, "1.0.0")).unwrap();
    let one = ReleaseFolder::new("demo", "1.0.0").platform("linux_amd64");
    push(&scene, DEMO, "1.0.0", &one);
    push(&scene, DEMO, "1.1.0", &demo("1.1.0"));
    let windows = zip("1.0.0", "windows_arm64");
    site(&scene, "").succeeds();
    assert!(names(&scene).contains(&windows));
    site(&scene, "--delete").succeeds();
    assert!(!names(&scene).contains(&windows));
    assert_eq!(listed(&scene), ["1.0.0", "1.1.0"]);
    assert_names_what_is_there(&scene.path("public"));
}

/// A run that deletes is killed at each of its system calls in turn: no document names a deleted file, and the next run finishes.
#[test]
fn a_killed_deletion_names_only_existing_files() {
    if !can_trace() {
        return;
    }
    let scene = after_losses();
    let before = tree(&scene.path("public"));
    let arguments = "site public --from oci-layout:store --delete --jobs 1";
    let arguments: Vec<String> = arguments.split(' ').map(str::to_owned).collect();
    let restore = || {
        fs::remove_dir_all(scene.path("public")).unwrap();
        for (name, bytes) in &before {
            scene.write(format!("public/{name}"), bytes);
        }
    };
    restore();
    scene.tfoci(&arguments).succeeds();
    let finished = tree(&scene.path("public"));
    for calls in [RENAME, REMOVE, WRITE] {
        let mut killed = 0;
        for nth in 1..ENDLESS {
            restore();
            let fault = Fault {
                calls,
                effect: "signal=KILL",
                nth,
                threads: Threads::All,
            };
            let (run, _) = tracer::run(&scene, &fault, &arguments);
            if run.status == Some(0) {
                break;
            }
            killed += 1;
            assert_names_what_is_there(&scene.path("public"));
            scene.tfoci(&arguments).succeeds();
            assert!(tree(&scene.path("public")) == finished, "{calls} {nth}");
        }
        assert!((1..ENDLESS - 1).contains(&killed), "{calls}");
    }
}

/// A registry keeps the repository of a provider whose versions were all withdrawn.
#[test]
fn a_provider_without_any_version_is_deleted_and_fails_no_command() {
    for addresses in ["", OTHER] {
        let scene = after_losses();
        push_other(&scene, "0.4.0");
        site(&scene, "").succeeds();
        for tag in ["0.4.0", "evidence-0.4.0"] {
            untag(&scene.path("store").join(OTHER), tag);
        }
        let index = scene.path("public").join(OTHER).join("index.json");
        let from = "--from oci-layout:store";
        for command in "site public|copy --to oci-layout:to|install --into into".split('|') {
            let run = scene.line(format!("{command} {from}")).succeeds();
            run.says("Warning example.net/team/other oci-layout:store");
            assert!(index.exists());
        }
        // Who names the provider has probably made a mistake, unless it is to be deleted.
        for command in ["site public", "copy --to oci-layout:to"] {
            let run = scene.line(format!("{command} {OTHER} {from}")).exits(1);
            run.says("error example.net/team/other");
        }
        assert!(index.exists());
        let run = site(&scene, format!("{addresses} --delete")).succeeds();
        run.tells("Deleted example.net/team/other 0.4.0\n");
        assert!(!index.exists());
    }
}

/// What is left of the layout of `OTHER` proves nothing about its provider.
#[test]
fn an_incomplete_layout_does_not_delete_its_provider() {
    type Damage = fn(&Path);
    // What deletes files by their names leaves the lock file.
    let by_name: Damage = |layout| {
        assert!(layout.join(".tfoci.lock").exists());
        fs::remove_dir_all(layout.join("blobs")).unwrap();
        fs::remove_file(layout.join("oci-layout")).unwrap();
        fs::remove_file(layout.join("index.json")).unwrap();
    };
    let another: Damage = |layout| {
        fs::remove_file(layout.join("index.json")).unwrap();
        fs::create_dir_all(layout.with_file_name("more").join("blobs")).unwrap();
    };
    for (damage, layouts) in [
        (by_name, "store/example.net/team/other"),
        (
            another,
            "store/example.net/team/more store/example.net/team/other",
        ),
    ] {
        let scene = of_two_providers();
        let published = files(&scene);
        damage(&scene.path("store").join(OTHER));
        let run = site(&scene, "--delete").succeeds();
        assert_eq!(files(&scene), published);
        run.says(&format!("Warning {layouts} Note example.net/team/other"));
    }
}
