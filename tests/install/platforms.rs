//! For which platforms.

use super::{DEMO, install, names, push, with_demo};
use crate::support::release::ReleaseFolder;
use crate::support::scene::Scene;

fn zips(platforms: &[&str]) -> Vec<String> {
    let names = platforms.iter();
    let names = names.map(|it| format!("{DEMO}/terraform-provider-demo_1.0.0_{it}.zip"));
    names.collect()
}

#[test]
fn every_form_of_the_platform_option_is_accepted() {
    let both = ["linux_amd64", "windows_arm64"];
    let cases: [(&str, &[&str]); 6] = [
        ("--platform windows_arm64", &both[1..]),
        ("--platform linux/amd64", &both[..1]),
        ("--platform windows/arm64 --platform linux_amd64", &both),
        ("--platform linux/amd64 --platform linux_amd64", &both[..1]),
        ("--platform all", &both),
        ("--platform linux_amd64 --platform all", &both),
    ];
    for (arguments, platforms) in cases {
        let scene = with_demo();
        let run = install(&scene, format!("{DEMO} {arguments}")).succeeds();
        assert_eq!(names(&scene.path("mirror")), zips(platforms), "{arguments}");
        let paths = zips(platforms).into_iter();
        let paths: String = paths.map(|path| format!("mirror/{path}\n")).collect();
        assert_eq!(run.stdout, paths, "{arguments:?}");
    }
}

#[test]
fn without_an_option_this_machine_s_platform_is_installed() {
    let here = tfoci::platform::Platform::current().to_string();
    let scene = Scene::new();
    let release = ReleaseFolder::new("demo", "1.0.0")
        .platform(&here)
        .platform("plan9_mips");
    push(&scene, DEMO, "1.0.0", &release);
    install(&scene, DEMO).succeeds();
    assert_eq!(names(&scene.path("mirror")), zips(&[&here]));
}

#[test]
fn a_platform_that_the_version_lacks_is_an_error() {
    let scene = with_demo();
    let both = "--platform linux_amd64 --platform plan9_mips";
    let run = install(&scene, format!("{DEMO} {both}")).exits(1);
    assert_eq!(run.stdout, "");
    for said in [" plan9_mips ", " linux_amd64, windows_arm64\n"] {
        run.tells(said);
    }
    assert_eq!(names(&scene.path("mirror")), [""; 0]);
}

#[test]
fn a_malformed_platform_is_a_usage_error() {
    let scene = with_demo();
    for text in ["linux", "linux_amd64_v2", "", "linux-amd64"] {
        let install = ["install", DEMO, "--from", "oci-layout:store", "--into"];
        let arguments = install.into_iter().chain(["mirror", "--platform", text]);
        let run = scene.tfoci(arguments).exits(2);
        assert_eq!(run.stdout, "");
        run.tells(format!("`{text}`"));
    }
    assert!(!scene.path("mirror").exists());
}
