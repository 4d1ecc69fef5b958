//! `tfoci trust check`: the mistakes in a trust file, and what origins say of its keys now.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use clap::Args;
use futures_util::{StreamExt as _, stream};
use serde::Serialize;

use tfoci::address::ProviderAddr;
use tfoci::error::{Category, printable_path};
use tfoci::event::Subject;
use tfoci::jobs::PROVIDERS;
use tfoci::outcome::{Failure, Problem, Side};
use tfoci::platform::Platforms;
use tfoci::prove::describe;
use tfoci::release::KeyRing;
use tfoci::source::origin::Origin;
use tfoci::source::{BadEntries, Source};
use tfoci::trust::{self, Doubt, KeyFile, TrustEntry, TrustFile};
use tfoci::verify::expiry;

use super::deny::Denied;
use super::keys::{self, Key, Rules};
use crate::cli::Ending;
use crate::cli::error::{CommandError, named_by};
use crate::cli::json;
use crate::cli::printer::Printer;
use crate::cli::session::{Session, read, read_key, trust_text};

const EXAMPLES: &str = "\
Examples:
  tfoci trust check trust.toml --strict
  tfoci trust check trust.toml --online";

/// Check a trust file and the key files that it names
///
/// It prints every entry with its keys and rules, and warns of entries that are never used or have no effect, and of keys that have
/// expired or are revoked. The exit code is that of other commands that use the file: 2 if it is malformed or a key file holds no key, 1 if a
/// key file cannot be read. With `--strict`, it is 3 if there is a warning.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The trust file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Exit with 3 if there is a warning
    #[arg(long)]
    strict: bool,
    /// Ask the origins which pinned keys were published again or revoked, or expire
    ///
    /// tfoci compares the newest release of each provider that has an entry of its own. The exit code is 1 if an origin cannot be asked.
    #[arg(long)]
    online: bool,
    /// Providers to ask about, too, since an entry with `*` names none
    #[arg(value_name = "ADDR", requires = "online")]
    providers: Vec<String>,
}

/// The document of a trust file.
#[derive(Serialize)]
struct Check {
    schema: u32,
    file: String,
    entries: Vec<Entry>,
    denied: Vec<Denied>,
    warnings: Vec<Doubt>,
    errors: Vec<json::Error>,
}

#[derive(Serialize)]
struct Entry {
    line: usize,
    #[serde(rename = "match")]
    pattern: String,
    keys: Vec<Key>,
    #[serde(flatten)]
    rules: Rules,
}

impl Check {
    /// Whether the file has nothing in it, not even a mistake.
    fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.denied.is_empty() && self.errors.is_empty()
    }
}

/// Prints every entry, warning and error of a trust file. An entry that cannot be used does not hide the others.
pub(super) async fn run(arguments: &Arguments, session: &Session) -> Result<Ending, CommandError> {
    let path = &arguments.file;
    let named_by = "the argument FILE";
    let bytes = read(path, named_by)?;
    let (file, errors) = TrustFile::check(trust_text(path, &bytes, named_by)?)
        .map_err(|error| CommandError::not_a("a trust file", path, error))?;
    let errors = errors.into_iter();
    let mut checked = Checked {
        path,
        now: SystemTime::now(),
        read: BTreeMap::new(),
        warnings: trust::doubts(&file),
        errors: errors
            .map(|error| CommandError::not_a("a trust file", path, error))
            .collect(),
    };
    let entries = file.entries.iter().map(|entry| checked.entry(entry));
    let entries: Vec<Entry> = entries.collect();
    if arguments.online {
        let pinned = file.entries.iter().zip(&entries);
        let pinned: Vec<_> = pinned.filter(|(entry, _)| entry.has_keys()).collect();
        checked.ask(&arguments.providers, &pinned, session).await?;
    }
    let Checked {
        mut warnings,
        errors,
        ..
    } = checked;
    warnings.sort_by_key(|warning| warning.line);
    let document = Check {
        schema: json::SCHEMA,
        file: printable_path(path),
        entries,
        denied: file.denied.iter().map(Denied::from).collect(),
        warnings,
        errors: errors.iter().map(json::Error::from).collect(),
    };
    print(&document, &file, &session.printer);
    for error in &errors {
        session.printer.failure(error);
    }
    session.printer.document(&document);
    let is_doubtful = !document.warnings.is_empty() || document.is_empty();
    Ok(match Ending::of(errors.iter()) {
        Ending::Done if arguments.strict && is_doubtful => Ending::Failed(Category::Untrusted),
        ending => ending,
    })
}

/// A trust file while it is checked.
struct Checked<'a> {
    path: &'a Path,
    now: SystemTime,
    /// The files that were read; `None` for those that cannot be used.
    read: BTreeMap<PathBuf, Option<KeyRing>>,
    warnings: Vec<Doubt>,
    errors: Vec<CommandError>,
}

impl Checked<'_> {
    fn entry(&mut self, entry: &TrustEntry) -> Entry {
        let rings = entry.files.iter().filter_map(|file| self.ring(file));
        let rings: Vec<KeyRing> = rings.collect();
        let files = keys::of_files(&rings, self.now).unwrap_or_else(|error| {
            self.errors.push(error.into());
            Vec::new()
        });
        for (place, one) in files.iter().enumerate() {
            let (key, file) = (&one.key.fingerprint, &one.file);
            let mut earlier = files.iter().take(place);
            let first = earlier.find(|first| first.key.fingerprint == *key && first.file != *file);
            let twice = first.map(|first| {
                let first = &first.file;
                format!("the key {key} is in both {first} and {file}")
            });
            let found = twice
                .into_iter()
                .chain(one.warning(entry.rule.expired, self.now));
            let line = entry.line;
            self.warnings
                .extend(found.map(|message| Doubt { line, message }));
        }
        if let Some((file, _)) = &entry.attestation {
            self.errors.extend(read_key(self.path, file, read).err());
        }
        Entry {
            line: entry.line,
            pattern: entry.pattern.to_string(),
            keys: keys::pinned(&entry.rule.pins, &files, true, &entry.comments, self.now),
            rules: Rules::of(&entry.rule),
        }
    }

    /// Warns of what origins say of pinned keys, once of each key. An origin that cannot be asked is an error, and does not stop the others.
    async fn ask(
        &mut self,
        named: &[String],
        pinned: &[(&TrustEntry, &Entry)],
        session: &Session,
    ) -> Result<(), CommandError> {
        let source = &Source::Origin(Origin::new(session.origin_access(session.http()?)?));
        let entries = pinned.iter().map(|(entry, _)| entry);
        let own = entries.filter_map(|entry| entry.pattern.provider());
        let mut providers: BTreeSet<ProviderAddr> = own.collect();
        for text in named {
            providers.insert(session.provider(text, "trust check")?);
        }
        let mut asked = Vec::new();
        for provider in providers {
            let mut entries = pinned.iter();
            let entry = entries.find(|(entry, _)| entry.pattern.matches(&provider));
            let none = || CommandError::usage(format!("no entry names a key for {provider}"));
            let entry = entry.ok_or_else(none)?;
            asked.push(async move { (entry, served(source, &provider).await, provider) });
        }
        let answers: Vec<_> = stream::iter(asked).buffered(PROVIDERS).collect().await;
        for (TrustEntry { line, pattern, .. }, _) in pinned {
            let is_asked = answers.iter().any(|((entry, _), ..)| entry.line == *line);
            if !is_asked && pattern.provider().is_none() {
                let message = format!(
                    "no origin was asked for {pattern}: name a provider of it after the file"
                );
                self.warn(*line, message);
            }
        }
        let mut told = BTreeSet::new();
        for ((entry, document), served, provider) in answers {
            match served {
                Ok(served) => self.compare(entry, &document.keys, &served, &provider, &mut told),
                Err(failure) => self.errors.push(failure.into()),
            }
        }
        Ok(())
    }

    /// Compares the keys of an entry with those that a provider's origin serves. `told` is what other origins said.
    fn compare(
        &mut self,
        entry: &TrustEntry,
        keys: &[Key],
        served: &[KeyRing],
        provider: &ProviderAddr,
        told: &mut BTreeSet<String>,
    ) {
        let copies = entry.files.iter().filter_map(|file| self.ring(file));
        let copies: Vec<KeyRing> = copies.collect();
        let (ours, theirs) = (describe(&copies, self.now), describe(served, self.now));
        let pinned = keys.iter().map(|key| &key.fingerprint);
        let mut pinned = pinned
            .filter_map(|key| Some((ours.get(key), theirs.get(key)?)))
            .peekable();
        if pinned.peek().is_none() {
            let keys = theirs.keys().map(ToString::to_string);
            let keys = keys.reduce(|all, key| format!("{all}, {key}"));
            let keys = keys.as_deref().unwrap_or("none");
            let message =
                format!("the newest release of {provider} has no pinned key: its keys are {keys}");
            self.warn(entry.line, message);
        }
        for (ours, theirs) in pinned {
            let news = match ours {
                Some(ours) if ours.is_revoked => None,
                _ if theirs.is_revoked => Some("is revoked".to_owned()),
                Some(ours) if theirs.updated > ours.updated => {
                    Some("was published again".to_owned())
                }
                // The copy alone has a warning.
                Some(ours) if ours.expires.is_some_and(|end| end <= self.now) => None,
                ours => expiry(ours.unwrap_or(theirs), self.now).map(|(_, when)| when),
            };
            let news = news.map(|news| format!("the key {} ({theirs}) {news}", theirs.fingerprint));
            if let Some(news) = news.filter(|news| told.insert(news.clone())) {
                self.warn(entry.line, format!("{news}, says the origin of {provider}"));
            }
        }
    }

    fn warn(&mut self, line: usize, message: String) {
        self.warnings.push(Doubt { line, message });
    }

    /// The keys of a file, which can be described. Each file is read once.
    fn ring(&mut self, file: &KeyFile) -> Option<KeyRing> {
        if let Some(known) = self.read.get(&file.path) {
            return known.clone();
        }
        let ring = read_key(self.path, file, read).and_then(|bytes| {
            let ring = bytes.map(|bytes| file.ring(bytes));
            let described = keys::of_files(ring.as_slice(), self.now);
            described.map_err(|error| CommandError::key_file(error, &named_by(self.path, file)))?;
            Ok(ring)
        });
        let ring = ring.unwrap_or_else(|error| {
            self.errors.push(error);
            None
        });
        self.read.insert(file.path.clone(), ring.clone());
        ring
    }
}

/// The keys of the newest release of a provider at its origin.
async fn served(source: &Source, provider: &ProviderAddr) -> Result<Vec<KeyRing>, Failure> {
    let served = async {
        let available = source.available_versions(provider, BadEntries::Skipped);
        let versions = available.await?.versions.into_iter();
        let newest = versions.max_by_key(|one| !one.version.version().is_prerelease());
        let Some(newest) = newest else {
            return Ok(Vec::new());
        };
        let first = newest.platforms.iter().flatten().next().cloned();
        let platforms = first.map_or(Platforms::All, |one| Platforms::Only(vec![one]));
        let whole = source.whole_release(provider, &newest, &platforms, false);
        Ok(whole.await?.0.keys)
    };
    served.await.map_err(|problem: Problem| {
        let place = Side::Source(source.place(provider));
        problem.of(Subject::provider(provider), place)
    })
}

fn print(document: &Check, file: &TrustFile, printer: &Printer) {
    let entries = document.entries.iter().zip(&file.entries);
    for (place, (entry, parsed)) in entries.enumerate() {
        if place > 0 {
            printer.result("");
        }
        let (pattern, line) = (&entry.pattern, entry.line);
        printer.result(&format!("match     {pattern}   line {line}"));
        for key in &entry.keys {
            key.print(printer);
        }
        let pinned = parsed.has_keys().then_some(&*entry.keys);
        keys::print_unsigned(pinned, &parsed.rule, None, printer);
        keys::print_doubtful(&parsed.rule, printer);
    }
    for (place, denied) in document.denied.iter().enumerate() {
        if place > 0 || !document.entries.is_empty() {
            printer.result("");
        }
        denied.print(printer);
    }
    for warning in &document.warnings {
        let (line, message) = (warning.line, &warning.message);
        let text = format!("{}, line {line}: {message}", document.file);
        printer.warning(&text);
    }
    if document.is_empty() {
        let text = format!("{} has no entries", document.file);
        printer.warning(&text);
    }
}
