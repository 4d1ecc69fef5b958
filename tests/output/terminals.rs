//! Progress on terminals of several sizes while a server is slow: no bar wraps, and the total stays visible.

use std::time::Duration;

use crate::mirror::origin_scene::OriginScene;
use crate::support::origin::{Fault, Provider, asks};
use crate::support::release::ReleaseFolder;
use crate::support::terminal::Terminal;
use crate::support::zipfile::{executable, file, zip};

/// Columns and rows.
const SIZES: [(usize, usize); 4] = [(120, 30), (80, 24), (60, 20), (80, 10)];
const PLATFORMS: [&str; 4] = [
    "darwin_arm64",
    "linux_amd64",
    "linux_arm64",
    "windows_amd64",
];

/// A release of packages that take more than a second each if their bytes drip.
fn folder(name: &str) -> ReleaseFolder {
    let folders = PLATFORMS.iter().zip(b'a'..);
    folders.fold(
        ReleaseFolder::new(name, "1.0.0"),
        |folder, (platform, fill)| {
            let large = file("LICENSE", vec![fill; 200_000]);
            folder.zip(platform, &zip([executable(), large]))
        },
    )
}

fn drip() -> Fault {
    Fault::drip_body(20_000, Duration::from_millis(100))
}

/// A number that is followed by a word, such as the 12 of `12%`.
fn number_before(line: &str, word: &str) -> Option<u64> {
    let (before, _) = line.split_once(word)?;
    let digits = before.rsplit(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

/// Checks everything that a terminal showed.
#[track_caller]
fn check(terminal: &Terminal) {
    let is_bar = |line: &&String| line.contains(['█', '░']);
    let wrapped: Vec<&String> = terminal.wrapped.iter().filter(is_bar).collect();
    assert!(wrapped.is_empty(), "{wrapped:#?}");
    let (mut done, mut totals) = (0, 0);
    for frame in &terminal.frames {
        let (columns, rows) = (terminal.columns, terminal.rows);
        let shown = || format!("{columns}x{rows}\n{}", frame.join("\n"));
        assert!(frame.len() < rows, "{}", shown());
        assert!(frame.iter().all(|line| is_bar(&line)), "{}", shown());
        let last = frame.last().unwrap();
        if let Some(finished) = number_before(last, " of ") {
            totals += 1;
            assert!(finished >= done, "{}", shown());
            done = finished;
            assert!(number_before(last, "%").is_some(), "{}", shown());
        }
    }
    assert!(totals > 4, "{:#?}", terminal.frames);
    // The bars are removed at the end, also above the screen.
    let all = terminal.all();
    assert!(!all.contains(['█', '░']), "{all}");
}

#[test]
fn mirror_on_terminals() {
    for (columns, rows) in SIZES {
        let names = ["demo", "other"];
        let providers =
            names.map(|name| Provider::new(&format!("acme/{name}")).release(folder(name)));
        let scene = OriginScene::of(providers);
        scene.origin.always(asks("package"), drip());
        let providers = scene.named("[ORIGIN]/acme/demo [ORIGIN]/acme/other");
        let line = format!("mirror {providers} --ca-file ca.pem --to oci-layout:store");
        check(&Terminal::run(&scene.scene, columns, rows, &line));
    }
}

#[test]
fn a_run_with_nothing_to_do_is_short() {
    let names = ["demo", "other", "third", "fourth"];
    let providers = names.map(|name| {
        let folder = ReleaseFolder::new(name, "1.0.0").platform("linux_amd64");
        Provider::new(&format!("acme/{name}")).release(folder)
    });
    let scene = OriginScene::of(providers);
    let addresses = names.map(|name| format!("[ORIGIN]/acme/{name}")).join(" ");
    let arguments = format!("mirror {addresses} --ca-file ca.pem --to oci-layout:store");
    let arguments = scene.named(&arguments);
    let first = Terminal::run(&scene.scene, 100, 30, &arguments).all();
    assert_eq!(first.matches("/acme/").count(), names.len(), "{first}");
    let second = Terminal::run(&scene.scene, 100, 30, &arguments).all();
    assert!(second.lines().count() <= 3, "{second}");
    assert!(!second.contains("/acme/"), "{second}");
}
