//! Whole runs on terminals of several sizes, as golden text in `testdata/terminal`: the frames while packages wait at a gate, and the
//! screen at the end.
//!
//! The pictures do not depend on time, since the server sends no more than the test admits. Each picture shows a state that lasts until
//! the test has seen it: before the first byte, with a part of each package, and with half of the packages done. `REWRITE_TERMINAL=1`
//! writes the golden text anew.

use std::fs;

use super::terminals::{PLATFORMS, SIZES, check, folder};
use crate::mirror::origin_scene::OriginScene;
use crate::support::author::Author;
use crate::support::judge::sha256;
use crate::support::layout_of_registry::import;
use crate::support::origin::{Provider, asks};
use crate::support::registry::{Registry, matching};
use crate::support::scene::Scene;
use crate::support::server::gate::Gate;
use crate::support::server::seen::Seen;
use crate::support::signer::Signer;
use crate::support::terminal::Terminal;
use crate::support::testdata;

/// The part of each package that is admitted first, in KiB: about half as many percent.
const PARTS: [usize; 4] = [20, 40, 60, 80];
/// So many more bytes do not change the printed part.
const UNSEEN: usize = 100;
/// The beginnings of the line that says for what a run waits.
const WAITS: [&str; 2] = ["waiting for ", "working"];

/// The name at the gate of the answers that come before an upload.
const UPLOADS: &str = "uploads";

/// Whether a server receives the packages, so that a gate holds its answers and not their bytes.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Sends,
    Receives,
}

/// A picture that the test waits for.
struct Picture {
    title: &'static str,
    /// The part on each package line.
    sizes: Vec<String>,
    /// The text on the line of the total.
    total: &'static str,
    /// Whether rates are shown, which appear after half a second.
    has_rates: bool,
    /// What the test does to let the run continue.
    then: fn(&Gate),
}

/// The pictures of a run, in order.
fn pictures(side: Side) -> Vec<Picture> {
    let part = |at: usize| match side {
        Side::Sends => format!(" {}%", PARTS[at] / 2),
        Side::Receives => " 100%".to_owned(),
    };
    vec![
        Picture {
            title: "before the first byte",
            sizes: vec![" 0%".to_owned(); 4],
            total: "total 0/4 packages",
            has_rates: false,
            then: match side {
                Side::Sends => |gate| {
                    for (platform, part) in PLATFORMS.iter().zip(PARTS) {
                        gate.admit(platform, part << 10);
                    }
                },
                Side::Receives => |gate| gate.open(UPLOADS),
            },
        },
        Picture {
            title: match side {
                Side::Sends => "a part of each package",
                Side::Receives => "each package sent, and none confirmed",
            },
            sizes: (0..4).map(part).collect(),
            total: "total 0/4 packages",
            has_rates: true,
            then: |gate| {
                for platform in &PLATFORMS[..2] {
                    gate.open(platform);
                }
            },
        },
        Picture {
            title: "two packages done",
            sizes: (2..4).map(part).collect(),
            total: "total 2/4 packages",
            has_rates: true,
            then: |gate| {
                for platform in &PLATFORMS[2..] {
                    gate.open(platform);
                }
            },
        },
    ]
}

impl Picture {
    /// Whether a frame is this picture.
    fn is_in(&self, frame: &[String], columns: usize) -> bool {
        let Some((total, packages)) = frame.split_last() else {
            return false;
        };
        let waits = |line: &&String| WAITS.iter().any(|begin| line.starts_with(begin));
        let (waiting, packages): (Vec<&String>, Vec<&String>) = packages.iter().partition(waits);
        let mut sizes = self.sizes.clone();
        let all_sizes = packages.len() == sizes.len()
            && packages.iter().all(|line| {
                let found = sizes.iter().position(|size| line.ends_with(size));
                found.map(|found| sizes.swap_remove(found)).is_some()
            });
        // The time left is beside the percentage as long as bytes are missing.
        let is_whole = !total.contains('%') || total.contains("ETA") || total.contains("100%");
        let rates = match self.has_rates {
            // A narrow terminal has room for neither rates nor the time left.
            true if columns < 80 => true,
            true => total.contains("/s") && is_whole,
            false => waiting.iter().any(|line| line.starts_with(WAITS[0])),
        };
        all_sizes && rates && total.starts_with(self.total)
    }

    /// A frame of this picture without what differs between runs: the order of the packages, which is that of their start, and the line
    /// that names the host, which appears after two seconds without bytes.
    fn steady(&self, frame: &[String]) -> String {
        let (total, rest) = frame.split_last().unwrap();
        let waits = |line: &&String| WAITS.iter().any(|begin| line.starts_with(begin));
        let (waiting, mut packages): (Vec<&String>, Vec<&String>) = rest.iter().partition(waits);
        packages.sort_unstable();
        let waiting = waiting.into_iter().filter(|_| !self.has_rates);
        let lines = packages.into_iter().chain(waiting).chain([total]);
        lines.map(|line| without_rate(line) + "\n").collect()
    }
}

/// A line with fixed values in place of rates and times. Its width does not change.
fn without_rate(line: &str) -> String {
    // A rate is right-aligned in 13 columns, and so is the time left.
    // A nudge lets some more bytes pass.
    let line = &match line.find(" KiB of ") {
        Some(at) => format!("{}00{}", &line[..at - 2], &line[at..]),
        None => line.to_owned(),
    };
    let rate = "1000.00 KiB/s";
    let line = replace(line, |at| at.find("/s").map(|end| end + 2), rate);
    let end = |at: &str| at.contains(" ETA ").then_some(at.len());
    replace(&line, end, "ETA 00:00:00")
}

/// Replaces the field that ends with a text.
fn replace(line: &str, end: impl Fn(&str) -> Option<usize>, field: &str) -> String {
    let Some(end) = end(line) else {
        return line.to_owned();
    };
    let (before, after) = line.split_at(end);
    let kept = before.chars().count() - field.len();
    let kept: String = before.chars().take(kept).collect();
    kept + field + after
}

/// Replaces ports, key ids and times, which differ between runs. The replacements have the same width, so that lines are cut at the same
/// place. Paths of the scene are in no line that is cut.
fn steady(text: &str, run: &Run) -> String {
    let (name, port) = run.host.rsplit_once(':').unwrap();
    assert_eq!(port.len(), 5, "a port of the dynamic range");
    let mut text = text.replace(&run.host, &format!("{name}:PORT0"));
    // The beginning of a host may be cut off.
    text = text.replace(&format!(":{port}"), ":PORT0");
    let home = run.scene.path("").canonicalize().unwrap();
    text = text.replace(home.to_str().unwrap(), "[TMP]");
    let fingerprint = Signer::acme().fingerprint();
    let (_, id) = fingerprint.split_at(fingerprint.len() - 16);
    for length in (1..=16).rev() {
        // Cut text ends in an ellipsis.
        let end = if length == 16 { "" } else { "…" };
        let ids = [id, "0123456789ABCDEF"];
        let [from, to] = ids.map(|id| format!("signed {}{end}", &id[..length]));
        text = text.replace(&from, &to);
    }
    let lines = text.lines().map(|line| match line.rsplit_once(" in ") {
        Some((before, time)) if time.ends_with('s') => format!("{before} in 0.0s\n"),
        Some((before, time)) if time.ends_with('…') => {
            let (kept, _) = "0.0s".split_at(time.chars().count() - 1);
            format!("{before} in {kept}…\n")
        }
        _ => format!("{line}\n"),
    });
    lines.collect()
}

/// Runs a command on terminals of all sizes, and compares what it shows with the golden text.
fn capture<S>(name: &str, side: Side, scene: impl Fn(&Gate) -> (S, Run)) {
    let mut all = String::new();
    for (columns, rows) in SIZES {
        let gate = Gate::default();
        let (_servers, run) = scene(&gate);
        let mut pictures = pictures(side).into_iter().peekable();
        let mut shown = String::new();
        let see = |frame: &[String]| {
            if let Some(picture) = pictures.next_if(|picture| picture.is_in(frame, columns)) {
                let title = picture.title;
                shown += &format!("--- {columns}x{rows}: {title}\n{}", picture.steady(frame));
                (picture.then)(&gate);
            } else {
                // A reader that verifies a package holds its last bytes back until more bytes follow.
                let parts = PARTS.iter().map(|part| part << 10);
                gate.nudge(PLATFORMS.into_iter().zip(parts), UNSEEN);
            }
        };
        let terminal = Terminal::watch(&run.scene, columns, rows, &run.arguments, see);
        assert!(pictures.peek().is_none(), "{shown}\n{:#?}", terminal.frames);
        check(&terminal);
        shown += &format!("--- {columns}x{rows}: the end\n{}", terminal.all());
        all += &steady(&shown, &run);
    }
    let golden = testdata("terminal").join(name).with_extension("txt");
    if std::env::var_os("REWRITE_TERMINAL").is_some() {
        fs::write(golden, all).unwrap();
        return;
    }
    let golden = fs::read_to_string(golden).unwrap();
    assert_eq!(all, golden, "{all}\nREWRITE_TERMINAL=1 writes it anew");
}

/// A command and its server.
struct Run {
    scene: Scene,
    arguments: String,
    host: String,
}

#[test]
fn mirror_on_terminals() {
    capture("mirror", Side::Sends, |gate| {
        let provider = Provider::new("acme/demo").release(folder("demo"));
        let OriginScene { scene, origin } = OriginScene::of([provider]);
        for platform in PLATFORMS {
            let package = asks(&format!("package acme/demo 1.0.0 {platform}"));
            origin.always(package, gate.holds(platform));
        }
        let host = origin.host().to_owned();
        let arguments =
            format!("mirror {host}/acme/demo --jobs 4 --ca-file ca.pem --to oci-layout:store");
        let run = Run {
            scene,
            arguments,
            host,
        };
        (origin, run)
    });
}

/// Requests for the zip of each platform, held at a gate.
fn hold(author: &Author, registry: &Registry, gate: &Gate, method: &'static str) {
    for platform in PLATFORMS {
        let zip = format!("dist/terraform-provider-demo_1.0.0_{platform}.zip");
        let digest = sha256(&author.scene.path(zip));
        let is_zip = move |seen: &Seen| seen.method == method && seen.target.contains(&digest);
        registry.always(is_zip, gate.holds(platform));
    }
}

/// A registry that has the author's release, and sends it through a gate.
fn full(gate: &Gate) -> (Registry, Author) {
    let author = Author::new();
    folder("demo").write(&author.scene.path("dist"));
    author.push("").succeeds();
    let registry = Registry::plain();
    import(&author.repository(""), &registry, "acme/demo");
    hold(&author, &registry, gate, "GET");
    (registry, author)
}

#[test]
fn push_on_terminals() {
    capture("push", Side::Receives, |gate| {
        let author = Author::new();
        folder("demo").write(&author.scene.path("dist"));
        let registry = Registry::plain();
        registry.always(matching("POST", "/blobs/"), gate.holds(UPLOADS));
        hold(&author, &registry, gate, "PUT");
        let host = registry.host().to_owned();
        let push = "push dist --provider acme/demo --key acme.asc --jobs 4";
        let to = format!("{host}/{{namespace}}/{{type}}");
        let arguments = format!("{push} --plain-http {host} --to {to}");
        let run = Run {
            scene: author.scene,
            arguments,
            host,
        };
        (registry, run)
    });
}

/// Runs a command that reads from a full registry, for which `FROM` stands.
fn reads(name: &str, line: &'static str) {
    capture(name, Side::Sends, |gate| {
        let (registry, author) = full(gate);
        let host = registry.host().to_owned();
        let from = "--jobs 4 --plain-http HOST --from HOST/{namespace}/{type}";
        let run = Run {
            scene: author.scene,
            arguments: line.replace("FROM", from).replace("HOST", &host),
            host,
        };
        (registry, run)
    });
}

#[test]
fn copy_on_terminals() {
    reads("copy", "copy acme/demo FROM --to oci-layout:other");
}

#[test]
fn install_on_terminals() {
    let line = "install acme/demo --platform all FROM --into out";
    reads("install", line);
}
