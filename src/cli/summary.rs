//! The last line for people: how many versions and packages were published, and how.

use indicatif::HumanBytes;

use tfoci::event::Transfer;
use tfoci::outcome::{Change, Published};

use super::printer::{Printer, Tone};
use super::progress::Progress;

/// What a command did, or would have done.
#[derive(Clone, Copy)]
pub(super) struct Verb {
    done: &'static str,
    planned: &'static str,
}

/// What `push` does.
pub(super) const PUSHED: Verb = Verb {
    done: "Pushed",
    planned: "Would push",
};
/// What `copy` does.
pub(super) const COPIED: Verb = Verb {
    done: "Copied",
    planned: "Would copy",
};

/// Says what became of these versions.
pub(super) fn summarize(all: &[&Published], verb: Verb, progress: &Progress, printer: &Printer) {
    let is_planned = all.iter().any(|one| one.status == Change::Planned);
    let verb = if is_planned { verb.planned } else { verb.done };
    let text = format!("{} in {}", text(all, is_planned), progress.elapsed());
    printer.line(Tone::Done, verb, &text);
}

fn text(all: &[&Published], is_planned: bool) -> String {
    let packages = || all.iter().flat_map(|one| &one.packages);
    let count = |status| packages().filter(|one| one.status == status).count();
    let versions = all
        .iter()
        .filter(|one| one.status != Change::Present)
        .count();
    let (mounted, present) = (count(Transfer::Mounted), count(Transfer::Present));
    if all.is_empty() {
        return "nothing".to_owned();
    }
    if versions == 0 {
        return format!("nothing: {} already present,", counted(present, "package"));
    }
    let moving = [Transfer::Copied, Transfer::Planned];
    let bytes = packages().filter(|one| moving.contains(&one.status));
    let bytes = HumanBytes(bytes.filter_map(|one| one.size).sum());
    let how = if is_planned { "to copy" } else { "copied" };
    let mut text = format!(
        "{}, {} ({bytes} {how}",
        counted(versions, "version"),
        counted(packages().count() - present, "package")
    );
    if mounted > 0 {
        text.push_str(&format!(", {mounted} mounted"));
    }
    if present > 0 {
        text.push_str(&format!(", {present} already present"));
    }
    text.push(')');
    text
}

fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}
