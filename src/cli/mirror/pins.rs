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
use tfoci::outcome::{Failure, Published};
use tfoci::trust::pins::{FirstSeen, NewKeys, pin};
use tfoci::trust::rule::Unsigned;
use tfoci::trust::{self, KeyFile};

use crate::cli::error::CommandError;
use crate::cli::json::object;
use crate::cli::printer::Tone;
use crate::cli::session::{NamedBy, Session, TrustPath, decode, read};

/// The trust file that receives new keys; it need not exist yet.
pub(super) fn trust_file(trust: Option<TrustPath>) -> Result<TrustPath, CommandError> {
    let trust = trust.ok_or_else(|| {
        CommandError::usage("there is no trust file into which new keys could be written").advising(
            "name it with `--trust FILE`, or by `trust` in the mirror file: it may be a new one",
        )
    })?;
    // A file that cannot be written fails here, and not after everything was copied.
    let staged = Staged::new(&trust.path);
    staged.map_err(|error| CommandError::file(error, trust.named_by.text()))?;
    Ok(trust)
}

/// The keys of mirrored releases, and the trust file that receives them.
pub(super) struct Pins<'a> {
    path: PathBuf,
    /// What names the file.
    named_by: NamedBy,
    session: &'a Session,
    dry_run: bool,
    keys: Mutex<BTreeMap<ProviderAddr, Keys>>,
}

/// The keys of one provider.
#[derive(Default)]
struct Keys {
    /// Whether the provider requires a signature and has no pinned key.
    is_keyless: bool,
    has_failed: bool,
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
    pub(super) fn record(&self, result: &Result<Published, Failure>) {
        let mut all = locked(&self.keys);
        let published = match result {
            Ok(published) => published,
            Err(Failure { subject, .. }) => {
                let keys = subject.as_ref().and_then(|one| all.get_mut(&one.provider));
                keys.into_iter().for_each(|keys| keys.has_failed = true);
                return;
            }
        };
        let provider = &published.provider;
        let keys = all.entry(provider.clone()).or_default();
        let Some(authentication) = &published.authentication else {
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
                let _later = self.write(provider, keys, &mut None);
            }
        }
    }

    /// Writes the remaining keys; in a dry run, prints all of them. Warns about providers without a key. Fails if a key could not be written.
    pub(super) async fn finish(self, reporter: &dyn Reporter) -> Result<(), CommandError> {
        let mut all = std::mem::take(&mut *locked(&self.keys));
        let mut unwritten = Vec::new();
        let has_seen = all.values().any(|keys| !keys.seen.is_empty());
        let directory = directory_of(&self.path);
        // If the directory was removed, the error of writing the file says more than the error of locking.
        let lock = match has_seen && !self.dry_run && directory.exists() {
            true => Lock::of_directory(directory, reporter).await.map(Some),
            false => Ok(None),
        };
        let (_lock, mut why) = match lock {
            Ok(lock) => (lock, None),
            Err(error) => (None, Some(error.into())),
        };
        let (is_locked, mut draft) = (why.is_none(), None);
        for (provider, keys) in &mut all {
            if is_locked {
                let written = self.write(provider, keys, &mut draft);
                why = written.err().or(why);
            }
            if !keys.are_saved() {
                let keys: Vec<String> = keys.seen.keys().map(Fingerprint::to_string).collect();
                unwritten.push(format!("{provider} {}", keys.join(", ")));
            }
        }
        let is_unseen = |keys: &Keys| keys.is_keyless && keys.seen.is_empty() && !keys.has_failed;
        let unseen = all.iter().filter(|(_, keys)| is_unseen(keys));
        let unseen: Vec<String> = unseen.map(|(provider, _)| provider.to_string()).collect();
        if !unseen.is_empty() {
            let line = format!(
                "{}: no key is pinned, because the store has all requested versions already. `--recheck` reads the origin's keys",
                unseen.join(", ")
            );
            self.session.printer.warning(&line);
        }
        why.map_or(Ok(()), |source| {
            Err(CommandError::not_pinned(&self.path, &unwritten, source))
        })
    }

    /// Adds the keys of a provider to the trust file. Reads the file again under the lock, so that concurrent runs do not overwrite
    /// each other's keys. In a dry run, `draft` receives the text instead of the file.
    fn write(
        &self,
        provider: &ProviderAddr,
        keys: &mut Keys,
        draft: &mut Option<String>,
    ) -> Result<(), CommandError> {
        if keys.are_saved() {
            return Ok(());
        }
        let path = &self.path;
        let Session {
            printer, report, ..
        } = self.session;
        let text = match draft {
            Some(text) => text.clone(),
            None => current(path, self.named_by)?,
        };
        // The text was parsed before, so only another one in its place can be malformed now.
        let pinned = pin(&text, provider, &keys.saved, &keys.seen);
        let pinned = pinned.map_err(trust::Error::without_text)?;
        if let Some(text) = pinned {
            let (tone, verb) = match self.dry_run {
                true => {
                    *draft = Some(text);
                    (Tone::Plain, "Would pin")
                }
                false => {
                    for (key, seen) in &keys.seen {
                        keep(path, &KeyFile::copy_of(key, 0), seen)?;
                    }
                    let written = disk::staged::replace(path, text.as_bytes());
                    written?;
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
}

impl Pins<'_> {
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

fn current(path: &Path, named_by: NamedBy) -> Result<String, CommandError> {
    if !path.exists() {
        return Ok(String::new());
    }
    let bytes = read(path, named_by.text())?;
    decode(path, &bytes, named_by.text()).map(str::to_owned)
}
