//! What became of versions that were to be published: the last lines for people, and the one document.

use indicatif::HumanBytes;

use tfoci::event::{Subject, Transfer};
use tfoci::outcome::{Change, Failure, Published};

use super::Ending;
use super::diagnose::Complaint;
use super::json;
use super::printer::{Printer, Tone};
use super::progress::Progress;

/// What a command did, or would have done.
#[derive(Clone, Copy)]
pub(super) struct Verb {
    done: &'static str,
    planned: &'static str,
    /// What it is when it fails.
    failed: fn(Failure) -> Complaint,
}

/// What `push` does.
pub(super) const PUSHED: Verb = Verb {
    done: "Pushed",
    planned: "Would push",
    failed: Complaint::Publication,
};
/// What `mirror` does.
pub(super) const MIRRORED: Verb = Verb {
    done: "Mirrored",
    planned: "Would mirror",
    failed: Complaint::Mirroring,
};
/// What `copy` does.
pub(super) const COPIED: Verb = Verb {
    done: "Copied",
    planned: "Would copy",
    failed: Complaint::Publication,
};

/// Prints what became of many versions; says how it all ended.
pub(super) fn report(
    results: Vec<Result<Published, Failure>>,
    requests: u64,
    verb: Verb,
    progress: &Progress,
    printer: &Printer,
) -> Ending {
    let mut published = Vec::new();
    let mut complaints = Vec::new();
    for result in results {
        match result {
            Ok(one) => published.push(one),
            Err(failure) => complaints.push((verb.failed)(failure)),
        }
    }
    progress.clear();
    for complaint in &complaints {
        printer.failure(complaint);
    }
    // Of a single failure the error has said everything.
    let all = published.len() + complaints.len();
    if all != 1 || complaints.is_empty() {
        let published: Vec<&Published> = published.iter().collect();
        summarize(&published, verb, progress, printer);
    }
    let failed = complaints.iter().filter_map(Complaint::subject);
    let failed: Vec<String> = failed.map(Subject::to_string).collect();
    if all != 1 && !failed.is_empty() {
        let text = format!("{} of {all}: {}", failed.len(), failed.join(", "));
        printer.line(Tone::Warning, "Failed", &text);
    }
    for one in &published {
        printer.result(&one.reference);
    }
    let failed = complaints.iter().filter_map(json::Provider::failed);
    printer.document(&json::Publication {
        schema: json::SCHEMA,
        bytes: published.iter().map(|one| one.bytes).sum(),
        requests,
        providers: published
            .iter()
            .map(json::Provider::Published)
            .chain(failed)
            .collect(),
    });
    Ending::of(complaints.iter())
}

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
