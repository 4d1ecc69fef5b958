//! Frames as a terminal of a given size shows them.

use std::time::Duration;

use tfoci::event::Subject;

use super::frame::draw;
use super::ledger::Ledger;
use super::standing;

const MEBIBYTE: u64 = 1 << 20;
const PLATFORMS: [&str; 4] = [
    "linux_amd64",
    "linux_arm64",
    "darwin_arm64",
    "windows_amd64",
];

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

fn version(name: &str, version: &str) -> Subject {
    let provider = format!("registry.acme.test/acme/{name}");
    Subject::version(&provider.parse().unwrap(), &version.parse().unwrap())
}

/// Six versions with four packages each. The first two are known and in transfer.
fn ledger() -> Ledger {
    let mut ledger = Ledger::of(3);
    for name in ["aws", "azurerm", "google"] {
        let versions = ["5.1.0", "5.0.0"].map(|text| (text.parse().unwrap(), Some(4)));
        let provider = format!("registry.acme.test/acme/{name}").parse().unwrap();
        ledger.select(&Subject::provider(&provider), versions.into());
    }
    let planned = ["aws", "google"].map(|name| version(name, "5.1.0"));
    let packages = planned
        .iter()
        .flat_map(|version| PLATFORMS.map(|platform| version.platform(&platform.parse().unwrap())));
    let packages: Vec<Subject> = packages.collect();
    for version in &planned {
        ledger.plan(version, 4, 60 * MEBIBYTE);
    }
    for package in &packages {
        ledger.start(package.clone(), 15 * MEBIBYTE);
    }
    for package in &packages {
        ledger.advance(package, 5 * MEBIBYTE);
    }
    let done = version("aws", "5.1.0").platform(&"linux_amd64".parse().unwrap());
    ledger.finish(&done, 15 * MEBIBYTE);
    ledger
}

/// The lines without the figures that depend on time.
fn lines(columns: u16, rows: u16) -> Vec<String> {
    let lines = draw(&mut ledger(), (rows, columns), None);
    let is_steady = |field: &&str| !field.ends_with("/s") && !field.starts_with("ETA");
    let steady = |line: String| {
        let fields = line
            .split("  ")
            .map(str::trim)
            .filter(|one| !one.is_empty());
        fields.filter(is_steady).collect::<Vec<_>>().join(" ")
    };
    lines.into_iter().map(steady).collect()
}

#[test]
fn no_line_wraps_and_the_total_stays_on_the_screen() {
    for columns in 20..200 {
        for rows in 4..40 {
            let lines = draw(&mut ledger(), (rows, columns), Some("host"));
            let widths = lines.iter().map(|line| console::measure_text_width(line));
            assert!(
                widths.max().unwrap() < columns.into(),
                "{columns}: {lines:#?}"
            );
            assert!(lines.len() < rows.into(), "{rows}: {lines:#?}");
            assert!(lines.last().unwrap().starts_with("to"), "{lines:#?}");
        }
    }
}

#[test]
fn narrow_terminals_leave_out_the_size() {
    for (columns, package, total) in [
        (
            120,
            "aws 5.1.0 linux_arm64 ████████░░░░░░░░░░░░░░░░ 33%",
            "total 1/24 packages ███░░░░░░░░░░░░░░░░░░░░░ 13% 50.00 MiB of ~360.00 MiB",
        ),
        (
            60,
            "aws 5.1.0 linux_arm64 ███░░░░░░░ 33%",
            "total 1/24 packages █░░░░░░░░░ 13%",
        ),
        (
            40,
            "aws 5.1.0 linux_arm64 ██░░░ 33%",
            "total 1/24 packages █░░░░ 13%",
        ),
    ] {
        let lines = lines(columns, 20);
        assert_eq!(lines.first().unwrap(), package);
        assert_eq!(lines.last().unwrap(), total);
    }
}

#[test]
fn few_rows_show_the_total_and_how_many_packages_are_hidden() {
    let lines = lines(80, 8);
    assert_eq!(lines.len(), 6);
    assert!(lines.contains(&"and 3 more".to_owned()), "{lines:#?}");
}

#[test]
fn what_is_done_never_goes_backwards() {
    let mut ledger = ledger();
    let before = ledger.totals().unwrap();
    assert!(!before.counts_all_bytes);
    ledger.plan(&version("azurerm", "5.0.0"), 4, 4096 * MEBIBYTE);
    let after = ledger.totals().unwrap();
    assert!(after.bytes > before.bytes);
    assert_eq!(after.part, before.part);
}

#[test]
fn a_quiet_run_says_for_which_host_it_waits() {
    let mut ledger = Ledger::of(1);
    let lines = draw(&mut ledger, (24, 80), Some("registry.acme.test"));
    assert_eq!(lines, ["waiting for registry.acme.test"]);
}

#[test]
fn without_a_terminal_a_line_has_the_sums() {
    let line = standing(&mut ledger(), seconds(30), None);
    assert_eq!(line, "1 of 24 packages done, 50.00 MiB of ~360.00 MiB");
}
