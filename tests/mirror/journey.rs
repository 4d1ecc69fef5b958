use std::fs;

use super::origin_scene::{ARRIVED, BOTH_ARRIVED, COPIED, OriginScene, into_registry};
use super::{DARWIN, LINUX, demo};
use crate::support::judge;
use crate::support::layout_of_registry::export;
use crate::support::origin::{Fault, Provider, asks};
use crate::support::registry::Registry;
use crate::support::release::ReleaseFolder;

/// `acme/demo` with several releases, one of them a pre-release.
fn versions() -> Provider {
    ["0.9.0", "1.0.0", "1.1.0", "1.2.0-rc.1"]
        .into_iter()
        .fold(Provider::new("acme/demo"), |provider, version| {
            provider.version(version, &[LINUX])
        })
}

#[test]
fn a_provider_is_mirrored_and_then_present() {
    let scene = OriginScene::of([demo()]);
    let tag = ["oci-layout:store/[ORIGIN]/acme/demo:1.0.0"];
    scene.demo("").tells(COPIED).gives(&tag);
    assert_eq!(
        scene.origin.counters(),
        "1 discovery, 1 versions, 1 download, 1 document, 1 signature, 1 package"
    );
    assert_eq!(scene.installs(), ARRIVED);

    scene.origin.forget();
    let before = scene.tree();
    scene.demo("").tells("Mirrored 1 [TIME]").gives(&tag);
    assert_eq!(scene.origin.counters(), "1 discovery, 1 versions");
    assert_eq!(scene.tree(), before);
}

#[test]
fn a_new_platform_downloads_one_package() {
    let scene = OriginScene::of([Provider::demo(&[DARWIN, LINUX])]);
    scene.demo("--platform linux_amd64").tells(COPIED);
    scene.origin.forget();
    scene.demo("").tells(
        "Updated [ORIGIN]/acme/demo 1.0.0 1 407 signed [ACME ID] origin Mirrored 1 1 407 1 [TIME]",
    );
    assert_eq!(
        scene.origin.counters(),
        "1 discovery, 1 versions, 1 download, 1 document, 1 signature, 1 package"
    );
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
    scene.mirror(&format!("{all} --dry-run")).tells("Would [ORIGIN]/acme/demo 1.0.0 2 813 signed [ACME ID] origin Would [ORIGIN]/acme/other 2.0.0 1 409 signed [ACME ID] origin Would 2 3 1.19 [TIME]",
    );
    assert_eq!(scene.origin.count(asks("package")), 0);
    assert!(!scene.path("store").exists());

    scene
        .mirror("[ORIGIN]/acme/demo --platform linux_amd64 --jobs 1")
        .tells(COPIED);
    let before = scene.tree();
    scene.mirror(&format!("{all} --dry-run")).tells("Would [ORIGIN]/acme/other 2.0.0 1 409 signed [ACME ID] origin Would [ORIGIN]/acme/demo 1.0.0 1 407 signed [ACME ID] origin Would 2 2 816 1 [TIME]",
    );
    assert_eq!(scene.tree(), before);
}

#[test]
fn one_failing_provider_does_not_stop_the_others() {
    let scene = OriginScene::of(Provider::many(3, 1, &[LINUX]));
    scene
        .origin
        .always(asks("versions acme/p1"), Fault::status(404));
    scene
        .mirror("[ORIGIN]/acme/p0 [ORIGIN]/acme/p1 [ORIGIN]/acme/p2 --jobs 1")
        .says(1, "Copied [ORIGIN]/acme/p0 1.0.0 1 400 signed [ACME ID] origin Copied [ORIGIN]/acme/p2 1.0.0 1 400 signed [ACME ID] origin error [ORIGIN]/acme/p1 [ORIGIN] https://[ORIGIN]/v1/providers/acme/p1/versions 404");
    assert_eq!(
        scene.installs(),
        ["acme/p0 1.0.0 linux_amd64", "acme/p2 1.0.0 linux_amd64"]
    );
}

#[test]
fn a_verification_failure_outranks_a_missing_provider() {
    let scene = OriginScene::of(Provider::many(2, 1, &[LINUX]));
    scene
        .origin
        .always(asks("versions acme/p0"), Fault::status(404));
    scene
        .origin
        .always(asks("document acme/p1"), Fault::wrong_bytes());
    scene
        .mirror("[ORIGIN]/acme/p0 [ORIGIN]/acme/p1 --jobs 1")
        .says(3, "error [ORIGIN]/acme/p0 [ORIGIN] https://[ORIGIN]/v1/providers/acme/p0/versions 404 error [ORIGIN]/acme/p1 1.0.0 [ORIGIN] SHA256SUMS.sig [ACME]");
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
        let all = versions.iter();
        let all: Vec<_> = all
            .map(|version| format!("acme/demo {version} {LINUX}"))
            .collect();
        assert_eq!(scene.installs(), all, "{wanted}");
    }
}

#[test]
fn unmet_constraints_list_the_available_versions() {
    let scene = OriginScene::of([versions()]);
    for wanted in [">=2.0", ">1.1.0", "~>1.2.0"] {
        let has = "1.2.0-rc.1 1.1.0 1.0.0 0.9.0";
        scene
            .mirror(&format!("[ORIGIN]/acme/demo@{wanted} --from origin"))
            .says(
                1,
                &format!("error [ORIGIN]/acme/demo [ORIGIN] {wanted} {has}"),
            );
    }
    scene.mirror("[ORIGIN]/acme/none").says(
        1,
        "error [ORIGIN]/acme/none [ORIGIN] https://[ORIGIN]/v1/providers/acme/none/versions 404",
    );
}

#[test]
fn missing_platforms_are_reported() {
    let scene = OriginScene::of([demo()]);
    scene
        .demo("--platform linux_amd64 --platform plan9_mips")
        .tells("Copied [ORIGIN]/acme/demo 1.0.0 1 406 signed [ACME ID] origin Warning [ORIGIN]/acme/demo 1.0.0 [ORIGIN] plan9_mips linux_amd64 Mirrored 1 1 406 [TIME]",
        );
    scene.demo("--platform plan9_mips").says(
        1,
        "error [ORIGIN]/acme/demo [ORIGIN] expected plan9_mips linux_amd64 1.0.0",
    );
    assert_eq!(scene.installs(), ARRIVED);
}

#[test]
fn warnings_of_an_origin_are_shown_escaped() {
    let scene = OriginScene::of([demo().warning("Use \u{1b}[31macme/newer\nfrom now on.")]);
    scene.demo("").tells("Copied [ORIGIN]/acme/demo 1.0.0 1 406 signed [ACME ID] origin Warning [ORIGIN]/acme/demo �[31macme/newer�from Mirrored 1 1 406 [TIME]",
    );
}

/// The requests for a repository, as `METHOD KIND`.
fn asked(registry: &Registry) -> Vec<String> {
    let kinds = ["tags/list", "blobs/uploads", "blobs", "manifests"];
    let kind = |path: &str| {
        let kind = kinds
            .into_iter()
            .find(|kind| path.contains(&format!("/{kind}")));
        kind.unwrap_or("v2")
    };
    let seen = registry.seen().into_iter();
    seen.map(|seen| format!("{} {}", seen.method, kind(&seen.path)))
        .collect()
}

#[test]
fn a_second_mirror_into_a_registry_sends_few_requests() {
    let scene = OriginScene::of([demo()]);
    let registry = Registry::plain();
    let to = into_registry(&registry);
    scene.run(&to).tells(COPIED);
    let tags = registry.tags("acme/demo");
    assert!(tags.iter().any(|(tag, _)| tag == "1.0.0"), "{tags:?}");
    let layout = scene.path("store/exported/acme/demo");
    export(&registry, "acme/demo", &layout);
    assert_eq!(scene.installs(), ARRIVED);

    registry.forget();
    scene.origin.forget();
    scene.run(&to).tells("Mirrored 1 [TIME]");
    assert_eq!(scene.origin.counters(), "1 discovery, 1 versions");
    assert_eq!(
        asked(&registry),
        ["GET tags/list", "GET manifests", "HEAD manifests"]
    );
}

#[test]
fn a_release_that_was_built_again_is_refused() {
    let scene = OriginScene::of([demo()]);
    scene.demo("").tells(COPIED);
    let before = scene.tree();
    let again = ReleaseFolder::new("demo", "1.0.0")
        .package(LINUX, &[("terraform-provider-demo_v1.0.0", b"another")])
        .platform(DARWIN);
    scene
        .origin
        .publish(Provider::new("acme/demo").release(again));
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
    let report = || fs::read_to_string(scene.scene.path("news.md")).unwrap();
    scene.demo("--report absent/news.md").ends(1);
    scene.demo("--report news.md").ends(0);
    let row = |text: &str| {
        text.lines()
            .filter(|line| line.contains("| 1.0.0 |"))
            .count()
    };
    assert_eq!(row(&report()), 1, "{}", report());
    scene.demo("--report news.md").ends(0);
    assert!(
        report().starts_with("### ") && row(&report()) == 0,
        "{}",
        report()
    );
    let run = scene.run("[ORIGIN]/acme/none --to oci-layout:store --report news.md");
    run.ends(1);
    assert!(report().contains("acme/none"), "{}", report());
}
