//! The lines about a version that was locked or installed, and the warnings about its hashes.

use tfoci::authentication::{Anchor, Status};
use tfoci::error::{MANY, listed};
use tfoci::event::{Subject, Transfer};
use tfoci::install::InstalledPackage;
use tfoci::lock::{Locked, Uncompared};
use tfoci::version::Version;

use super::request::{LockRequest, Writing};
use crate::cli::printer::Printer;
use crate::cli::progress::{explained, tone};

/// Prints what was done with a version. `directories` names those of its lock files.
pub(super) fn print_locked(
    subject: &Subject,
    locked: &Locked,
    directories: &str,
    request: &LockRequest,
    printer: &Printer,
) {
    if request.installs {
        print_installed(subject, locked, request, printer);
    } else {
        print_recorded(subject, locked, directories, request, printer);
    }
    if !request.installs || request.writing == Writing::Real {
        warn_of_others(subject, locked, request.writing, printer);
    }
    warn(subject, locked, directories, printer);
}

fn print_installed(subject: &Subject, locked: &Locked, request: &LockRequest, printer: &Printer) {
    let is_present = |package: &InstalledPackage| package.transfer == Transfer::Present;
    let all = &locked.installed;
    let verb = match all.iter().all(is_present) {
        true => "Present",
        false if request.dry_run => "Would add",
        false => "Installed",
    };
    let how = match locked.authentication.anchor {
        Some(Anchor::Lock) => "it matches the lock file".to_owned(),
        _ => explained(&locked.authentication),
    };
    let tone = tone(&locked.authentication);
    printer.line(tone, verb, &format!("{subject}   {how}"));
    for package in &locked.installed {
        printer.result(&package.path.display().to_string());
    }
}

fn print_recorded(
    subject: &Subject,
    locked: &Locked,
    directories: &str,
    request: &LockRequest,
    printer: &Printer,
) {
    let hashes = match locked.hashes.len() {
        1 => "1 hash".to_owned(),
        count => format!("{count} hashes"),
    };
    let verb = match request.writing {
        Writing::Real => "Locked",
        Writing::Locked => "Checked",
        Writing::DryRun => "Would lock",
    };
    let text = format!(
        "{subject}   {}, {hashes}{}{directories}",
        explained(&locked.authentication),
        if directories.is_empty() { "" } else { "," },
    );
    printer.line(tone(&locked.authentication), verb, &text);
}

/// Warns that the hashes of only some platforms are known. The lock file may have had those of other platforms before.
fn warn_of_others(subject: &Subject, locked: &Locked, writing: Writing, printer: &Printer) {
    if let Some(only) = &locked.only {
        let known = match (writing, locked.kept) {
            (Writing::Real, 0) => "is locked for",
            _ => "was compared for",
        };
        let mut only = listed(only, MANY) + " only";
        match locked.kept {
            0 => {}
            1 => only += " (1 hash of the lock file was not compared, and stays)",
            kept => {
                only += &format!(" ({kept} hashes of the lock file were not compared, and stay)")
            }
        }
        let is_signed = locked.authentication.status == Status::Signed;
        let text = match locked.place.is_mirror() {
            false if !is_signed => format!(
                "{subject} {known} {only}, because the release is not signed: `--platform all` downloads and locks the others"
            ),
            true => format!(
                "{subject} {known} {only}, because a mirror has no signatures: `--from STORE --trust FILE` locks every platform, and `--platform all` or `--trust-store` those that the mirror has"
            ),
            false => format!(
                "{subject} {known} {only}, because no key is pinned for it: `--trust FILE` or `--key FILE` locks every platform"
            ),
        };
        printer.warning(&text);
    }
}

/// Fewer `h1` in a lock file than the version before had.
pub(super) struct LostH1<'a> {
    /// The version before.
    pub(super) before: &'a Version,
    /// How many `h1` it had.
    pub(super) had: usize,
    /// How many the new version has.
    pub(super) has: usize,
}

impl LostH1<'_> {
    pub(super) fn warn(&self, subject: &Subject, request: &LockRequest, printer: &Printer) {
        let Self { before, had, has } = self;
        let verb = match request.writing {
            Writing::Real => "has",
            Writing::DryRun => "would have",
            Writing::Locked => return,
        };
        let count = match has {
            0 => "no `h1`".to_owned(),
            has => format!("{has} `h1`"),
        };
        let add = match had {
            1 => "`tfoci lock --h1` with the same options adds it",
            _ => "`tfoci lock --h1` with the same options and each `--platform` adds them",
        };
        printer.warning(&format!(
            "{subject} {verb} {count} in the lock file, and {before} had {had}: `install --locked` needs the one of its platform, and {add}"
        ));
    }
}

fn warn(subject: &Subject, locked: &Locked, directories: &str, printer: &Printer) {
    if !locked.strangers.is_empty() {
        // A mirror does not say which packages the release has.
        let what = match locked.place.is_mirror() {
            true => format!(
                "hashes that match no package of {}. They may be of platforms that it lacks: `--from STORE` with a pinned key, or `--from origin`, compares them",
                locked.place
            ),
            false => "hashes that match no package of this release, and clients accept packages with these hashes. Either a package was published again, or the lock file was changed; compare it with its last version before you use or remove them".to_owned(),
        };
        let strangers = listed(&locked.strangers, MANY);
        printer.warning(&format!(
            "{subject}: the lock file{directories} has {what}: {strangers}"
        ));
    }
    if let Some(Uncompared { hashes, platforms }) = &locked.uncompared {
        let text = format!(
            "{subject}: {} of the lock file{directories} could not be compared, because {} lacks {}: {}",
            format_args!("{} `h1`", hashes.len()),
            locked.place,
            listed(platforms, MANY),
            listed(hashes, MANY)
        );
        printer.warning(&text);
    }
    printer.warn_of_notes(subject, &locked.authentication);
}
