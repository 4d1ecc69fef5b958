//! What became of versions that were to be published: the last lines for people, and the one document.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use indicatif::HumanBytes;

use tfoci::address::ProviderAddr;
use tfoci::event::{Subject, Transfer};
use tfoci::outcome::{Change, Failure, Published};
use tfoci::version::Version;

use super::Ending;
use super::diagnose::CommandError;
use super::json;
use super::options::Format;
use super::printer::{Printer, Tone};
use super::progress::Progress;

/// What a command did, or would have done.
#[derive(Clone, Copy)]
pub(super) struct Verb {
    done: &'static str,
    planned: &'static str,
    /// What it is when it fails.
    failed: fn(Failure) -> CommandError,
}

/// What `push` does.
pub(super) const PUSHED: Verb = Verb {
    done: "Pushed",
    planned: "Would push",
    failed: CommandError::Publication,
};
/// What `mirror` does.
pub(super) const MIRRORED: Verb = Verb {
    done: "Mirrored",
    planned: "Would mirror",
    failed: CommandError::Mirroring,
};
/// What `copy` does.
pub(super) const COPIED: Verb = Verb {
    done: "Copied",
    planned: "Would copy",
    failed: CommandError::Publication,
};

/// What is heard of versions that are published, until the end.
pub(super) struct Report<'a> {
    verb: Verb,
    progress: &'a Progress,
    printer: &'a Printer,
    heard: Mutex<Heard>,
}

#[derive(Default)]
struct Heard {
    tally: Tally,
    /// Without their packages, which are counted, unless the document lists them: of those there may be very many.
    published: Vec<Published>,
    errors: Vec<CommandError>,
    /// What went wrong beside the versions.
    besides: Option<CommandError>,
}

impl<'a> Report<'a> {
    pub(super) fn new(verb: Verb, progress: &'a Progress, printer: &'a Printer) -> Self {
        Self {
            verb,
            progress,
            printer,
            heard: Mutex::default(),
        }
    }

    /// Of a run that writes nothing.
    #[must_use]
    pub(super) fn planned_if(mut self, dry_run: bool) -> Self {
        let heard = self.heard.get_mut();
        let heard = heard.unwrap_or_else(PoisonError::into_inner);
        heard.tally.is_planned = dry_run;
        self
    }

    /// Takes note of one version.
    pub(super) fn hear(&self, result: Result<Published, Failure>) {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        match result {
            Ok(mut published) => {
                heard.tally.add(&published);
                if self.printer.format == Format::Text {
                    published.packages = Vec::new();
                }
                heard.published.push(published);
            }
            Err(failure) => {
                drop(heard);
                self.fail((self.verb.failed)(failure));
            }
        }
    }

    /// Takes note of one version that failed.
    pub(super) fn fail(&self, error: CommandError) {
        self.printer.failure(&error);
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.errors.push(error);
    }

    /// Takes note of what went wrong, though no version suffers from it.
    pub(super) fn besides(&self, error: Option<CommandError>) {
        let Some(error) = error else { return };
        self.printer.failure(&error);
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.besides = Some(error);
    }

    /// Prints what became of them all, by provider and version; says how it ended.
    pub(super) fn finish(self, requests: u64) -> Ending {
        let Self {
            verb,
            progress,
            printer,
            heard,
        } = self;
        let Heard {
            tally,
            mut published,
            mut errors,
            besides,
        } = heard.into_inner().unwrap_or_else(PoisonError::into_inner);
        published.sort_by(|a, b| key(a).cmp(&key(b)));
        errors.sort_by_cached_key(|error| error.subject().map(Subject::to_string));
        progress.clear();
        // Of a single failure the error has said everything.
        let all = published.len() + errors.len();
        if all != 1 || errors.is_empty() {
            summarize(&tally, verb, progress, printer);
        }
        let failed = errors.iter().filter_map(CommandError::subject);
        let failed: Vec<String> = failed.map(Subject::to_string).collect();
        if all != 1 && !failed.is_empty() {
            let text = format!("{} of {all}: {}", failed.len(), failed.join(", "));
            printer.line(Tone::Warning, "Failed", &text);
        }
        for one in &published {
            printer.result(&one.reference);
        }
        let failed = errors.iter().filter_map(json::Provider::failed);
        printer.document(&json::Publication {
            schema: json::SCHEMA,
            bytes: tally.written,
            requests,
            providers: published
                .iter()
                .map(json::Provider::Published)
                .chain(failed)
                .collect(),
            error: besides.as_ref().map(json::Error::from),
        });
        Ending::of(errors.iter().chain(&besides))
    }
}

fn key(published: &Published) -> (&ProviderAddr, &Version, &str) {
    (
        &published.provider,
        &published.version,
        &published.reference,
    )
}

/// How much became of versions.
#[derive(Default)]
pub(super) struct Tally {
    /// How many versions there are.
    all: usize,
    /// Of how many of them something was or would be written.
    changed: usize,
    /// Whether it is what a run would do.
    is_planned: bool,
    packages: usize,
    mounted: usize,
    present: usize,
    /// The bytes of packages that were or would be copied.
    moving: u64,
    /// The bytes of packages that were written.
    written: u64,
}

impl Tally {
    /// Of one version.
    pub(super) fn of(published: &Published, dry_run: bool) -> Self {
        let mut tally = Self {
            is_planned: dry_run,
            ..Self::default()
        };
        tally.add(published);
        tally
    }

    fn add(&mut self, published: &Published) {
        self.all += 1;
        self.changed += usize::from(published.status != Change::Present);
        self.written += published.bytes;
        self.moving += published.beside.map_or(0, |beside| beside.moved);
        for package in &published.packages {
            self.packages += 1;
            match package.status {
                Transfer::Mounted => self.mounted += 1,
                Transfer::Present => self.present += 1,
                Transfer::Copied | Transfer::Planned => {
                    self.moving += package.size.unwrap_or_default();
                }
            }
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.all == 0 {
            return f.write_str("nothing");
        }
        let present = self.present;
        if self.changed == 0 {
            return write!(
                f,
                "nothing: {} already present,",
                counted(present, "package")
            );
        }
        let versions = counted(self.changed, "version");
        let packages = counted(self.packages - present, "package");
        let how = if self.is_planned { "to copy" } else { "copied" };
        write!(
            f,
            "{versions}, {packages} ({} {how}",
            HumanBytes(self.moving)
        )?;
        if self.mounted > 0 {
            write!(f, ", {} mounted", self.mounted)?;
        }
        if present > 0 {
            write!(f, ", {present} already present")?;
        }
        f.write_str(")")
    }
}

/// Says what became of these versions.
pub(super) fn summarize(tally: &Tally, verb: Verb, progress: &Progress, printer: &Printer) {
    let verb = if tally.is_planned {
        verb.planned
    } else {
        verb.done
    };
    let text = format!("{tally} in {}", progress.elapsed());
    printer.line(Tone::Done, verb, &text);
}

fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}
