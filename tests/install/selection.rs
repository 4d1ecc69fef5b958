//! Which versions of which providers.

use super::{DEMO, demo, install, names, push};
use crate::support::author::Author;
use crate::support::release::ReleaseFolder;
use crate::support::scene::{Run, Scene};

const LINUX: &str = "--platform linux_amd64";

fn with_versions(versions: &[&str]) -> Scene {
    let scene = Scene::new();
    for version in versions {
        push(&scene, DEMO, version, &demo(version));
    }
    scene
}

fn install_linux(scene: &Scene, arguments: impl AsRef<str>) -> Run {
    let arguments = arguments.as_ref();
    install(scene, format!("{arguments} {LINUX}"))
}

#[test]
fn constraints_select_the_newest_matching_version() {
    let scene = with_versions(&["0.9.0", "1.0.0", "1.4.2", "2.0.0", "2.1.0-beta.1", "3.0.0"]);
    for (asked, chosen) in [
        ("", "3.0.0"),
        ("@1.0.0", "1.0.0"),
        ("@~>1.0", "1.4.2"),
        ("@~>1.0.0", "1.0.0"),
        ("@>=1,<2", "1.4.2"),
        ("@<1.0.0", "0.9.0"),
        ("@!=3.0.0", "2.0.0"),
        ("@2.1.0-beta.1", "2.1.0-beta.1"),
    ] {
        let selection = format!("{DEMO}{asked}");
        let run = install_linux(&scene, format!("{selection} --dry-run")).succeeds();
        run.tells(format!("Would copy {DEMO} {chosen} "));
    }
}

#[test]
fn when_nothing_matches_the_versions_are_listed() {
    let scene = with_versions(&["1.0.0", "1.10.0", "1.9.0-rc.1"]);
    for (asked, shown) in [
        ("~>2.0", "~> 2.0"),
        ("1.9.1", "1.9.1"),
        ("=3.0", "3.0.0"),
        ("1.9.0", "1.9.0"),
        (">=1.9.0-rc.1,<1.10", ">= 1.9.0-rc.1, < 1.10.0"),
    ] {
        let run = install_linux(&scene, format!("{DEMO}@{asked}")).exits(1);
        assert_eq!(run.stdout, "");
        for said in [&format!("`{shown}`"), " 1.10.0, 1.9.0-rc.1, 1.0.0\n"] {
            run.tells(said);
        }
    }
    assert!(!scene.path("mirror").exists());
}

#[test]
fn pre_releases_alone_are_not_selected() {
    let scene = with_versions(&["1.0.0-rc.1"]);
    install_linux(&scene, DEMO).exits(1).tells("1.0.0-rc.1");
}

#[test]
fn without_an_address_every_provider_is_installed() {
    let scene = with_versions(&["1.0.0", "1.1.0"]);
    let other = ReleaseFolder::new("other", "0.1.0").platform("linux_amd64");
    push(&scene, "bücher.example/team/other", "0.1.0", &other);
    let run = install_linux(&scene, "").succeeds();
    let paths = "mirror/example.com/acme/demo/terraform-provider-demo_1.1.0_linux_amd64.zip
mirror/bücher.example/team/other/terraform-provider-other_0.1.0_linux_amd64.zip
";
    assert_eq!(run.stdout, paths);
    assert_eq!(names(&scene.path("mirror")).len(), 2);
}

#[test]
fn several_addresses_and_versions_are_installed_together() {
    let scene = with_versions(&["1.0.0", "1.1.0"]);
    let other = ReleaseFolder::new("other", "0.1.0").platform("linux_amd64");
    push(&scene, "example.com/acme/other", "0.1.0", &other);
    let unwanted = ReleaseFolder::new("unwanted", "1.0.0").platform("linux_amd64");
    push(&scene, "example.com/acme/unwanted", "1.0.0", &unwanted);
    let asked = format!("{DEMO}@1.0.0 {DEMO} example.com/acme/other");
    let run = install_linux(&scene, asked).succeeds();
    assert_eq!(
        names(&scene.path("mirror")),
        [
            "example.com/acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip",
            "example.com/acme/demo/terraform-provider-demo_1.1.0_linux_amd64.zip",
            "example.com/acme/other/terraform-provider-other_0.1.0_linux_amd64.zip",
        ]
    );
    run.tells("include = [\"example.com/acme/demo\", \"example.com/acme/other\"]");
}

#[test]
fn an_empty_store_has_nothing_to_install() {
    let scene = Scene::new();
    std::fs::create_dir(scene.path("store")).unwrap();
    let run = install(&scene, "").exits(1);
    assert_eq!(run.stdout, "");
}

#[test]
fn a_store_address_is_refused_as_target_directory() {
    let author = Author::pushed();
    let arguments = "install acme/demo --from oci-layout:store --into oci-layout:out";
    author.line(arguments).exits(2).without_result();
    assert!(!author.scene.path("oci-layout:out").exists());
    // The store itself, and one of its repositories.
    for into in ["store", "store/registry.opentofu.org/acme/demo"] {
        for command in ["install acme/demo --into", "site"] {
            let line = format!("{command} {into} --from oci-layout:store");
            author.line(line).exits(2);
        }
    }
}

#[test]
fn one_exact_repository_needs_an_address() {
    let scene = with_versions(&["1.0.0"]);
    let repository = "oci-layout:store/example.com/acme/demo";
    let from = |address: &str| {
        let always = format!("install --from {repository} --exact-repository --into mirror");
        scene.line(format!("{always} {LINUX} {address}"))
    };
    from("").exits(2);
    // The evidence proves the type and the version, and these bytes may well be mirrored under another host.
    let run = from("mirror.example/acme/demo").succeeds();
    assert_eq!(
        run.stdout,
        "mirror/mirror.example/acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip\n"
    );
    from("example.com/acme/other").exits(3);
    let run = scene.line(format!("install --from {repository} --into mirror"));
    assert_eq!(run.exits(2).stdout, "");
}
