//! The line for a version that is done: its packages, their size, and the signer once.

use indicatif::HumanBytes;

use tfoci::authentication::Authentication;
use tfoci::error::counted;
use tfoci::event::{Subject, Transfer};
use tfoci::install::Installed;
use tfoci::outcome::{Change, PlatformChange, Published};

use super::super::finished_line::FinishedLine;
use super::super::printer::{Printer, Tone};
use super::super::progress::{self, tone, verb};

/// Prints the line of a published version.
pub(super) fn published(printer: &Printer, published: &Published) {
    let packages = published.packages.iter();
    let packages = packages.map(|package| (package.status, package.size.unwrap_or_default()));
    let verb = match published.status {
        Change::Copied => verb(Transfer::Copied),
        Change::Updated => "Updated",
        Change::Present => verb(Transfer::Present),
        Change::WouldCopy => verb(Transfer::Planned),
        Change::WouldUpdate => "Would update",
    };
    let authentication = published.authentication.as_ref();
    let packages: Vec<_> = packages.collect();
    let new = packages
        .iter()
        .filter(|(transfer, _)| *transfer != Transfer::Present);
    // The store may have more packages of the version than this run knows of.
    let count = match (published.status, new.count()) {
        (Change::Updated | Change::WouldUpdate, new @ 1..) => format!("{new} of its packages"),
        _ => counted(packages.len(), "package"),
    };
    let version = subject(published);
    for change in &published.changes {
        print_change(printer, &version, change, published.status);
    }
    let line = line(&version, count, &packages, authentication);
    print(printer, verb, &line);
}

/// Prints what a replacement changed for one platform, or would change in a dry run.
fn print_change(printer: &Printer, version: &Subject, change: &PlatformChange, status: Change) {
    let (done, planned, hashes) = match (&change.from, &change.to) {
        (Some(from), Some(to)) => ("Replaced", "Would replace", format!("{from} by {to}")),
        (None, Some(to)) => ("Added", "Would add", to.to_string()),
        (Some(from), None) => ("Removed", "Would remove", from.to_string()),
        (None, None) => return,
    };
    let verb = match status {
        Change::WouldCopy | Change::WouldUpdate => planned,
        Change::Copied | Change::Updated | Change::Present => done,
    };
    let line = format!("{version} {}   {hashes}", change.platform);
    printer.line_of(version, Tone::Plain, verb, &line);
}

/// Prints the line of an installed version.
pub(super) fn installed(printer: &Printer, installed: &Installed) {
    let packages = installed.packages.iter();
    let packages: Vec<_> = packages
        .map(|package| (package.transfer, package.size))
        .collect();
    // A version is new if any of its packages is new.
    let transfers = packages.iter().map(|(transfer, _)| *transfer);
    let changed = transfers.filter(|transfer| *transfer != Transfer::Present);
    let verb = verb(changed.min().unwrap_or(Transfer::Present));
    let version = Subject::version(&installed.provider, &installed.version);
    let authentication = Some(&installed.authentication);
    let count = counted(packages.len(), "package");
    let line = line(&version, count, &packages, authentication);
    print(printer, verb, &line);
}

/// The version, with its destination if there are several.
pub(super) fn subject(published: &Published) -> Subject {
    Subject {
        destination: published.destination.clone(),
        ..Subject::version(&published.provider, &published.version)
    }
}

fn line<'a>(
    subject: &'a Subject,
    count: String,
    packages: &[(Transfer, u64)],
    authentication: Option<&'a Authentication>,
) -> FinishedLine<'a> {
    let is_new = |transfer: &Transfer| matches!(transfer, Transfer::Copied | Transfer::Planned);
    let copied = packages.iter().filter(|(transfer, _)| is_new(transfer));
    let sizes = copied.clone().map(|(_, size)| *size);
    let bytes = sizes.fold(0, u64::saturating_add);
    let has_copied = copied.count() > 0;
    FinishedLine {
        subject,
        count: Some(count),
        size: has_copied.then(|| HumanBytes(bytes).to_string()),
        authentication,
        is_explained: true,
    }
}

fn print(printer: &Printer, verb: &str, line: &FinishedLine<'_>) {
    let is_present = verb == progress::verb(Transfer::Present);
    match line.authentication {
        Some(_) if is_present && printer.is_terse() => {}
        Some(authentication) => {
            printer.version(line.subject, tone(authentication), verb, line);
        }
        // The event of a version that is present and was not read has printed its line.
        None => {}
    }
}
