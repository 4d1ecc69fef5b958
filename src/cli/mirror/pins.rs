//! `--pin-new`: from now on these keys and no others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tfoci::address::ProviderAddr;
use tfoci::authentication::Anchor;
use tfoci::disk::lock::Lock;
use tfoci::disk::{self, directory_of};
use tfoci::error::printable_path;
use tfoci::event::Reporter;
use tfoci::mirror::Task;
use tfoci::outcome::{Failure, Problem, Published};
use tfoci::trust::pins::pin;
use tfoci::trust::rule::{Fingerprint, Unsigned};

use super::{Arguments, plan};
use crate::cli::error::CommandError;
use crate::cli::printer::{Printer, Tone};
use crate::cli::session::trust_text;

/// The trust file into which keys are to be written, created if it does not exist. A dry run writes none.
pub(super) fn trust_file(arguments: &Arguments) -> Result<Option<PathBuf>, CommandError> {
    if !arguments.pin_new {
        return Ok(None);
    }
    let path = match &arguments.trust.trust {
        Some(path) => Some(path.to_owned()),
        None => plan::file(arguments)?.and_then(|file| file.trust),
    };
    path.ok_or(CommandError::NoTrustFile)
        .map(|path| Some(path).filter(|_| !arguments.dry_run))
}

/// The keys that origins serve for what is mirrored.
pub(super) struct Pins<'a> {
    path: PathBuf,
    printer: &'a Printer,
    /// Providers that should have keys, and have none yet.
    keyless: BTreeSet<ProviderAddr>,
    heard: Mutex<BTreeMap<ProviderAddr, Keys>>,
}

/// What is known of the keys of one provider.
#[derive(Default)]
struct Keys {
    /// Whether some release of it was looked at.
    is_examined: bool,
    seen: BTreeSet<Fingerprint>,
    /// Those of `seen` that need not be written any more.
    settled: BTreeSet<Fingerprint>,
}

impl<'a> Pins<'a> {
    /// Pins keys in this trust file, for what is mirrored by these tasks.
    pub(super) fn new<D>(path: PathBuf, tasks: &[Task<D>], printer: &'a Printer) -> Self {
        // A provider without required signatures need not have keys.
        let is_keyless =
            |task: &&Task<D>| !task.rule.pinned() && task.rule.unsigned == Unsigned::Refuse;
        let keyless = tasks.iter().filter(is_keyless);
        Self {
            path,
            printer,
            keyless: keyless.map(|task| task.provider.clone()).collect(),
            heard: Mutex::default(),
        }
    }

    /// Pins the key of one version at once: the run may be stopped, and to the next one this version says nothing of its key.
    pub(super) fn hear(&self, result: &Result<Published, Failure>) {
        let Ok(published) = result else { return };
        let provider = &published.provider;
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let keys = heard.entry(provider.clone()).or_default();
        let Some(authentication) = &published.authentication else {
            return;
        };
        keys.is_examined = true;
        let key = authentication.fingerprint.as_deref().map(str::parse);
        if let (Some(Anchor::Origin | Anchor::Lock), Some(Ok(key))) = (authentication.anchor, key) {
            keys.seen.insert(key);
            // What goes wrong is tried again, and told, at the end; so is a file that another run is writing.
            if let Ok(Some(_lock)) = Lock::of_directory_now(directory_of(&self.path)) {
                let _later = self.write(provider, keys);
            }
        }
    }

    /// Says of which providers no key was seen, and what could not be written.
    pub(super) async fn finish(self, reporter: &dyn Reporter) -> Result<(), CommandError> {
        let mut heard =
            std::mem::take(&mut *self.heard.lock().unwrap_or_else(PoisonError::into_inner));
        let mut unwritten = Vec::new();
        let is_unsettled = heard.values().any(|keys| keys.seen != keys.settled);
        let directory = directory_of(&self.path);
        // Of a directory that is not there, more is said by what the file cannot be written for.
        let lock = match is_unsettled && directory.exists() {
            true => Lock::of_directory(directory, reporter).await.map(Some),
            false => Ok(None),
        };
        let (_lock, mut why) = match lock {
            Ok(lock) => (lock, None),
            Err(error) => (None, Some(Failure::from(Problem::from(error)).into())),
        };
        let is_locked = why.is_none();
        for (provider, keys) in &mut heard {
            let written = match is_locked {
                true => self
                    .write(provider, keys)
                    .map_err(|error| why = Some(error)),
                false if keys.seen == keys.settled => Ok(()),
                false => Err(()),
            };
            if written.is_err() {
                let keys: Vec<String> = keys.seen.iter().map(Fingerprint::to_string).collect();
                unwritten.push(format!("{provider} {}", keys.join(", ")));
            }
        }
        let unseen = heard.iter().filter(|(_, keys)| !keys.is_examined);
        let unseen = unseen.map(|(provider, _)| provider);
        let unseen: Vec<String> = unseen
            .filter(|provider| self.keyless.contains(provider))
            .map(ProviderAddr::to_string)
            .collect();
        if !unseen.is_empty() {
            let line = format!(
                "{}: no key is pinned, since all that is wanted is there already. `--recheck` looks at the origin's keys",
                unseen.join(", ")
            );
            self.printer.line(Tone::Warning, "Warning", &line);
        }
        why.map_or(Ok(()), |source| {
            Err(CommandError::NotPinned {
                path: self.path.clone(),
                keys: unwritten,
                source: Box::new(source),
            })
        })
    }

    /// Writes the keys of a provider into the trust file as it is now, which may be other than when this run began. The lock is
    /// held from reading to renaming: another run that pins loses nothing.
    fn write(&self, provider: &ProviderAddr, keys: &mut Keys) -> Result<(), CommandError> {
        if keys.seen == keys.settled {
            return Ok(());
        }
        let path = &self.path;
        let text = current(path)?;
        if let Some(text) = pin(&text, provider, &keys.settled, &keys.seen)? {
            let written = disk::staged::replace(path, text.as_bytes());
            written.map_err(Problem::from).map_err(Failure::from)?;
            let new = keys.seen.difference(&keys.settled);
            let new: Vec<String> = new.map(Fingerprint::to_string).collect();
            let line = format!(
                "{provider}   {} in {}",
                new.join(", "),
                printable_path(path)
            );
            self.printer.line(Tone::Done, "Pinned", &line);
        }
        keys.settled.clone_from(&keys.seen);
        Ok(())
    }
}

fn current(path: &Path) -> Result<String, CommandError> {
    if path.exists() {
        trust_text(path)
    } else {
        Ok(String::new())
    }
}
