//! A row of the report: what became of one provider version.

use std::time::SystemTime;

use indicatif::HumanBytes;
use serde_json::{Value, json};

use tfoci::authentication::Authentication;
use tfoci::date::timestamp;
use tfoci::error::counted;
use tfoci::event::{Subject, Transfer};
use tfoci::install::{Installed, InstalledPackage};
use tfoci::lock::Locked;
use tfoci::outcome::{Change, PlatformChange, Published, held};

use super::super::arguments::Format;
use super::super::error::CommandError;
use super::super::json;
use super::super::printer::{Printer, Tone};
use super::super::progress::{explained, tone};
use super::{Destination, Totals};

/// What became of a provider version, or of a provider that failed as a whole.
pub(in crate::cli) struct Row {
    /// The version, and its destination if there are several.
    pub(super) subject: Subject,
    /// What was done, or would be.
    pub(super) verb: &'static str,
    /// What its line counts: its packages, or the hashes of a lock file.
    pub(super) count: String,
    pub(super) totals: Totals,
    pub(super) authentication: Option<Authentication>,
    /// The lines on stdout: the reference of a published version, or the paths of installed packages.
    pub(super) results: Vec<String>,
    pub(super) error: Option<CommandError>,
    /// The row in JSON, if that is the format: a run may have very many rows.
    pub(super) document: Option<Value>,
}

impl Row {
    pub(super) fn published(subject: Subject, published: Published, format: Format) -> Self {
        let packages = published.packages.iter();
        let is_present = published.status == Change::Present;
        let totals = Totals {
            versions: usize::from(!is_present),
            beside: published.beside.map_or(0, |beside| beside.moved),
            written: published.bytes,
            ..Totals::of(packages.map(|one| (one.status, one.size)))
        };
        Self {
            subject,
            verb: match published.status {
                Change::Copied => "Copied",
                Change::Updated => "Updated",
                Change::Present => PRESENT,
                Change::Planned => "Would write",
            },
            count: counted(totals.packages, "package"),
            totals,
            authentication: published.authentication.clone(),
            // A bundle that goes to a pipe cannot be referred to.
            results: Vec::from_iter(
                Some(published.reference.clone()).filter(|one| !one.is_empty()),
            ),
            error: None,
            document: (format == Format::Json).then(|| json!(published)),
        }
    }

    pub(super) fn installed(installed: Installed, format: Format) -> Self {
        let subject = Subject::version(&installed.provider, &installed.version);
        let row = Self::delivered(subject, &installed.packages);
        Self {
            authentication: Some(installed.authentication.clone()),
            document: (format == Format::Json).then(|| json!(installed)),
            ..row
        }
    }

    /// A version that lock files record. `verb` says what becomes of them, if the version is not installed too; `None` if they have it already.
    pub(in crate::cli) fn locked(
        subject: Subject,
        locked: &Locked,
        verb: Option<&'static str>,
        format: Format,
    ) -> Self {
        let mut row = Self::delivered(subject, &locked.packages);
        if locked.packages.is_empty() {
            row.verb = verb.unwrap_or(PRESENT);
            row.totals.versions = usize::from(verb.is_some());
            row.count = match locked.hashes.len() {
                1 => "1 hash".to_owned(),
                count => format!("{count} hashes"),
            };
        }
        row.authentication = Some(locked.authentication.clone());
        row.document = (format == Format::Json).then(|| json!(locked));
        row
    }

    /// A version whose packages are in a directory now.
    fn delivered(subject: Subject, packages: &[InstalledPackage]) -> Self {
        let sizes = packages.iter().map(|one| (one.transfer, Some(one.size)));
        let totals = Totals::of(sizes);
        let is_planned = packages.iter().any(|one| one.transfer == Transfer::Planned);
        let paths = packages.iter().map(|one| one.path.display().to_string());
        Self {
            subject,
            verb: match totals.versions {
                0 => PRESENT,
                _ if is_planned => "Would copy",
                _ if totals.mounted == totals.added() => "Reused",
                _ => "Copied",
            },
            count: counted(totals.packages, "package"),
            totals,
            authentication: None,
            results: paths.collect(),
            error: None,
            document: None,
        }
    }

    pub(super) fn failed(subject: Subject, error: CommandError, into: &Destination) -> Self {
        let is_published = matches!(into, Destination::Store(_));
        let is_locked = matches!(into, Destination::LockFiles(_));
        let none: [(); 0] = [];
        let document = json!({
            "status": is_published.then_some("failed"),
            "packages": (!is_locked).then_some(none),
            "hashes": (!is_published).then_some(none),
            "error": json::Error::from(&error),
        });
        Self {
            error: Some(error),
            ..Self::absent(subject, "Failed", document)
        }
    }

    /// A version that is too new.
    pub(in crate::cli) fn held(subject: Subject, until: Option<SystemTime>) -> Self {
        let document = json!({"status": "held", "packages": [], "until": until.map(timestamp)});
        Self {
            count: held(until),
            ..Self::absent(subject, HELD, document)
        }
    }

    /// A version without anything that was written.
    fn absent(subject: Subject, verb: &'static str, document: Value) -> Self {
        let named = json!({
            "provider": subject.provider,
            "version": subject.version,
            "destination": subject.destination,
        });
        Self {
            subject,
            verb,
            count: String::new(),
            totals: Totals::default(),
            authentication: None,
            results: Vec::new(),
            error: None,
            document: Some(json::object([named, document])),
        }
    }

    /// Whether the destination had the version already.
    pub(super) fn is_unchanged(&self) -> bool {
        self.verb == PRESENT
    }

    /// Whether the destination changed, or should have.
    pub(super) fn is_news(&self) -> bool {
        !self.is_unchanged() && self.verb != HELD
    }

    /// Prints the line of a version: its packages, their size, and the signer once. A version that is present and was not read has a line in a dry
    /// run only.
    pub(super) fn print(&self, printer: &Printer, dry_run: bool) {
        if self.is_unchanged() && printer.is_terse() {
            return;
        }
        let Some(authentication) = &self.authentication else {
            let subject = self.subject.to_string();
            return match self.verb {
                HELD => printer.line(Tone::Plain, HELD, &format!("{subject}   {}", self.count)),
                PRESENT if dry_run => printer.line(Tone::Done, PRESENT, &subject),
                _ => {}
            };
        };
        // With `-v`, its packages have lines.
        if self.totals.packages > 0 && printer.is_verbose() {
            return;
        }
        let size = match self.totals.copied {
            0 => String::new(),
            copied => format!(", {}", HumanBytes(copied)),
        };
        let (subject, count, proof) = (&self.subject, &self.count, explained(authentication));
        let text = format!("{subject}   {count}{size}   {proof}");
        printer.line(tone(authentication), self.verb, &text);
    }
}

const PRESENT: &str = "Present";
const HELD: &str = "Held";

/// Prints what a replacement changed for one platform, or would change in a dry run.
pub(super) fn print_change(
    printer: &Printer,
    version: &Subject,
    change: &PlatformChange,
    status: Change,
) {
    let (done, planned, hashes) = match (&change.from, &change.to) {
        (Some(from), Some(to)) => ("Replaced", "Would replace", format!("{from} by {to}")),
        (None, Some(to)) => ("Added", "Would add", to.to_string()),
        (Some(from), None) => ("Removed", "Would remove", from.to_string()),
        (None, None) => return,
    };
    let verb = match status {
        Change::Planned => planned,
        Change::Copied | Change::Updated | Change::Present => done,
    };
    let line = format!("{version} {}   {hashes}", change.platform);
    printer.line(Tone::Plain, verb, &line);
}
