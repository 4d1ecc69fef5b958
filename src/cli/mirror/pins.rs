//! `--pin-new`: from now on these keys and no others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tfoci::address::ProviderAddr;
use tfoci::authentication::Anchor;
use tfoci::disk;
use tfoci::outcome::{Failure, Problem, Published};
use tfoci::trust::pins::pin;
use tfoci::trust::rule::Fingerprint;

use super::{Arguments, plan};
use crate::cli::diagnose::Complaint;
use crate::cli::options::read;
use crate::cli::printer::{Printer, Tone};

/// The trust file into which keys are to be written, created if it does not exist. A dry run writes none.
pub(super) fn trust_file(arguments: &Arguments) -> Result<Option<PathBuf>, Complaint> {
    if !arguments.pin_new {
        return Ok(None);
    }
    let path = match arguments.trust.file() {
        Some(path) => Some(path.to_owned()),
        None => plan::file(arguments)?.and_then(|file| file.trust),
    };
    path.ok_or(Complaint::NoTrustFile)
        .map(|path| Some(path).filter(|_| !arguments.dry_run))
}

/// The keys that origins served for what was mirrored.
#[derive(Default)]
pub(super) struct Seen(Mutex<BTreeMap<ProviderAddr, BTreeSet<Fingerprint>>>);

impl Seen {
    /// Takes note of the key of one version.
    pub(super) fn note(&self, result: &Result<Published, Failure>) {
        let Ok(published) = result else { return };
        let Some(authentication) = &published.authentication else {
            return;
        };
        let key = authentication.fingerprint.as_deref().map(str::parse);
        if let (Some(Anchor::Origin), Some(Ok(key))) = (authentication.anchor, key) {
            let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let keys = seen.entry(published.provider.clone()).or_default();
            keys.insert(key);
        }
    }

    /// Writes the keys into the trust file.
    pub(super) fn pin(self, path: &Path, printer: &Printer) -> Result<(), Complaint> {
        let seen = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut text = current(path)?;
        for (provider, keys) in seen {
            let pinned = pin(&text, &provider, &keys).map_err(|source| Complaint::TrustFile {
                path: path.to_owned(),
                source: Box::new(source),
            })?;
            let Some(pinned) = pinned else { continue };
            text = pinned;
            let written = disk::staged::replace(path, text.as_bytes());
            written.map_err(Problem::from).map_err(Failure::from)?;
            let keys: Vec<String> = keys.iter().map(|key| key.to_string()).collect();
            let line = format!("{provider}   {} in {}", keys.join(", "), path.display());
            printer.line(Tone::Done, "Pinned", &line);
        }
        Ok(())
    }
}

/// The trust file as it is now, which may be other than when this run began.
fn current(path: &Path) -> Result<String, Complaint> {
    if path.exists() {
        Ok(String::from_utf8_lossy(&read(path)?).into_owned())
    } else {
        Ok(String::new())
    }
}
