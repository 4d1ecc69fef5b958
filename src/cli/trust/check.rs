//! `tfoci trust check`: the mistakes in a trust file, and what origins say of its keys now.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use clap::Args;
use futures_util::{StreamExt as _, stream};
use serde::Serialize;
use serde_json::json;

use tfoci::address::ProviderAddr;
use tfoci::error::{Category, printable_path};
use tfoci::event::Subject;
use tfoci::jobs::PROVIDERS;
use tfoci::outcome::{Failure, Problem};
use tfoci::platform::Platforms;
use tfoci::prove::describe;
use tfoci::release::KeyRing;
use tfoci::source::Source;
use tfoci::source::origin::Origin;
use tfoci::trust::{self, Denial, Doubt, KeyFile, TrustEntry, TrustFile};
use tfoci::verify::expiry;

use super::keys::{self, Key, Rules};
use super::print_denial;
use crate::cli::Ending;
use crate::cli::error::{CommandError, named_by};
use crate::cli::json;
use crate::cli::printer::Printer;
use crate::cli::session::{Session, decode, read, read_key};

const EXAMPLES: &str = "\
Examples:
  tfoci trust check trust.toml --strict
  tfoci trust check trust.toml --online";

/// Check a trust file and the key files that it names
///
/// It prints every entry with its keys and rules, and warns of entries that are never used, and of keys that have
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

/// The document of an entry.
#[derive(Serialize)]
struct Entry {
    line: usize,
    #[serde(rename = "match")]
    pattern: String,
    keys: Vec<Key>,
    #[serde(flatten)]
    rules: Rules,
    /// The keys of its files.
    #[serde(skip)]
    copies: Vec<KeyRing>,
}

/// Prints every entry, warning and error of a trust file. An entry that cannot be used does not hide the others.
pub(super) async fn run(arguments: &Arguments, session: &Session) -> Result<Ending, CommandError> {
    let (path, printer, now) = (&arguments.file, &session.printer, SystemTime::now());
    let named_by = "the argument FILE";
    let bytes = read(path, named_by)?;
    let malformed = |error| CommandError::not_a("a trust file", path, error);
    let (file, errors) = TrustFile::check(decode(path, &bytes, named_by)?).map_err(malformed)?;
    let mut errors: Vec<CommandError> = errors.into_iter().map(malformed).collect();
    let mut warnings = trust::doubts(&file.entries);
    if file.entries.is_empty() && file.denied.is_empty() && errors.is_empty() {
        let message = "the file has no entries".to_owned();
        warnings.push(Doubt { line: 1, message });
    }
    let mut entries = Vec::new();
    for entry in &file.entries {
        let copies = rings(path, entry, now, &mut errors);
        let files = keys::of_files(&copies, now)?;
        let line = entry.line;
        let doubts = files.iter().filter_map(|one| one.warning(now));
        warnings.extend(doubts.map(|message| Doubt { line, message }));
        entries.push(Entry {
            line,
            pattern: entry.pattern.to_string(),
            keys: keys::pinned(&entry.rule.pins, &files, true, &entry.comments, now),
            rules: Rules::of(&entry.rule),
            copies,
        });
    }
    if arguments.online {
        for served in ask(&arguments.providers, &file, session).await? {
            let news = news_of(served, &entries, &mut errors, now);
            // A key of several providers has one warning.
            let is_new = |one: &Doubt| warnings.iter().all(|known| known.message != one.message);
            let news: Vec<Doubt> = news.into_iter().filter(is_new).collect();
            warnings.extend(news);
        }
    }
    warnings.sort_by_key(|warning| warning.line);
    let shown = printable_path(path);
    print(&entries, &file.denied, printer);
    for Doubt { line, message } in &warnings {
        printer.warning(&format!("{shown}, line {line}: {message}"));
    }
    errors.iter().for_each(|error| printer.failure(error));
    let ending = match Ending::of(errors.iter()) {
        Ending::Done if arguments.strict && !warnings.is_empty() => {
            Ending::Failed(Category::Untrusted)
        }
        ending => ending,
    };
    printer.document(&json::object([json!({
        "schema": json::SCHEMA,
        "file": shown,
        "entries": entries,
        "denied": file.denied,
        "warnings": warnings,
        "errors": errors.iter().map(json::Error::from).collect::<Vec<_>>(),
    })]));
    Ok(ending)
}

/// Prints the entries of a trust file, and what it denies.
fn print(entries: &[Entry], denied: &[Denial], printer: &Printer) {
    for (place, entry) in entries.iter().enumerate() {
        if place > 0 {
            printer.result("");
        }
        printer.result(&format!(
            "match     {}   line {}",
            entry.pattern, entry.line
        ));
        entry.keys.iter().for_each(|key| key.print(printer));
        entry.rules.print(printer);
    }
    for (place, one) in denied.iter().enumerate() {
        if place > 0 || !entries.is_empty() {
            printer.result("");
        }
        print_denial(one, printer);
    }
}

/// The keys of an entry that can be used. Errors are added to a list.
fn rings(
    path: &Path,
    entry: &TrustEntry,
    now: SystemTime,
    errors: &mut Vec<CommandError>,
) -> Vec<KeyRing> {
    let mut rings = Vec::new();
    for key in &entry.files {
        match ring(path, key, now) {
            Ok(ring) => rings.extend(ring),
            Err(error) => errors.push(error),
        }
    }
    if let Some((key, _)) = &entry.attestation {
        errors.extend(read_key(path, key, read).err());
    }
    rings
}

/// The keys of a file that can be used; `None` for the copy of a key that does not exist.
fn ring(trust: &Path, key: &KeyFile, now: SystemTime) -> Result<Option<KeyRing>, CommandError> {
    let ring = read_key(trust, key, read)?.map(|bytes| key.ring(bytes));
    let described = keys::of_files(ring.as_slice(), now);
    described.map_err(|error| CommandError::key_file(error, &named_by(trust, key)))?;
    Ok(ring)
}

/// What an origin's answer says about the keys of its entry. A failure to ask it is added to `errors`.
fn news_of(
    (place, provider, served): Served,
    entries: &[Entry],
    errors: &mut Vec<CommandError>,
    now: SystemTime,
) -> Vec<Doubt> {
    let served = served.map_err(|failure| errors.push(failure.into()));
    let (Ok(served), Some(entry)) = (served, entries.get(place)) else {
        return Vec::new();
    };
    let line = entry.line;
    let messages = news(entry, &served, &provider, now);
    let doubts = messages.into_iter();
    doubts.map(|message| Doubt { line, message }).collect()
}

/// The keys that an origin serves for a provider, and the place of the entry for it.
type Served = (usize, ProviderAddr, Result<Vec<KeyRing>, Failure>);

/// Asks the origins of the providers that have an entry of their own, and of those that arguments name. Each answer has the place of the entry.
async fn ask(
    named: &[String],
    file: &TrustFile,
    session: &Session,
) -> Result<Vec<Served>, CommandError> {
    let source = &Source::Origin(Origin::new(session.origin_access(session.http()?)?));
    let entries = file.entries.iter().filter(|entry| entry.has_keys());
    let own = entries.filter_map(|entry| entry.pattern.provider());
    let mut providers: BTreeSet<ProviderAddr> = own.collect();
    for text in named {
        providers.insert(session.provider(text, "trust check")?);
    }
    let mut asked = Vec::new();
    for provider in providers {
        let is_for = |entry: &TrustEntry| entry.has_keys() && entry.pattern.matches(&provider);
        let place = file.entries.iter().position(is_for);
        let none = || CommandError::usage(format!("no entry names a key for {provider}"));
        let place = place.ok_or_else(none)?;
        asked.push(async move {
            let served = served(source, &provider).await;
            (place, provider, served)
        });
    }
    Ok(stream::iter(asked).buffered(PROVIDERS).collect().await)
}

/// What the keys that a provider's origin serves say of the pinned ones.
fn news(
    entry: &Entry,
    served: &[KeyRing],
    provider: &ProviderAddr,
    now: SystemTime,
) -> Vec<String> {
    let (ours, theirs) = (describe(&entry.copies, now), describe(served, now));
    let pinned = entry.keys.iter().map(|key| &key.fingerprint);
    let pinned = pinned.filter_map(|key| Some((ours.get(key), theirs.get(key)?)));
    let pinned: Vec<_> = pinned.collect();
    if pinned.is_empty() {
        let keys = theirs.keys().map(ToString::to_string);
        let keys = keys.reduce(|all, key| format!("{all}, {key}"));
        let keys = keys.as_deref().unwrap_or("none");
        return vec![format!(
            "the newest release of {provider} has no pinned key: its keys are {keys}"
        )];
    }
    let news = pinned.into_iter().filter_map(|(ours, theirs)| {
        let news = match ours {
            Some(ours) if ours.is_revoked => None,
            _ if theirs.is_revoked => Some("is revoked".to_owned()),
            Some(ours) if theirs.updated > ours.updated => Some("was published again".to_owned()),
            // The copy alone has a warning.
            Some(ours) if ours.expires.is_some_and(|end| end <= now) => None,
            ours => expiry(ours.unwrap_or(theirs), now).map(|(_, when)| when),
        };
        let (key, news) = (&theirs.fingerprint, news?);
        Some(format!("the key {key} ({theirs}) {news}, says its origin"))
    });
    news.collect()
}

/// The keys of the newest release of a provider at its origin.
async fn served(source: &Source, provider: &ProviderAddr) -> Result<Vec<KeyRing>, Failure> {
    let served = async {
        let available = source.available_versions(provider);
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
        let place = Some(source.place(provider));
        problem.of(Subject::provider(provider), place)
    })
}
