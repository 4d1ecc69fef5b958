//! Frames as a terminal of a given size shows them.

use std::time::Duration;

use tfoci::event::Subject;

use super::frame::{Screen, draw};
use super::heartbeat::Heartbeat;
use super::ledger::Ledger;

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

/// Six versions with four packages each, of which the first two are known and in transfer.
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
    for second in 10..20 {
        for package in &packages {
            ledger.advance(package, MEBIBYTE / 2, seconds(second));
        }
    }
    let done = version("aws", "5.1.0").platform(&"linux_amd64".parse().unwrap());
    ledger.finish(&done, 15 * MEBIBYTE);
    ledger
}

fn screen(columns: usize, rows: usize) -> Screen {
    Screen { columns, rows }
}

#[track_caller]
fn shows(columns: usize, rows: usize, expected: &[&str]) {
    let lines = draw(&mut ledger(), seconds(20), screen(columns, rows), None);
    assert_eq!(lines, expected, "{}", lines.join("\n"));
}

#[test]
fn no_line_wraps_and_the_total_stays_on_the_screen() {
    for columns in 20..200 {
        for rows in 4..40 {
            let lines = draw(
                &mut ledger(),
                seconds(60),
                screen(columns, rows),
                Some("host"),
            );
            let widths = lines.iter().map(|line| console::measure_text_width(line));
            assert!(widths.max().unwrap() < columns, "{columns}: {lines:#?}");
            assert!(lines.len() < rows, "{rows}: {lines:#?}");
            assert!(lines.last().unwrap().starts_with("to"), "{lines:#?}");
        }
    }
}

#[test]
fn a_wide_terminal_shows_bars_and_all_figures() {
    let lines = draw(&mut ledger(), seconds(20), screen(120, 30), None);
    assert_eq!(lines.len(), 8);
    assert_eq!(
        lines.first().unwrap(),
        "aws 5.1.0 linux_arm64       ████████░░░░░░░░░░░░░░░░    5.0/15.0 MiB   512 KiB/s"
    );
    assert_eq!(
        lines.last().unwrap(),
        "total 1/24 packages         ███░░░░░░░░░░░░░░░░░░░░░   50.0/~360 MiB   4.0 MiB/s   13%    ETA 1:17"
    );
}

#[test]
fn narrow_terminals_leave_out_the_rate_and_then_the_size() {
    for (columns, package, total) in [
        (
            70,
            "aws 5.1.0 linux_arm64       ██░░░░░    5.0/15.0 MiB",
            "total 1/24 packages         █░░░░░░   50.0/~360 MiB   13%    ETA 1:17",
        ),
        (
            60,
            "aws 5.1.0 linux_arm64       ███░░░░░░    5.0/15.0 MiB",
            "total 1/24 packages         █░░░░░░░░   50.0/~360 MiB   13%",
        ),
        (
            40,
            "aws 5.1.0 linux_arm64       ██░░░",
            "total 1/24 packages         █░░░░   13%",
        ),
    ] {
        let lines = draw(&mut ledger(), seconds(20), screen(columns, 20), None);
        assert_eq!(lines.first().unwrap(), package);
        assert_eq!(lines.last().unwrap(), total);
    }
}

#[test]
fn few_rows_show_the_total_and_how_many_packages_are_hidden() {
    let lines = draw(&mut ledger(), seconds(20), screen(80, 8), None);
    assert_eq!(lines.len(), 6);
    assert!(lines.contains(&"and 3 more".to_owned()), "{lines:#?}");
}

#[test]
fn usual_terminals_show_every_package() {
    for rows in [10, 24] {
        shows(
            80,
            rows,
            &[
                "aws 5.1.0 linux_arm64       ██░░░    5.0/15.0 MiB   512 KiB/s",
                "aws 5.1.0 darwin_arm64      ██░░░    5.0/15.0 MiB   512 KiB/s",
                "aws 5.1.0 windows_amd64     ██░░░    5.0/15.0 MiB   512 KiB/s",
                "google 5.1.0 linux_amd64    ██░░░    5.0/15.0 MiB   512 KiB/s",
                "google 5.1.0 linux_arm64    ██░░░    5.0/15.0 MiB   512 KiB/s",
                "google 5.1.0 darwin_arm64   ██░░░    5.0/15.0 MiB   512 KiB/s",
                "google 5.1.0 windows_amd64  ██░░░    5.0/15.0 MiB   512 KiB/s",
                "total 1/24 packages         █░░░░   50.0/~360 MiB   4.0 MiB/s   13%    ETA 1:17",
            ],
        );
    }
}

#[test]
fn what_is_done_never_goes_backwards() {
    let mut ledger = ledger();
    let before = ledger.totals(seconds(20)).unwrap();
    assert!(!before.counts_all_bytes);
    ledger.plan(&version("azurerm", "5.0.0"), 4, 4096 * MEBIBYTE);
    let after = ledger.totals(seconds(20)).unwrap();
    assert!(after.bytes > before.bytes);
    assert_eq!(after.part, before.part);
}

#[test]
fn a_quiet_run_says_for_which_host_it_waits() {
    let mut ledger = Ledger::of(1);
    let lines = draw(
        &mut ledger,
        seconds(3),
        screen(80, 24),
        Some("registry.acme.test"),
    );
    assert_eq!(lines, ["⠋ waiting for registry.acme.test"]);
}

#[test]
fn without_a_terminal_a_line_comes_every_thirty_seconds() {
    let (mut ledger, mut heartbeat) = (ledger(), Heartbeat::default());
    let mut beat = |second| heartbeat.beat(&mut ledger, seconds(second), None);
    assert_eq!(beat(29), None);
    let line = "1 of 24 packages done, 50.0/~360 MiB".to_owned();
    assert_eq!(beat(30), Some(line.clone()));
    assert_eq!(beat(59), None);
    assert_eq!(beat(60), Some(line));
}
