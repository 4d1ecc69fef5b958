//! `--pin-new`: writes the keys of new providers into the trust file. Later runs accept only these keys. A dry run only prints them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde_json::{Value, json};

use tfoci::address::ProviderAddr;
use tfoci::authentication::Anchor;
use tfoci::disk::lock::Lock;
use tfoci::disk::staged::Staged;
use tfoci::disk::{self, directory_of};
use tfoci::error::printable_path;
use tfoci::event::Reporter;
use tfoci::fingerprint::Fingerprint;
use tfoci::jobs::locked;
use tfoci::mirror::Task;
use tfoci::outcome::Published;
use tfoci::trust::pins::{FirstSeen, NewKeys, pin};
use tfoci::trust::rule::Unsigned;
use tfoci::trust::{self, KeyFile};

use crate::cli::error::CommandError;
use crate::cli::json::object;
use crate::cli::printer::Tone;
use crate::cli::session::{Session, TrustPath, decode, read};

/// The trust file that receives new keys; it need not exist yet.
pub(super) fn trust_file(trust: Option<TrustPath>) -> Result<TrustPath, CommandError> {
    let trust = trust.ok_or_else(|| {
        CommandError::usage("there is no trust file into which new keys could be written").advising(
            "name it with `--trust FILE`, or by `trust` in the mirror file: it may be a new one",
        )
    })?;
    // A file that cannot be written fails here, and not after everything was copied.
    let staged = Staged::new(&trust.path);
    staged.map_err(|error| CommandError::file(error, trust.named_by))?;
    Ok(trust)
}

/// The keys of mirrored releases, and the trust file that receives them.
pub(super) struct Pins<'a> {
    path: PathBuf,
    /// What names the file.
    named_by: &'static str,
    session: &'a Session,
    dry_run: bool,
    keys: Mutex<BTreeMap<ProviderAddr, Keys>>,
}

/// The keys of one provider.
#[derive(Default)]
struct Keys {
    /// Whether the provider requires a signature and has no pinned key.
    is_keyless: bool,
    /// Whether a version was present, so that its key was not read.
    has_unread: bool,
    seen: NewKeys,
    /// Those of `seen` that are in the trust file.
    saved: BTreeSet<Fingerprint>,
}

impl Keys {
    /// Whether the trust file has all keys of `seen`.
    fn are_saved(&self) -> bool {
        self.seen.keys().eq(&self.saved)
    }
}

impl<'a> Pins<'a> {
    pub(super) fn new(
        file: TrustPath,
        tasks: &[Task],
        session: &'a Session,
        dry_run: bool,
    ) -> Self {
        let mut keys = BTreeMap::<_, Keys>::new();
        for task in tasks {
            let keys = keys.entry(task.provider.clone()).or_default();
            // A provider that may be unsigned need not have keys.
            keys.is_keyless |= !task.rule.pinned() && task.rule.unsigned == Unsigned::Refuse;
        }
        Self {
            path: file.path,
            named_by: file.named_by,
            session,
            dry_run,
            keys: Mutex::new(keys),
        }
    }

    /// Pins the key of a version immediately: the run may be interrupted, and the next run does not verify this version again.
    pub(super) fn record(&self, published: &Published) {
        let mut all = locked(&self.keys);
        let provider = &published.provider;
        let keys = all.entry(provider.clone()).or_default();
        let Some(authentication) = &published.authentication else {
            keys.has_unread = true;
            return;
        };
        if let (Some(Anchor::Origin | Anchor::Lock), Some(key)) =
            (authentication.anchor, &published.signer)
        {
            let seen = keys.seen.entry(key.fingerprint.clone());
            seen.or_insert_with(|| FirstSeen {
                key: key.clone(),
                version: published.version.clone(),
            });
            if self.dry_run {
                return;
            }
            // If this fails, or another process holds the lock, `finish` tries again and reports the error.
            if let Ok(Some(_lock)) = Lock::of_directory_now(directory_of(&self.path)) {
                let _later = self.write(provider, keys);
            }
        }
    }

    /// Writes the remaining keys; in a dry run, prints all of them. Warns about providers without a key. Fails if a key could not be written.
    pub(super) async fn finish(self, reporter: &dyn Reporter) -> Result<(), CommandError> {
        let mut all = std::mem::take(&mut *locked(&self.keys));
        let written = self.write_all(&mut all, reporter).await;
        let is_unseen = |keys: &Keys| keys.is_keyless && keys.seen.is_empty() && keys.has_unread;
        let unseen = all.iter().filter(|(_, keys)| is_unseen(keys));
        let unseen: Vec<String> = unseen.map(|(provider, _)| provider.to_string()).collect();
        if !unseen.is_empty() {
            let line = format!(
                "{}: no key is pinned, because the store has all requested versions already. `--recheck` reads the origin's keys",
                unseen.join(", ")
            );
            self.session.printer.warning(&line);
        }
        written.map_err(|source| {
            let unsaved = all.iter().filter(|(_, keys)| !keys.are_saved());
            let unsaved = unsaved.map(|(provider, keys)| {
                let keys: Vec<String> = keys.seen.keys().map(Fingerprint::to_string).collect();
                format!("{provider} {}", keys.join(", "))
            });
            CommandError::not_pinned(&self.path, &unsaved.collect::<Vec<_>>(), source)
        })
    }

    /// Writes the remaining keys of all providers. Returns the last error.
    async fn write_all(
        &self,
        all: &mut BTreeMap<ProviderAddr, Keys>,
        reporter: &dyn Reporter,
    ) -> Result<(), CommandError> {
        let is_needed = !self.dry_run && all.values().any(|keys| !keys.are_saved());
        let _lock = match is_needed {
            true => Some(Lock::of_directory(directory_of(&self.path), reporter).await?),
            false => None,
        };
        // One that cannot be written does not stop the others.
        let mut written = Ok(());
        for (provider, keys) in all {
            written = self.write(provider, keys).and(written);
        }
        written
    }

    /// Adds the keys of a provider to the trust file, or in a dry run, prints them. Reads the file again under the lock, so that concurrent runs
    /// do not overwrite each other's keys.
    fn write(&self, provider: &ProviderAddr, keys: &mut Keys) -> Result<(), CommandError> {
        if keys.are_saved() {
            return Ok(());
        }
        let path = &self.path;
        let Session {
            printer, report, ..
        } = self.session;
        // The text was parsed before, so only another one in its place can be malformed now.
        let pinned = pin(
            &current(path, self.named_by)?,
            provider,
            &keys.saved,
            &keys.seen,
        );
        if let Some(text) = pinned.map_err(trust::Error::without_text)? {
            let (tone, verb) = match self.dry_run {
                true => (Tone::Plain, "Would pin"),
                false => {
                    for (key, seen) in &keys.seen {
                        keep(path, &KeyFile::copy_of(key, 0), seen)?;
                    }
                    disk::staged::replace(path, text.as_bytes())?;
                    (Tone::Done, "Pinned")
                }
            };
            let new = keys.seen.iter();
            let new = new.filter(|(key, _)| !keys.saved.contains(key));
            report.pinned(new.clone().map(|(_, seen)| self.pin(provider, seen)));
            for (key, seen) in new {
                let line = format!("{provider}   {key} in {}   {seen}", printable_path(path));
                printer.line(tone, verb, &line);
            }
        }
        keys.saved = keys.seen.keys().cloned().collect();
        Ok(())
    }

    /// The document of a key that is pinned, or would be.
    fn pin(&self, provider: &ProviderAddr, seen: &FirstSeen) -> Value {
        let status = match self.dry_run {
            true => "planned",
            false => "pinned",
        };
        object([json!({
            "provider": provider,
            "fingerprint": seen.key.fingerprint,
            "status": status,
            "file": printable_path(&self.path),
            "user_id": seen.key.user_id,
            "algorithm": seen.key.algorithm,
            "version": seen.version,
        })])
    }
}

/// Writes the certificate of a key beside the trust file, so that the key can be had without its origin. A copy that is there stays: its owner
/// may have revoked it.
fn keep(trust: &Path, copy: &KeyFile, seen: &FirstSeen) -> Result<(), CommandError> {
    let path = trust.with_file_name(&copy.path);
    if disk::exists(&path)? {
        let bytes = read(&path, "--pin-new")?;
        return Ok(copy.check(&bytes)?);
    }
    if let Some(certificate) = &seen.key.certificate {
        disk::create_durable_directory(directory_of(&path))?;
        disk::staged::replace(&path, certificate)?;
    }
    Ok(())
}

fn current(path: &Path, named_by: &str) -> Result<String, CommandError> {
    if !path.exists() {
        return Ok(String::new());
    }
    let bytes = read(path, named_by)?;
    decode(path, &bytes, named_by).map(str::to_owned)
}
