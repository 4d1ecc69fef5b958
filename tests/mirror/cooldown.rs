use std::fs;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::LINUX;
use super::locks::{NAME, lock, zh};
use super::origin_scene::{ARRIVED, OriginScene, TWO_ARRIVED};
use crate::schema::follows;
use crate::support::origin::{Fault, Provider, Release, asks, lie};
use crate::support::release::ReleaseFolder;
use crate::support::signer::Signer;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A release that was signed so many days ago.
pub fn signed(version: &str, days: u32) -> ReleaseFolder {
    let folder = ReleaseFolder::new("demo", version).platform(LINUX);
    folder.signed_by(Signer::days_ago(days))
}

/// `acme/demo` with versions and the days since each was signed.
fn origin(versions: &[(&str, u32)]) -> OriginScene {
    let demo = versions.iter();
    let demo = demo.fold(Provider::new("acme/demo"), |demo, (version, days)| {
        demo.release(signed(version, *days))
    });
    OriginScene::of([demo])
}

/// A checksum document that its host changed so many days ago.
pub fn changed(days: u32) -> Fault {
    Fault::with("Last-Modified", httpdate(days))
}

fn httpdate(days: u32) -> String {
    httpdate::fmt_http_date(SystemTime::now() - days * DAY)
}

/// The versions in the document of a run, with their status, and the days until those that are held are old enough.
fn results(scene: &OriginScene, arguments: &str) -> Vec<String> {
    let run = scene.json(&format!("[ORIGIN]/acme/demo{arguments} --min-age 7d"));
    let document = run.succeeds().json();
    follows("mirror", &document);
    let rows = document["providers"].as_array().unwrap().iter();
    let row = |row: &Value| {
        let (version, status) = (row["version"].as_str()?, row["status"].as_str()?);
        let until = row["until"].as_str().map(|until| &until[..10]);
        let day = |days: &u32| httpdate::fmt_http_date(SystemTime::now() + *days * DAY);
        let days = until.map(|until| (0..=8).find(|days| same_day(until, &day(days))));
        Some(match days {
            Some(days) => format!("{version} {status} {}", days.unwrap()),
            None => format!("{version} {status}"),
        })
    };
    rows.map(|one| row(one).unwrap()).collect()
}

/// Whether `2026-12-05` and `Sat, 05 Dec 2026 …` are one day.
fn same_day(date: &str, http: &str) -> bool {
    let (year, day) = (&date[..4], &date[8..]);
    http[5..7] == *day && http[12..16] == *year
}

#[test]
fn young_versions_are_held_until_they_are_old_enough() {
    let scene = origin(&[("1.0.0", 30), ("1.1.0", 8), ("1.2.0", 3), ("1.3.0", 0)]);
    for (wanted, others) in [
        ("", &["1.1.0 copied"][..]),
        ("@>=1 --newest 2", &["1.0.0 copied", "1.1.0 present"]),
        ("@~>1.2", &[]),
    ] {
        let expected = [others, &["1.2.0 held 4", "1.3.0 held 7"]].concat();
        assert_eq!(results(&scene, wanted), expected, "{wanted}");
    }
    assert_eq!(scene.installs(), TWO_ARRIVED);
}

#[test]
fn a_run_with_nothing_new_asks_only_for_the_dates_of_held_versions() {
    let scene = origin(&[("1.0.0", 30), ("1.1.0", 8), ("1.2.0", 3)]);
    results(&scene, "@>=1");
    scene.origin.forget();
    let expected = ["1.0.0 present", "1.1.0 present", "1.2.0 held 4"];
    assert_eq!(results(&scene, "@>=1"), expected);
    let asked = "1 discovery, 1 versions, 1 download, 1 document, 1 signature";
    assert_eq!(scene.origin.counters(), asked);
    let changed = "--dry-run --changed --exit-code --report news.md";
    let run = scene.mirror(&format!("[ORIGIN]/acme/demo@>=1 --min-age 7d {changed}"));
    run.ends(0);
    let news = fs::read_to_string(scene.path("news.md")).unwrap();
    let rows: Vec<&str> = news.lines().filter(|line| line.contains("held")).collect();
    assert!(rows[0].contains("1.2.0") && rows.len() == 1, "{news}");
}

#[test]
fn the_later_date_counts() {
    for (days, document, expected) in [
        (30, Some(2), "1.0.0 held 5"),
        (2, Some(30), "1.0.0 held 5"),
        (30, Some(9), "1.0.0 copied"),
        (30, None, "1.0.0 copied"),
    ] {
        let scene = origin(&[("1.0.0", days)]);
        if let Some(days) = document {
            scene.origin.always(asks("document"), changed(days));
        }
        assert_eq!(results(&scene, ""), [expected], "{days} {document:?}");
    }
}

#[test]
fn a_version_without_a_date_is_held() {
    let scene = origin(&[("1.0.0", 30)]);
    let unproved = lie::lacks("shasums_signature_url");
    scene.origin.always(asks("download"), unproved);
    let unsigned = " --allow-unsigned [ORIGIN]/acme/demo";
    assert_eq!(results(&scene, unsigned), ["1.0.0 held"]);
    scene.origin.always(asks("document"), changed(30));
    assert_eq!(results(&scene, unsigned), ["1.0.0 copied"]);
}

/// The origin has an old release when it is asked for the date, and a new one after that; or the other way around.
#[test]
fn the_release_that_is_copied_must_be_old_enough() {
    let scene = origin(&[("1.0.0", 30)]);
    scene.origin.fault(2, asks("document"), changed(1));
    assert_eq!(results(&scene, ""), ["1.0.0 held 6"]);
    assert!(scene.installs().is_empty());

    let scene = origin(&[("1.0.0", 30)]);
    scene.origin.fault(1, asks("download"), Fault::status(404));
    scene.origin.always(asks("document"), changed(1));
    assert_eq!(results(&scene, ""), ["1.0.0 held 6"]);
}

/// Somebody with the key and the host adds a package to an old version.
#[test]
fn a_new_platform_of_an_old_version_is_held() {
    let scene = origin(&[("1.0.0", 30)]);
    results(&scene, "");
    let more = signed("1.0.0", 1).platform("darwin_arm64");
    let demo = Provider::new("acme/demo").release(more);
    scene.origin.publish(demo);
    assert_eq!(results(&scene, ""), ["1.0.0 held 6"]);
    assert_eq!(scene.installs(), ARRIVED);
    let linux = " --platform linux_amd64";
    assert_eq!(results(&scene, linux), ["1.0.0 present"]);
}

#[test]
fn a_named_or_locked_version_is_mirrored() {
    let scene = origin(&[("1.0.0", 30), ("1.1.0", 1)]);
    let named = "[ORIGIN]/acme/demo@=1.1.0 --min-age 7d";
    scene.mirror(named).ends(0);
    assert_eq!(scene.installs(), ["acme/demo 1.1.0 linux_amd64"]);

    let scene = origin(&[("1.0.0", 30), ("1.1.0", 1)]);
    let zh = [zh(&scene.origin, "1.1.0", LINUX)];
    lock(&scene, NAME, "[ORIGIN]/acme/demo", "1.1.0", &zh);
    scene.mirror("--from-lock . --min-age 7d").ends(0);
    assert_eq!(scene.installs(), ["acme/demo 1.1.0 linux_amd64"]);
}

#[test]
fn a_mirror_file_has_an_age_for_all_or_for_one() {
    let scene = origin(&[("1.0.0", 30), ("1.1.0", 5)]);
    let table = "[[provider]]\naddress = \"[ORIGIN]/acme/demo\"\nconstraints = \">= 1\"\n";
    for (all, one, options, expected) in [
        ("min_age = \"7d\"\n", "", "", 1),
        ("", "min_age = \"7d\"\n", "", 1),
        (
            "min_age = \"7d\"\n",
            "min_age = \"0d\"\n",
            "--min-age 6d",
            1,
        ),
        ("min_age = \"7d\"\n", "min_age = \"3d\"\n", "", 2),
    ] {
        let file = format!("{all}{table}{one}");
        scene.write("mirror.toml", scene.named(&file));
        let run = scene.mirror(&format!("--file mirror.toml {options}"));
        run.ends(0);
        assert_eq!(scene.installs().len(), expected, "{file}");
    }
    let soon = scene.named(&format!("min_age = \"soon\"\n{table}"));
    scene.write("mirror.toml", soon);
    scene.mirror("--file mirror.toml").ends(2);
}

/// Each table holds back what it selects, whatever the others select.
#[test]
fn tables_of_one_provider_have_an_age_each() {
    let table = "[[provider]]\naddress = \"[ORIGIN]/acme/demo\"\n";
    let table = |platform, more| format!("{table}platforms = [\"{platform}\"]\n{more}\n");
    for (days, linux, windows) in [
        (1, "min_age = \"7d\"", "min_age = \"0d\""),
        (10, "min_age = \"30d\"", "min_age = \"7d\""),
        (1, "min_age = \"7d\"", "constraints = \"= 2.0.0\""),
    ] {
        let new = signed("2.0.0", days).platform("windows_amd64");
        let demo = Provider::new("acme/demo").release(signed("1.0.0", 50));
        let scene = OriginScene::of([demo.release(new)]);
        let file = table(LINUX, linux) + &table("windows_amd64", windows);
        scene.write("mirror.toml", scene.named(&file));
        for _ in 0..2 {
            scene.mirror("--file mirror.toml").ends(0);
            let both = ["1.0.0 linux_amd64", "2.0.0 windows_amd64"];
            let both = both.map(|one| format!("acme/demo {one}"));
            assert_eq!(scene.installs(), both, "{file}");
        }
    }
}

/// A list without platforms, or with wrong ones.
#[test]
fn the_date_is_that_of_a_wanted_platform() {
    let [old, new] = [("1.0.0", 30), ("2.0.0", 1)]
        .map(|(version, days)| Release::from(signed(version, days)).without_platforms());
    let scene = OriginScene::of([Provider::new("acme/demo").release(old).release(new)]);
    let wanted = " --platform darwin_arm64 --platform linux_amd64";
    assert_eq!(results(&scene, wanted), ["1.0.0 copied", "2.0.0 held 6"]);
    scene.origin.forget();
    assert_eq!(results(&scene, ""), ["1.0.0 present", "2.0.0 held 6"]);
    assert_eq!(scene.origin.count(asks("signature acme/demo 2.0.0")), 1);
    assert_eq!(scene.origin.count(asks("download acme/demo 2.0.0")), 1);
}

#[test]
fn what_is_no_date_is_not_old() {
    for date in ["2026-01-01T00:00:00Z", "yesterday"] {
        let scene = origin(&[("1.0.0", 30)]);
        let changed = Fault::with("Last-Modified", date);
        scene.origin.always(asks("document"), changed);
        assert_eq!(results(&scene, ""), ["1.0.0 held 7"], "{date}");
    }
}

#[test]
fn a_source_without_dates_has_no_age() {
    let scene = origin(&[("1.0.0", 30)]);
    let from = scene.origin.mirror_url();
    let demo = format!("[ORIGIN]/acme/demo --allow-unsigned */*/* --from network-mirror:{from}");
    scene.mirror(&format!("{demo} --min-age 7d")).ends(2);
    assert!(scene.installs().is_empty());
}

#[test]
fn verify_does_not_miss_what_is_held() {
    let scene = origin(&[("1.0.0", 30), ("1.1.0", 5)]);
    let file = "min_age = \"7d\"\n[[provider]]\naddress = \"[ORIGIN]/acme/demo\"\nconstraints = \">= 1\"\n";
    scene.write("mirror.toml", scene.named(file));
    scene.mirror("--file mirror.toml").ends(0);
    let verify = "--file mirror.toml --from oci-layout:store --against-origin";
    scene.command_of("verify", verify).ends(0);
    scene.write("mirror.toml", scene.named(&file.replace("7d", "3d")));
    scene.command_of("verify", verify).ends(4);
}
