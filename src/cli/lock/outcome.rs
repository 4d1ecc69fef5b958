//! The result of `lock`: versions ([`version`](super::version)) and files ([`file`](super::file)), as text or JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tfoci::address::ProviderAddr;
use tfoci::error::{Category, printable_path};
use tfoci::event::Subject;
use tfoci::hash::PackageHash;
use tfoci::lock::target::{self, LockChange};
use tfoci::lock::{LockResult, Locked};
use tfoci::lockfile::Client;
use tfoci::outcome::Failure;
use tfoci::platform::Platform;
use tfoci::version::Version;

use super::document;
use super::file::{FileStatus, Flaw, print_file, status, stays};
use super::request::{LockRequest, Writing};
use super::roots::Root;
use super::version::{LostH1, print_locked};
use crate::cli::Ending;
use crate::cli::error::CommandError;
use crate::cli::json;
use crate::cli::printer::Printer;
use crate::cli::session::{Session, data_directory};

/// The providers and files of a run.
pub(super) struct LockOutcome {
    pub(super) found: Vec<LockResult>,
    files: Vec<(PathBuf, FileResult)>,
    /// The client that the first lock file is for.
    client: Client,
    directories: Vec<String>,
    /// The clients that wrote lock files which are to be of the other client, by the numbers of the files.
    others: BTreeMap<usize, Client>,
    /// The lines that state the constraints of each provider, for each lock file.
    stated: BTreeMap<(usize, ProviderAddr), Vec<String>>,
    /// What each lock file locked before.
    locked: BTreeMap<(usize, ProviderAddr), (Version, BTreeSet<PackageHash>)>,
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
                let locked = root.target.locked(provider)?;
                Some(((file, provider.clone()), locked))
            })
        });
        let others = roots.iter().enumerate();
        let others = others.filter_map(|(file, root)| Some((file, root.other_client()?)));
        Self {
            found,
            files: Vec::new(),
            client: client.unwrap_or(Client::OpenTofu),
            directories: directories.collect(),
            others: others.collect(),
            stated: stated.collect(),
            locked: locked.collect(),
        }
    }

    /// The results of a provider, which follow each other in the order of providers.
    pub(super) fn found_of(&self, provider: &ProviderAddr) -> impl Iterator<Item = &LockResult> {
        let from = self.found.partition_point(|one| one.provider < *provider);
        let found = self.found.iter().skip(from);
        found.take_while(move |one| one.provider == *provider)
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

    pub(super) fn print(self, request: &LockRequest, session: &Session) -> Ending {
        let printer = &session.printer;
        let (locked, failures) = self.providers();
        for one in &locked {
            let directories = self.directories(one);
            print_locked(&one.subject, one.locked, &directories, request, printer);
            if let Some(lost) = self.lost_h1(one) {
                lost.warn(&one.subject, request, printer);
            }
        }
        for (_, failure) in &failures {
            printer.failure(failure);
        }
        let flaws = self.flaws(&locked, request);
        for (file, (path, changed)) in self.files.iter().enumerate() {
            let flaw = flaws.get(&file).copied();
            print_file(path, changed.as_ref(), flaw, request, printer);
        }
        if request.is_strict_check() {
            self.note_unchecked(printer);
        }
        self.advise_of_stale(&flaws, request, printer);
        if flaws.values().any(|flaw| *flaw == Flaw::Strangers) {
            printer.advise("`tfoci lock` keeps such hashes: to be rid of them, delete their lines or the provider's block, and run it");
        }
        if flaws.values().any(|flaw| *flaw == Flaw::Uncompared) {
            printer.advise("`tfoci lock` keeps such hashes: add the missing platforms to the store, or check with `--from origin`; or delete the lines, and run it");
        }
        let is_complete = failures.is_empty() && !request.dry_run;
        let is_usable = is_complete && is_for_here(&locked) && flaws.is_empty();
        if request.installs && is_usable && !locked.is_empty() {
            print_next(self.client, request, session);
        }
        printer.document(&document::Locking {
            schema: json::SCHEMA,
            providers: documents(&locked, &failures),
            files: self.file_documents(&flaws, request),
        });
        self.ending(&failures, &flaws, request)
    }

    /// Says how many `h1` a strict check has not compared. Clients accept packages by them alone.
    fn note_unchecked(&self, printer: &Printer) {
        let locked = self.found.iter().filter_map(|one| one.locked.as_ref().ok());
        let (count, were) = match locked.map(|one| one.unchecked).sum() {
            0 => return,
            1 => (1, "was"),
            count => (count, "were"),
        };
        let text = format!(
            "{count} `h1` of the lock files {were} not compared, and clients accept packages by them: `--h1 --platform all` downloads the packages and compares them"
        );
        printer.warning(&text);
    }

    /// The `h1` that a new version lacks, if the version before had more.
    fn lost_h1(&self, one: &LockedInFiles<'_>) -> Option<LostH1<'_>> {
        let count =
            |hashes: &BTreeSet<PackageHash>| hashes.iter().filter(|hash| hash.is_h1()).count();
        let has = count(&one.locked.hashes);
        one.files.iter().find_map(|file| {
            let before = self.locked.get(&(*file, one.subject.provider.clone()));
            let (before, hashes) = before?;
            let had = count(hashes);
            // The hashes of the same version stay.
            (*before != one.locked.version && has < had).then_some(LostH1 { before, had, has })
        })
    }

    /// Says what to do about files that `lock --check` found, and that `lock` would write.
    fn advise_of_stale(
        &self,
        flaws: &BTreeMap<usize, Flaw>,
        request: &LockRequest,
        printer: &Printer,
    ) {
        let files = self.files.iter().enumerate();
        let files = files.filter(|(file, (_, changed))| match changed {
            Some(Ok(change)) => !flaws.contains_key(file) && !stays(change, request),
            _ => false,
        });
        let stale: Vec<_> = files.filter(|_| request.is_check()).collect();
        let mut of_other = stale.iter().filter_map(|(file, (path, _))| {
            let other = self.others.get(file)?.program();
            Some((printable_path(path), other))
        });
        match of_other.next() {
            None if stale.is_empty() => {}
            None => printer.advise("`tfoci lock` with the same options writes it"),
            Some((path, other)) => printer.advise(&format!(
                "{path} was written by {other}: check it in a run with `--client {other}`, or without `--client`. `tfoci lock` with the same options makes it one of {}",
                self.client.program()
            )),
        }
    }

    /// The directories of a version, if the run has several.
    fn directories(&self, one: &LockedInFiles<'_>) -> String {
        if self.files.len() == 1 {
            return String::new();
        }
        let names = one.files.iter();
        let names = names.filter_map(|file| self.directories.get(*file));
        let names: Vec<&str> = names.map(String::as_str).collect();
        format!(" in {}", names.join(", "))
    }

    /// The flaws of lock files, by the numbers of the files.
    fn flaws(&self, locked: &[LockedInFiles<'_>], request: &LockRequest) -> BTreeMap<usize, Flaw> {
        // Clients keep hashes that match no package, so only a strict check stops at them.
        let is_strict = request.is_strict_check();
        let flaw_of = |one: &LockedInFiles<'_>| match &one.locked.uncompared {
            _ if !is_strict => None,
            _ if !one.locked.strangers.is_empty() => Some(Flaw::Strangers),
            uncompared => uncompared.as_ref().map(|_| Flaw::Uncompared),
        };
        let of_hashes = locked.iter().flat_map(|one| {
            let flaw = flaw_of(one);
            one.files
                .iter()
                .filter_map(move |file| Some((*file, flaw?)))
        });
        let unusable = self.unusable(locked, request).into_iter();
        unusable.chain(of_hashes).collect()
    }

    fn file_documents(
        &self,
        flaws: &BTreeMap<usize, Flaw>,
        request: &LockRequest,
    ) -> Vec<document::LockedFile<'_>> {
        let files = self.files.iter().enumerate();
        let documents = files.map(|(file, (path, changed))| {
            let (status, error) = match flaws.contains_key(&file) {
                true => (FileStatus::Differs, None),
                false => status(changed.as_ref(), request),
            };
            document::LockedFile {
                path: path.to_string_lossy(),
                status,
                error: error.map(json::Error::from),
            }
        });
        documents.collect()
    }

    fn ending(
        &self,
        failures: &[(Subject, CommandError)],
        flaws: &BTreeMap<usize, Flaw>,
        request: &LockRequest,
    ) -> Ending {
        let errors = failures.iter().map(|(_, error)| error);
        let files = self.files.iter().map(|(_, changed)| changed.as_ref());
        let of_files = files.clone().filter_map(|changed| changed?.as_ref().err());
        let mut changes = files.filter_map(|changed| changed?.as_ref().ok());
        let differs = !flaws.is_empty() || changes.any(|change| !stays(change, request));
        match Ending::of(errors.chain(of_files)) {
            Ending::Done if differs && request.writing == Writing::Locked => {
                Ending::Failed(Category::Differs)
            }
            ending => ending,
        }
    }

    /// The lock files that `--locked` leaves without the `h1` of a package that was installed. Clients check unpacked packages by their
    /// `h1` alone, so they refuse these.
    fn unusable(
        &self,
        locked: &[LockedInFiles<'_>],
        request: &LockRequest,
    ) -> BTreeMap<usize, Flaw> {
        let is_installed = request.is_locked_install() && !request.dry_run;
        let versions = locked.iter().filter(|_| is_installed);
        let files = versions.flat_map(|one| {
            let lacks = |file: &usize| {
                let hashes = self.locked.get(&(*file, one.subject.provider.clone()));
                let packages = one.locked.installed.iter();
                let mut h1 = packages.filter_map(|package| package.h1.as_ref());
                h1.any(|h1| hashes.is_none_or(|(_, hashes)| !hashes.contains(h1)))
            };
            one.files.iter().copied().filter(lacks)
        });
        files.map(|file| (file, Flaw::NoH1)).collect()
    }

    /// The versions that were locked, and the failures. A version or failure of several lock files is in the list once.
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
                        other.locked.version == one.version
                            && other.locked.hashes == one.hashes
                            // What the lock files also have differs.
                            && other.locked.kept == one.kept
                            && other.locked.strangers == one.strangers
                            && other.locked.uncompared == one.uncompared
                    };
                    // The results of a provider follow each other.
                    let others = locked.iter_mut().rev();
                    let mut others = others.take_while(|other| other.subject.provider == *provider);
                    match others.find(is_same) {
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

    /// The error of a provider. If no version satisfies its constraints, or the source does not have it, the error names the lines that
    /// state the constraints.
    fn failure(&self, provider: &ProviderAddr, failure: &Failure) -> CommandError {
        // These lines and the rest of the message fit on a screen.
        const MOST: usize = 10;
        if !matches!(failure.category(), Category::NotFound | Category::Differs) {
            return failure.clone().into();
        }
        let is_same = |one: &&LockResult| {
            let is_same = |other: &Failure| Arc::ptr_eq(&other.problem, &failure.problem);
            one.locked.as_ref().is_err_and(is_same)
        };
        let files = self.found_of(provider).filter(is_same);
        let files = files.map(|one| one.file);
        let stated = files.filter_map(|file| self.stated.get(&(file, provider.clone())));
        let mut stated: Vec<String> = stated.flatten().cloned().collect();
        let more = stated.len().saturating_sub(MOST);
        stated.truncate(MOST);
        stated.extend((more > 0).then(|| format!("{more} more statements")));
        match stated.is_empty() {
            true => failure.clone().into(),
            false => CommandError::NotSelected {
                failure: failure.clone(),
                stated,
            },
        }
    }
}

/// Whether each version was installed for this machine.
fn is_for_here(locked: &[LockedInFiles<'_>]) -> bool {
    locked.iter().all(|one| {
        let mut packages = one.locked.installed.iter();
        packages.any(|package| package.platform == Platform::current())
    })
}

fn documents<'a>(
    locked: &'a [LockedInFiles<'_>],
    failures: &'a [(Subject, CommandError)],
) -> Vec<document::Locked<'a>> {
    let locked = locked.iter();
    let locked = locked.map(|one| document::Locked::of(&one.subject, one.locked));
    let failed = failures.iter();
    let failed = failed.map(|(subject, error)| document::Locked::failed(subject, error));
    locked.chain(failed).collect()
}

/// Prints which commands of the client work now.
fn print_next(client: Client, request: &LockRequest, session: &Session) {
    let mut client = client.program().to_owned();
    if let [directory] = request.directories.as_slice() {
        client += &format!(" -chdir={}", printable_path(directory));
    }
    let data = data_directory();
    let directory = printable_path(&data.join("providers"));
    session.printer.say(&format!(
        "\n`{client} plan` and `{client} apply` work now, unless the configuration has a backend or calls modules. That needs first:\n\n  {client} init -plugin-dir={directory}"
    ));
}
