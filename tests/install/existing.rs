//! Existing packages in the mirror: kept if they are the same, and never replaced.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use super::{DEMO, Facts, demo, install, install_linux, names, push, steady, tree, with_demo};

const PACKED: &str = "mirror/example.com/acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip";
const UNPACKED: &str = "mirror/example.com/acme/demo/1.0.0/linux_amd64";

/// The inode and modification time of every file, which change when a file is written again.
fn identities(directory: PathBuf) -> Vec<(String, u64, i64)> {
    let names = names(&directory).into_iter();
    names
        .map(|name| {
            let metadata = fs::metadata(directory.join(&name)).unwrap();
            (name, metadata.ino(), metadata.mtime_nsec())
        })
        .collect()
}

#[test]
fn a_second_run_has_nothing_to_do() {
    for form in ["--packed", "--unpacked"] {
        let scene = with_demo();
        let first = install(&scene, format!("--platform all {form}")).succeeds();
        let before = identities(scene.path("mirror"));
        let second = install(&scene, format!("--platform all {form} -v")).succeeds();
        assert_eq!(second.stdout, first.stdout);
        let stderr = steady(&second.stderr);
        for platform in ["linux_amd64", "windows_arm64"] {
            let size = Facts::of_demo(&scene, platform).size;
            let how = "signed [ACME ID] (embedded)";
            let line = format!("   Present {DEMO} 1.0.0 {platform}   {size} B   {how}\n");
            assert!(stderr.contains(&line), "{stderr}");
        }
        assert_eq!(identities(scene.path("mirror")), before);
    }
}

#[test]
fn only_what_is_missing_is_copied() {
    let scene = with_demo();
    install_linux(&scene, "").succeeds();
    let run = install(&scene, "--platform all").succeeds();
    let size = Facts::of_demo(&scene, "windows_arm64").size;
    let said = format!(" Installed 1 version, 1 package ({size} B copied, 1 already present) in ");
    run.tells(&said);
}

#[test]
fn another_file_in_the_place_of_a_package_is_refused_and_kept() {
    let scene = with_demo();
    scene.write(PACKED, "something else");
    for arguments in ["--dry-run", ""] {
        let run = install_linux(&scene, arguments).exits(3);
        assert_eq!(run.stdout, "");
        let received = super::sha256(b"something else");
        let said = format!("\n  {PACKED}\n  received zh:{received}\n");
        assert!(run.stderr.contains(&said), "{}\n{said}", run.stderr);
        assert_eq!(fs::read(scene.path(PACKED)).unwrap(), b"something else");
        assert_eq!(names(&scene.path("mirror")).len(), 1);
    }
}

#[test]
fn a_directory_that_differs_is_refused_and_kept() {
    type Change = fn(PathBuf);
    // A changed file, one too many, one too few, and a file in the place of the directory.
    let changes: [Change; 4] = [
        |at| fs::write(at.join("LICENSE"), "other").unwrap(),
        |at| fs::write(at.join("more"), "").unwrap(),
        |at| fs::remove_file(at.join("LICENSE")).unwrap(),
        |at| {
            fs::remove_dir_all(&at).unwrap();
            fs::write(at, "file").unwrap();
        },
    ];
    for (what, change) in changes.iter().enumerate() {
        let scene = with_demo();
        install_linux(&scene, "--unpacked").succeeds();
        change(scene.path(UNPACKED));
        let before = tree(&scene.path("mirror"));
        let run = install_linux(&scene, "--unpacked").exits(3);
        let said = format!("\n  {UNPACKED}\n  received ");
        assert!(run.stderr.contains(&said), "{what}\n{}", run.stderr);
        assert_eq!(tree(&scene.path("mirror")), before, "{what}");
    }
}

#[test]
fn an_empty_directory_counts_as_absent() {
    let scene = with_demo();
    fs::create_dir_all(scene.path(UNPACKED)).unwrap();
    install_linux(&scene, "--unpacked").succeeds();
    assert_eq!(names(&scene.path(UNPACKED)).len(), 3);
}

#[test]
fn a_package_is_never_installed_in_both_forms() {
    for (first, second, path) in [
        ("--packed", "--unpacked", PACKED),
        ("--unpacked", "--packed", UNPACKED),
    ] {
        let scene = with_demo();
        install_linux(&scene, first).succeeds();
        let before = tree(&scene.path("mirror"));
        for more in ["--dry-run", ""] {
            let run = install_linux(&scene, format!("{second} {more}")).exits(3);
            run.tells(format!("  {path}\n"));
            assert_eq!(tree(&scene.path("mirror")), before);
        }
    }
}

#[test]
fn two_versions_and_foreign_files_live_side_by_side() {
    let scene = with_demo();
    push(&scene, DEMO, "1.1.0", &demo("1.1.0"));
    scene.write("mirror/example.com/acme/demo/index.json", "{}");
    for more in ["@1.0.0", "@1.1.0 --unpacked"] {
        install(&scene, format!("{DEMO}{more} --platform linux_amd64")).succeeds();
    }
    assert_eq!(
        names(&scene.path("mirror")),
        [
            "example.com/acme/demo/1.1.0/linux_amd64/LICENSE",
            "example.com/acme/demo/1.1.0/linux_amd64/README.md",
            "example.com/acme/demo/1.1.0/linux_amd64/terraform-provider-demo_v1.1.0",
            "example.com/acme/demo/index.json",
            "example.com/acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip",
        ]
    );
}

#[test]
fn files_of_a_killed_run_are_removed_by_the_next() {
    let scene = with_demo();
    scene.write("mirror/.tfoci-tmp-a1b2c3", "half a zip");
    scene.write("mirror/.tfoci-tmp-d4e5f6/docs/half", "half a directory");
    scene.write("mirror/.kept", "another program's");
    install_linux(&scene, "").succeeds();
    let packed = PACKED.strip_prefix("mirror/").unwrap();
    assert_eq!(names(&scene.path("mirror")), [".kept", packed]);
}

#[test]
fn runs_at_the_same_time_wait_for_each_other() {
    let scene = with_demo();
    let arguments = "install --from oci-layout:store --into mirror --platform all --quiet";
    for mut run in [(); 4].map(|()| scene.piped(arguments).spawn().unwrap()) {
        assert!(run.wait().unwrap().success());
    }
    assert_eq!(names(&scene.path("mirror")).len(), 2);
    install(&scene, "--platform all").succeeds();
}

#[test]
fn a_dry_run_reports_the_plan_and_writes_nothing() {
    for form in ["--packed", "--unpacked"] {
        let scene = with_demo();
        let dry = format!("--platform all --dry-run -v {form}");
        let planned = install(&scene, &dry).succeeds();
        assert!(!scene.path("mirror").exists());
        let stderr = steady(&planned.stderr);
        let size = Facts::of_demo(&scene, "linux_amd64").size;
        let how = "signed [ACME ID] (embedded)";
        let line = format!("\nWould copy {DEMO} 1.0.0 linux_amd64   {size} B   {how}\n");
        assert!(stderr.contains(&line), "{stderr}");

        install_linux(&scene, form).succeeds();
        let before = identities(scene.path("mirror"));
        let halfway = install(&scene, &dry).succeeds();
        assert_eq!(identities(scene.path("mirror")), before);

        let done = install(&scene, format!("--platform all {form}")).succeeds();
        assert_eq!(planned.stdout, done.stdout);
        assert_eq!(halfway.stdout, done.stdout);
    }
}

/// Clients take the first package in the order of paths, whatever its spelling.
#[test]
fn packages_under_another_spelling_are_refused() {
    let version = format!("mirror/{DEMO}/1.0.0");
    for (meant, written, other) in [
        (&*format!("mirror/{DEMO}"), "example.com", "EXAMPLE.com"),
        (&version, "1.0.0", "1.0"),
        (PACKED, "terraform-", "Terraform-"),
    ] {
        let scene = with_demo();
        let other = meant.replacen(written, other, 1);
        fs::create_dir_all(scene.path(&other)).unwrap();
        for form in ["--packed", "--unpacked"] {
            let run = install_linux(&scene, form).exits(3);
            run.tells(format!("  expected {meant}\n  received {other}\n"));
        }
        assert!(!scene.path(PACKED).exists());
    }
}
