use std::fs;

use super::origin_scene::{ARRIVED, BOTH_ARRIVED, COPIED, EACH_ONCE, OriginScene};
use super::{DARWIN, LINUX, demo};
use crate::support::judge;
use crate::support::origin::{Fault, Provider, asks};
use crate::support::release::ReleaseFolder;

/// `acme/demo` with several releases, one of them a pre-release.
fn versions() -> Provider {
    let all = ["0.9.0", "1.0.0", "1.1.0", "1.2.0-rc.1"].into_iter();
    all.fold(Provider::new("acme/demo"), |provider, version| {
        provider.version(version, &[LINUX])
    })
}

#[test]
fn a_provider_is_mirrored_and_then_present() {
    let scene = OriginScene::of([demo()]);
    let tag = "[ORIGIN]/acme/demo:1.0.0";
    scene.demo("").tells(COPIED).gives(tag);
    assert_eq!(scene.origin.counters(), EACH_ONCE);
    assert_eq!(scene.installs(), ARRIVED);

    scene.origin.forget();
    let before = scene.tree();
    scene.demo("").tells("Mirrored 1 [TIME]").gives(tag);
    assert_eq!(scene.origin.counters(), "1 discovery, 1 versions");
    assert_eq!(scene.tree(), before);
}

#[test]
fn a_new_platform_downloads_one_package() {
    let scene = OriginScene::of([Provider::demo(&[DARWIN, LINUX])]);
    scene.demo("--platform linux_amd64").tells(COPIED);
    scene.origin.forget();
    scene.demo("").tells(
        "Updated [ORIGIN]/acme/demo 1.0.0 2 407 signed [ACME ID] origin Mirrored 1 1 407 1 [TIME]",
    );
    assert_eq!(scene.origin.counters(), EACH_ONCE);
    assert_eq!(scene.origin.count(asks("package * * darwin_arm64")), 1);
    assert_eq!(scene.installs(), BOTH_ARRIVED);
}

#[test]
fn a_dry_run_reports_the_plan_and_writes_nothing() {
    let scene = OriginScene::of([
        Provider::demo(&[DARWIN, LINUX]),
        Provider::new("acme/other").version("2.0.0", &[LINUX]),
    ]);
    let all = "[ORIGIN]/acme/demo [ORIGIN]/acme/other --jobs 1";
    let plan = scene.mirror(&format!("{all} --dry-run"));
    plan.tells("Would [ORIGIN]/acme/demo 1.0.0 2 813 signed [ACME ID] origin Would [ORIGIN]/acme/other 2.0.0 1 409 signed [ACME ID] origin Would 2 3 1.19 [TIME]");
    assert_eq!(scene.origin.count(asks("package")), 0);
    assert!(!scene.path("store").exists());

    scene.demo("--platform linux_amd64").tells(COPIED);
    let before = scene.tree();
    let plan = scene.mirror(&format!("{all} --dry-run"));
    plan.tells("Would [ORIGIN]/acme/demo 1.0.0 2 407 signed [ACME ID] origin Would [ORIGIN]/acme/other 2.0.0 1 409 signed [ACME ID] origin Would 2 2 816 1 [TIME]");
    assert_eq!(scene.tree(), before);
}

#[test]
fn one_failing_provider_does_not_stop_the_others() {
    let scene = OriginScene::of(Provider::many(3, 1, &[LINUX]));
    let absent = asks("versions acme/p1");
    scene.origin.always(absent, Fault::status(404));
    let told = scene.mirror("[ORIGIN]/acme/p0 [ORIGIN]/acme/p1 [ORIGIN]/acme/p2 --jobs 1");
    told.says(1, "Copied [ORIGIN]/acme/p0 1.0.0 1 400 signed [ACME ID] origin Copied [ORIGIN]/acme/p2 1.0.0 1 400 signed [ACME ID] origin error [ORIGIN]/acme/p1 [ORIGIN] https://[ORIGIN]/v1/providers/acme/p1/versions");
    let others = ["acme/p0 1.0.0 linux_amd64", "acme/p2 1.0.0 linux_amd64"];
    assert_eq!(scene.installs(), others);
}

#[test]
fn a_verification_failure_outranks_a_missing_provider() {
    let scene = OriginScene::of(Provider::many(2, 1, &[LINUX]));
    let (absent, altered) = (asks("versions acme/p0"), asks("document acme/p1"));
    scene.origin.always(absent, Fault::status(404));
    scene.origin.always(altered, Fault::wrong_bytes());
    let told = scene.mirror("[ORIGIN]/acme/p0 [ORIGIN]/acme/p1 --jobs 1");
    told.says(3, "error [ORIGIN]/acme/p0 [ORIGIN] https://[ORIGIN]/v1/providers/acme/p0/versions error [ORIGIN]/acme/p1 1.0.0 [ORIGIN] SHA256SUMS.sig [ACME]");
    assert!(scene.installs().is_empty());
}

#[test]
fn constraints_say_which_versions() {
    for (wanted, versions) in [
        ("", &["1.1.0"][..]),
        ("@1.0.0", &["1.0.0"]),
        ("@>=0.9,!=1.0.0", &["0.9.0", "1.1.0"]),
        ("@>=0.1 --newest 2", &["1.0.0", "1.1.0"]),
        ("@>=1.0 --prereleases", &["1.0.0", "1.1.0", "1.2.0-rc.1"]),
        (" --prereleases", &["1.2.0-rc.1"]),
        (" --prereleases --newest 2", &["1.1.0", "1.2.0-rc.1"]),
        ("@1.2.0-rc.1", &["1.2.0-rc.1"]),
    ] {
        let scene = OriginScene::of([self::versions()]);
        scene.mirror(&format!("[ORIGIN]/acme/demo{wanted}")).ends(0);
        let line = |version: &&str| format!("acme/demo {version} {LINUX}");
        let all: Vec<_> = versions.iter().map(line).collect();
        assert_eq!(scene.installs(), all, "{wanted}");
    }
}

#[test]
fn unmet_constraints_list_the_available_versions() {
    let scene = OriginScene::of([versions()]);
    for (wanted, shown) in [
        (">=2.0", ">= 2.0.0"),
        (">1.1.0", "> 1.1.0"),
        ("~>1.2.0", "~> 1.2.0"),
    ] {
        let has = "1.2.0-rc.1 1.1.0 1.0.0 0.9.0";
        let says = format!("error [ORIGIN]/acme/demo [ORIGIN] {shown} {has}");
        let told = scene.mirror(&format!("[ORIGIN]/acme/demo@{wanted} --from origin"));
        told.says(1, &says);
    }
    let url = "https://[ORIGIN]/v1/providers/acme/none/versions";
    let says = format!("error [ORIGIN]/acme/none [ORIGIN] {url}");
    scene.mirror("[ORIGIN]/acme/none").says(1, &says);
}

#[test]
fn missing_platforms_are_reported() {
    let scene = OriginScene::of([demo()]);
    let warns = "Warning [ORIGIN]/acme/demo 1.0.0 [ORIGIN] plan9_mips Mirrored";
    let told = scene.demo("--platform linux_amd64 --platform plan9_mips");
    told.tells(&COPIED.replace("Mirrored", warns));
    let says = "error [ORIGIN]/acme/demo [ORIGIN] expected plan9_mips";
    scene.demo("--platform plan9_mips").says(1, says);
    assert_eq!(scene.installs(), ARRIVED);
}

#[test]
fn warnings_of_an_origin_are_shown_escaped() {
    let scene = OriginScene::of([demo().warning("Use \u{1b}[31macme/newer\nfrom now on.")]);
    let warns = "Warning [ORIGIN]/acme/demo �[31macme/newer�from Mirrored";
    scene.demo("").tells(&COPIED.replace("Mirrored", warns));
}

#[test]
fn a_release_that_was_built_again_is_refused() {
    let scene = OriginScene::of([demo()]);
    scene.demo("").tells(COPIED);
    let before = scene.tree();
    let again = ReleaseFolder::new("demo", "1.0.0")
        .package(LINUX, &[("terraform-provider-demo_v1.0.0", b"another")])
        .platform(DARWIN);
    let demo = Provider::new("acme/demo").release(again);
    scene.origin.publish(demo);
    scene
        .demo("--platform linux_amd64")
        .tells("Mirrored 1 [TIME]");
    scene.demo("--recheck").says(3, "error [ORIGIN]/acme/demo 1.0.0 linux_amd64 oci-layout:store/[ORIGIN]/acme/demo expected zh:4fa7e60d506416362ae4a4933f2da2a5c755191e68c2d41fb7c13d5c8e023bec received zh:ff638ccf428d9ec669d0f0bee89338700a0dfa2094d6da5dc6bd450c9f08428c");
    assert_eq!(scene.tree(), before);
    fs::remove_dir_all(scene.path("store")).unwrap();
    scene.demo("").tells(
        "Copied [ORIGIN]/acme/demo 1.0.0 2 574 signed [ACME ID] origin Mirrored 1 2 574 [TIME]",
    );
    assert_eq!(judge::installs(&scene.path("store")).len(), 2);
}

#[test]
fn a_dry_run_says_by_its_exit_code_whether_there_is_anything_to_mirror() {
    let scene = OriginScene::of([demo()]);
    scene.demo("--dry-run --changed --exit-code").ends(4);
    scene.demo("").ends(0);
    scene.demo("--dry-run --changed --exit-code").ends(0);
    scene.demo("--exit-code").ends(2);
}

#[test]
fn a_report_is_a_table_of_what_changed_and_failed() {
    let scene = OriginScene::of([demo()]);
    let report = || fs::read_to_string(scene.path("news.md")).unwrap();
    scene.demo("--report absent/news.md").ends(1);
    for rows in [1, 0] {
        scene.demo("--report news.md").ends(0);
        let news = report();
        assert!(news.starts_with("### "), "{news}");
        assert_eq!(news.matches("| 1.0.0 |").count(), rows, "{news}");
    }
    scene.mirror("[ORIGIN]/acme/none --report news.md").ends(1);
    assert!(report().contains("acme/none"), "{}", report());
}
