use std::fs;

use super::{HOST, LINUX, bundled, copy, filled, members};
use crate::clients::run;
use crate::support::judge;
use crate::support::programs::has;

/// Every command prints the same of a bundle as of the layout that it was made from.
#[test]
fn every_command_reads_a_bundle_like_a_layout() {
    let author = filled();
    let path = bundled(&author, "all.tar", &[]);
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
            let mut arguments: Vec<_> = command.split(' ').collect();
            arguments.extend(["--from", from]);
            let run = author.tfoci(&arguments);
            let steady = |text: &str| text.replace(from, "[FROM]").replace(name, "[STORE]");
            (run.status, steady(&run.stdout), steady(&run.stderr))
        });
        assert_eq!(layout, bundle, "{command}");
    }
    for directory in ["mirror", "unpacked"] {
        let [layout, bundle] = ["oci-layout", "bundle"]
            .map(|name| judge::tree(&author.scene.path(format!("{directory}-{name}"))));
        assert_eq!(layout, bundle);
        assert!(!layout.is_empty());
    }
    let [layout, bundle] = ["oci-layout.hcl", "bundle.hcl"]
        .map(|name| fs::read_to_string(author.scene.path(name)).unwrap());
    assert_eq!(layout, bundle);
    assert!(fs::read(&path).unwrap() == before);
}

#[test]
fn a_copy_back_gives_the_same_layout() {
    let author = filled();
    bundled(&author, "all.tar", &[]);
    copy(
        &author,
        "bundle:all.tar",
        "oci-layout:back",
        &["--key", "acme.asc"],
    )
    .succeeds();
    let [store, back] = ["store", "back"].map(|name| judge::tree(&author.scene.path(name)));
    assert_eq!(store, back);
}

#[test]
fn a_site_from_a_bundle_is_that_of_its_layout() {
    let author = filled();
    bundled(&author, "all.tar", &[]);
    let [layout, bundle] = ["oci-layout:store", "bundle:all.tar"].map(|from| {
        let into = from.replace([':', '.'], "-");
        author.tfoci(&["site", &into, "--from", from]).succeeds();
        judge::tree(&author.scene.path(&into))
    });
    assert_eq!(
        layout.keys().collect::<Vec<_>>(),
        bundle.keys().collect::<Vec<_>>()
    );
    assert!(layout.keys().any(|name| name.ends_with(".zip")));
}

/// The references that a copy prints name a version in a bundle.
#[test]
fn references_lead_into_the_bundle() {
    let author = filled();
    let run = copy(&author, "oci-layout:store", "bundle:all.tar", &[]).succeeds();
    let mut tree = 0;
    for reference in run.stdout.lines() {
        assert!(
            reference.starts_with(&format!("bundle:all.tar/{HOST}/acme/")),
            "{reference}"
        );
        author
            .tfoci(&["inspect", reference, "--key", "acme.asc"])
            .succeeds();
        author
            .line(format!(
                "install {reference} --into mirror --platform {LINUX}"
            ))
            .succeeds();
        tree += 1;
    }
    assert_eq!(tree, 3);
    let wrong = run
        .stdout
        .lines()
        .next()
        .unwrap()
        .replace("acme/demo", "acme/other");
    author.tfoci(&["inspect", &wrong]).exits(1);
}

#[test]
fn two_readers_at_once_do_not_disturb_each_other() {
    let author = filled();
    bundled(&author, "all.tar", &[]);
    std::thread::scope(|scope| {
        for to in ["oci-layout:one", "oci-layout:two"] {
            let author = &author;
            scope.spawn(move || copy(author, "bundle:all.tar", to, &[]).succeeds());
        }
    });
    let [one, two] = ["one", "two"].map(|name| judge::tree(&author.scene.path(name)));
    assert_eq!(one, two);
}

/// Other tools find a version by its name in the bundle, with the same digest.
#[test]
fn other_tools_read_a_bundle() {
    let author = filled();
    bundled(&author, "all.tar", &[]);
    let digest = author.tagged("1.0.0").unwrap();
    let name = format!("{HOST}/acme/demo/1.0.0");
    let in_scene = |program: &str, arguments: &[&str]| {
        run(&author.scene, &author.scene.path(""), program, arguments).succeeds()
    };
    if has("skopeo") {
        let at = format!("oci-archive:all.tar:{name}");
        let raw = in_scene("skopeo", &["inspect", "--raw", &at]).stdout;
        assert_eq!(crate::support::release::sha256(raw.as_bytes()), digest);
    }
    if has("oras") {
        let at = format!("all.tar:{name}");
        let to = ["--to-oci-layout", "copied:1.0.0"];
        in_scene(
            "oras",
            &[&["cp", "--from-oci-layout", &at][..], &to].concat(),
        );
        let tar = members(&author, "all.tar");
        for blob in fs::read_dir(author.scene.path("copied/blobs/sha256")).unwrap() {
            let name = blob.unwrap().file_name().into_string().unwrap();
            assert!(tar.has(&name), "{name}");
        }
        assert!(
            author
                .scene
                .path("copied/blobs/sha256")
                .join(&digest)
                .exists()
        );
    }
    if has("regctl") {
        let to = "ocidir://imported:1.0.0";
        in_scene(
            "regctl",
            &["image", "import", "--name", &name, to, "all.tar"],
        );
        assert!(
            author
                .scene
                .path("imported/blobs/sha256")
                .join(&digest)
                .exists()
        );
    }
}
