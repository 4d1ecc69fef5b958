//! The result of `lock`: providers and files, as text or JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tfoci::address::ProviderAddr;
use tfoci::authentication::Anchor;
use tfoci::error::{Category, printable_path};
use tfoci::event::{Subject, Transfer};
use tfoci::hash::PackageHash;
use tfoci::install::InstalledPackage;
use tfoci::lock::target::{self, LockChange};
use tfoci::lock::{LockResult, Locked};
use tfoci::lockfile::Client;
use tfoci::outcome::Failure;
use tfoci::platform::Platform;
use tfoci::source::SourceAddr;

use super::file::{Flaw, print_file, status, stays};
use super::request::{LockRequest, Writing};
use super::roots::Root;
use crate::cli::Ending;
use crate::cli::error::CommandError;
use crate::cli::json;
use crate::cli::printer::Printer;
use crate::cli::progress::{explained, tone};
use crate::cli::session::Session;

/// The providers and files of a run.
pub(super) struct LockOutcome {
    pub(super) found: Vec<LockResult>,
    files: Vec<(PathBuf, FileResult)>,
    /// The client that the first lock file is for.
    client: Client,
    /// The directories of the lock files.
    directories: Vec<String>,
    /// What states the constraints of each provider, for each lock file.
    stated: BTreeMap<(usize, ProviderAddr), Vec<String>>,
    /// The hashes of each provider in each lock file, as they were before.
    locked: BTreeMap<(usize, ProviderAddr), BTreeSet<PackageHash>>,
}

/// A version that was locked.
struct LockedInFiles<'a> {
    subject: Subject,
    locked: &'a Locked,
    /// The numbers of the lock files.
    files: Vec<usize>,
}

/// The versions that were locked, and the failures.
type Providers<'a> = (Vec<LockedInFiles<'a>>, Vec<(Subject, CommandError)>);

/// The change of a lock file; `None` if one of its providers failed.
type FileResult = Option<Result<LockChange, CommandError>>;

impl LockOutcome {
    pub(super) fn new(found: Vec<LockResult>, roots: &[Root]) -> Self {
        let directories = roots.iter().map(|root| printable_path(&root.directory));
        let client = roots.first().map(|root| root.target.client());
        let stated = roots.iter().enumerate().flat_map(|(file, root)| {
            let required = root.required.iter();
            required.map(move |(provider, one)| ((file, provider.clone()), one.stated.clone()))
        });
        let locked = roots.iter().enumerate().flat_map(|(file, root)| {
            let required = root.required.keys();
            required.filter_map(move |provider| {
                let (_, hashes) = root.target.locked(provider)?;
                Some(((file, provider.clone()), hashes))
            })
        });
        Self {
            found,
            files: Vec::new(),
            client: client.unwrap_or(Client::OpenTofu),
            directories: directories.collect(),
            stated: stated.collect(),
            locked: locked.collect(),
        }
    }

    /// Adds the lock file of a directory that could not be read.
    pub(super) fn add_broken(&mut self, path: PathBuf, error: CommandError) {
        self.files.push((path, Some(Err(error))));
    }

    pub(super) fn add_file(
        &mut self,
        path: &Path,
        changed: Option<Result<LockChange, target::Error>>,
    ) {
        let changed = changed.map(|changed| changed.map_err(CommandError::from));
        self.files.push((path.to_owned(), changed));
    }

    /// Prints everything.
    pub(super) fn print(self, request: &LockRequest, session: &Session) -> Ending {
        let printer = &session.printer;
        let (locked, failures) = self.providers();
        for one in &locked {
            let directories = match self.files.len() {
                1 => String::new(),
                _ => {
                    let names = one
                        .files
                        .iter()
                        .filter_map(|file| self.directories.get(*file));
                    let names: Vec<&str> = names.map(String::as_str).collect();
                    format!(", in {}", names.join(", "))
                }
            };
            print_locked(&one.subject, one.locked, &directories, request, printer);
        }
        for (_, failure) in &failures {
            printer.failure(failure);
        }
        // Clients keep such hashes, so that only a strict gate stops at them.
        let is_strict = request.trust.require_pinned && !request.installs;
        let with_strangers: BTreeSet<usize> = locked
            .iter()
            .filter(|one| is_strict && !one.locked.strangers.is_empty())
            .flat_map(|one| one.files.iter().copied())
            .collect();
        let unusable = self.unusable(&locked, request);
        for (file, (path, changed)) in self.files.iter().enumerate() {
            let flaw = match file {
                file if with_strangers.contains(&file) => Some(Flaw::Strangers),
                file if unusable.contains(&file) => Some(Flaw::NoH1),
                _ => None,
            };
            print_file(path, changed.as_ref(), flaw, request, printer);
        }
        let is_complete = failures.is_empty() && request.writing != Writing::DryRun;
        let is_for_here = locked.iter().all(|one| {
            let mut packages = one.locked.installed.iter();
            packages.any(|package| package.platform == Platform::current())
        });
        let is_usable = is_complete && is_for_here && unusable.is_empty();
        if request.installs && is_usable && !locked.is_empty() {
            print_next(self.client, session);
        }
        let differs = !with_strangers.is_empty()
            || !unusable.is_empty()
            || self
                .files
                .iter()
                .any(|(_, changed)| matches!(changed, Some(Ok(change)) if !stays(change, request)));
        let errors = failures.iter().map(|(_, error)| error);
        let of_files = self.files.iter().filter_map(|(_, changed)| match changed {
            Some(Err(error)) => Some(error),
            _ => None,
        });
        let ending = Ending::of(errors.chain(of_files));
        let documents = locked
            .iter()
            .map(|one| json::Locked::of(&one.subject, one.locked));
        let failed = failures
            .iter()
            .map(|(subject, error)| json::Locked::failed(subject, error));
        let files = self
            .files
            .iter()
            .enumerate()
            .map(|(file, (path, changed))| {
                let has_flaw = unusable.contains(&file) || with_strangers.contains(&file);
                let (status, error) = match has_flaw {
                    true => ("differs", None),
                    false => status(changed.as_ref(), request),
                };
                json::LockedFile {
                    path: path.to_string_lossy(),
                    status,
                    error: error.map(json::Error::from),
                }
            });
        printer.document(&json::Locking {
            schema: json::SCHEMA,
            providers: documents.chain(failed).collect(),
            files: files.collect(),
        });
        match ending {
            Ending::Done if differs && request.writing == Writing::Locked => {
                Ending::Failed(Category::Differs)
            }
            ending => ending,
        }
    }

    /// The lock files that `--locked` leaves without the `h1` of a package that was installed. Clients check unpacked packages by nothing
    /// else, so that they refuse it.
    fn unusable(&self, locked: &[LockedInFiles<'_>], request: &LockRequest) -> BTreeSet<usize> {
        let is_locked = request.installs && request.writing == Writing::Locked;
        let versions = locked.iter().filter(|_| is_locked);
        let files = versions.flat_map(|one| {
            let lacks = |file: &usize| {
                let hashes = self.locked.get(&(*file, one.subject.provider.clone()));
                let mut h1 = one
                    .locked
                    .installed
                    .iter()
                    .filter_map(|package| package.h1.as_ref());
                h1.any(|h1| hashes.is_none_or(|hashes| !hashes.contains(h1)))
            };
            one.files.iter().copied().filter(lacks)
        });
        files.collect()
    }

    /// The versions that were locked, and the failures. What several lock files have in common is there once.
    fn providers(&self) -> Providers<'_> {
        let (mut locked, mut failures): Providers<'_> = (Vec::new(), Vec::new());
        let mut seen = BTreeSet::new();
        for LockResult {
            provider,
            file,
            locked: result,
        } in &self.found
        {
            match result {
                Ok(one) => {
                    let is_same = |other: &&mut LockedInFiles<'_>| {
                        other.subject.provider == *provider
                            && other.locked.version == one.version
                            && other.locked.hashes == one.hashes
                    };
                    match locked.iter_mut().find(is_same) {
                        Some(same) => same.files.push(*file),
                        None => locked.push(LockedInFiles {
                            subject: Subject::version(provider, &one.version),
                            locked: one,
                            files: vec![*file],
                        }),
                    }
                }
                Err(failure) => {
                    if seen.insert(Arc::as_ptr(&failure.problem)) {
                        let subject = failure.subject.clone();
                        let subject = subject.unwrap_or_else(|| Subject::provider(provider));
                        failures.push((subject, self.failure(provider, failure)));
                    }
                }
            }
        }
        (locked, failures)
    }

    /// The error of a provider, with what states its constraints if no version satisfies them or nobody knows the provider.
    fn failure(&self, provider: &ProviderAddr, failure: &Failure) -> CommandError {
        // Fits on a screen with the rest.
        const MOST: usize = 10;
        if !matches!(failure.category(), Category::NotFound | Category::Differs) {
            return CommandError::Locking(failure.clone());
        }
        let is_same = |one: &&LockResult| {
            let is_same = |other: &Failure| Arc::ptr_eq(&other.problem, &failure.problem);
            one.provider == *provider && one.locked.as_ref().is_err_and(is_same)
        };
        let files = self.found.iter().filter(is_same).map(|one| one.file);
        let stated = files.filter_map(|file| self.stated.get(&(file, provider.clone())));
        let mut stated: Vec<String> = stated.flatten().cloned().collect();
        let more = stated.len().saturating_sub(MOST);
        stated.truncate(MOST);
        stated.extend((more > 0).then(|| format!("{more} more statements")));
        match stated.is_empty() {
            true => CommandError::Locking(failure.clone()),
            false => CommandError::NotSelected {
                failure: failure.clone(),
                stated,
            },
        }
    }
}

fn print_locked(
    subject: &Subject,
    locked: &Locked,
    directories: &str,
    request: &LockRequest,
    printer: &Printer,
) {
    if request.installs {
        let is_present = |package: &InstalledPackage| package.transfer == Transfer::Present;
        let is_linked = |package: &InstalledPackage| package.transfer == Transfer::Mounted;
        let all = &locked.installed;
        let verb = match all.iter().all(is_present) {
            true => "Present",
            false if request.writing == Writing::DryRun => "Would add",
            false if all.iter().all(|one| is_present(one) || is_linked(one)) => "Linked",
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
        if request.writing == Writing::Real {
            warn_of_others(subject, locked, request.writing, printer);
        }
        return warn(subject, locked, printer);
    }
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
        "{subject}   {}, {hashes}{directories}",
        explained(&locked.authentication)
    );
    printer.line(tone(&locked.authentication), verb, &text);
    warn_of_others(subject, locked, request.writing, printer);
    warn(subject, locked, printer);
}

/// Warns that the hashes of some platforms only are known. The lock file may have those of others from before.
fn warn_of_others(subject: &Subject, locked: &Locked, writing: Writing, printer: &Printer) {
    if let Some(only) = &locked.only {
        let only: Vec<String> = only.iter().map(ToString::to_string).collect();
        let known = match writing {
            Writing::Real => "is locked for",
            Writing::Locked | Writing::DryRun => "was compared for",
        };
        let is_mirror = matches!(
            locked.place.parse(),
            Ok(SourceAddr::NetworkMirror(_) | SourceAddr::FilesystemMirror(_))
        );
        let only = only.join(", ");
        let text = match is_mirror {
            true => format!(
                "{subject} {known} {only} only, because a mirror has no signatures: `--from STORE --trust FILE` locks every platform, and `--platform all` those that the mirror has"
            ),
            false => format!(
                "{subject} {known} {only} only, because no key is pinned for it: `--trust FILE` or `--key FILE` locks every platform"
            ),
        };
        printer.warning(&text);
    }
}

/// What to do with the installed providers.
fn print_next(client: Client, session: &Session) {
    let client = client.program();
    let data = session.data_directory();
    let directory = printable_path(&data.join("providers"));
    session.printer.say(&format!(
        "\n`{client} plan` and `{client} apply` work now. Where a backend or modules need `init`:\n\n  {client} init -plugin-dir={directory}"
    ));
}

fn warn(subject: &Subject, locked: &Locked, printer: &Printer) {
    if !locked.strangers.is_empty() {
        let strangers: Vec<String> = locked.strangers.iter().map(ToString::to_string).collect();
        let text = format!(
            "{subject}: the lock file has hashes of no package of this release. Clients accept packages that match them; take them out by hand: {}",
            strangers.join(", ")
        );
        printer.warning(&text);
    }
    if let Some(warning) = locked.authentication.warning() {
        printer.warning(&format!("{subject}: {warning}"));
    }
}
