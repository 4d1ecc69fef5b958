use std::fs;

use super::{HOST, LINUX, bundled, copy, filled, members};
use crate::clients::run;
use crate::support::programs::has;

/// Every command prints the same of a bundle as of the layout that it was made from.
#[test]
fn every_command_reads_a_bundle_like_a_layout() {
    let author = filled();
    let path = bundled(&author, "all.tar", "");
    let before = fs::read(&path).unwrap();
    for command in [
        "list",
        "versions acme/demo",
        "versions acme/demo --all",
        "inspect acme/demo",
        "inspect acme/other --key acme.asc --require-pinned",
        "inspect acme/none",
        "verify --key acme.asc",
        "verify --key stranger.asc",
        "verify --deep --key acme.asc acme/demo@~>1.0",
        "install acme/demo --into mirror-[STORE] --platform all --key acme.asc",
        "install acme/demo@1.0.0 --into unpacked-[STORE] --unpacked --platform linux_amd64",
        "lock acme/demo --platform all --lock-file [STORE].hcl",
        "lock acme/demo@9.9.9 --lock-file none.hcl",
        "have acme/demo",
        "doctor acme/demo",
    ] {
        let [layout, bundle] = ["oci-layout:store", "bundle:all.tar"].map(|from| {
            let name = from.split_once(':').unwrap().0;
            let command = command.replace("[STORE]", name);
            let run = author.line(format!("{command} --from {from}"));
            let steady = |text: &str| text.replace(from, "[FROM]").replace(name, "[STORE]");
            (run.status, steady(&run.stdout), steady(&run.stderr))
        });
        assert_eq!(layout, bundle, "{command}");
    }
    for directory in ["mirror", "unpacked"] {
        let [layout, bundle] =
            ["oci-layout", "bundle"].map(|name| author.tree_of(format!("{directory}-{name}")));
        assert_eq!(layout, bundle);
        assert!(!layout.is_empty());
    }
    let [layout, bundle] =
        ["oci-layout.hcl", "bundle.hcl"].map(|name| fs::read_to_string(author.path(name)).unwrap());
    assert_eq!(layout, bundle);
    assert!(fs::read(&path).unwrap() == before);
}

#[test]
fn a_site_from_a_bundle_is_that_of_its_layout() {
    let author = filled();
    bundled(&author, "all.tar", "");
    let [layout, bundle] = ["oci-layout:store", "bundle:all.tar"].map(|from| {
        let into = from.replace([':', '.'], "-");
        author.line(format!("site {into} --from {from}")).succeeds();
        author.tree_of(&into)
    });
    assert!(layout.keys().eq(bundle.keys()));
    assert!(layout.keys().any(|name| name.ends_with(".zip")));
}

/// The references that a copy prints name a version in a bundle.
#[test]
fn references_lead_into_the_bundle() {
    let author = filled();
    let run = copy(&author, "oci-layout:store bundle:all.tar").succeeds();
    for reference in run.stdout.lines() {
        let place = format!("bundle:all.tar/{HOST}/acme/");
        assert!(reference.starts_with(&place), "{reference}");
        let inspect = format!("inspect {reference} --key acme.asc");
        author.line(inspect).succeeds();
        let install = format!("install {reference} --into mirror --platform {LINUX}");
        author.line(install).succeeds();
    }
    assert_eq!(run.stdout.lines().count(), 3);
    let wrong = run.stdout.lines().next().unwrap();
    let wrong = wrong.replace("acme/demo", "acme/other");
    author.line(format!("inspect {wrong}")).exits(1);
}

#[test]
fn two_readers_at_once_do_not_disturb_each_other() {
    let author = filled();
    bundled(&author, "all.tar", "");
    std::thread::scope(|scope| {
        for to in ["oci-layout:one", "oci-layout:two"] {
            let author = &author;
            scope.spawn(move || copy(author, format!("bundle:all.tar {to}")).succeeds());
        }
    });
    for copied in ["one", "two"] {
        assert_eq!(author.tree_of(copied), author.tree_of("store"));
    }
}

/// Other tools find a version by its name in the bundle, with the same digest.
#[test]
fn other_tools_read_a_bundle() {
    let author = filled();
    bundled(&author, "all.tar", "");
    let digest = author.tagged("1.0.0").unwrap();
    let name = format!("{HOST}/acme/demo/1.0.0");
    let in_scene = |program: &str, line: &str| {
        run(&author.scene, &author.path(""), program, line.split(' ')).succeeds()
    };
    if has("skopeo") {
        let inspect = format!("inspect --raw oci-archive:all.tar:{name}");
        let raw = in_scene("skopeo", &inspect).stdout;
        assert_eq!(crate::support::release::sha256(raw.as_bytes()), digest);
    }
    if has("oras") {
        let to = "--to-oci-layout copied:1.0.0";
        in_scene("oras", &format!("cp --from-oci-layout all.tar:{name} {to}"));
        let tar = members(&author, "all.tar");
        for blob in fs::read_dir(author.path("copied/blobs/sha256")).unwrap() {
            let name = blob.unwrap().file_name().into_string().unwrap();
            assert!(tar.has(&name), "{name}");
        }
        let index = author.path("copied/blobs/sha256").join(&digest);
        assert!(index.exists());
    }
    if has("regctl") {
        let import = format!("image import --name {name} ocidir://imported:1.0.0 all.tar");
        in_scene("regctl", &import);
        let index = author.path("imported/blobs/sha256").join(&digest);
        assert!(index.exists());
    }
}
