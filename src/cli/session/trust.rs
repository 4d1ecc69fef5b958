//! Trust policies, from trust files and keys that arguments name.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tfoci::authentication::Anchor;
use tfoci::config::MirrorFile;
use tfoci::disk;
use tfoci::error::printable_path;
use tfoci::examine::TrustOptions;
use tfoci::release::KeyRing;
use tfoci::trust::{self, KeyFile, Policy, TrustFile};

use super::settings::is_of_variable;
use super::{Session, decode, read};
use crate::cli::arguments::{ReadTrust, Trust};
use crate::cli::error::CommandError;
use crate::cli::error::named_by;

/// A trust file, and what names it.
#[derive(Clone)]
pub(in crate::cli) struct TrustPath {
    pub(in crate::cli) path: PathBuf,
    /// The option or field, for messages.
    pub(in crate::cli) named_by: &'static str,
}

/// What names a trust file in a mirror file. Its author may be another person than the user, so that no text of the named file is shown.
const MIRROR_FILE: &str = "`trust` in the mirror file";

impl Session {
    /// The trust file: the first that the command line, a variable, the mirror file or the user's settings name.
    pub(in crate::cli) fn trust_path(
        &self,
        arguments: &Trust,
        file: Option<&MirrorFile>,
    ) -> Option<TrustPath> {
        let by_file = file.and_then(|file| file.trust.clone());
        let set = self.settings.get("trust");
        let set = set.filter(|set| by_file.is_none() || is_of_variable(set));
        let (path, named_by) = match (&arguments.trust, set) {
            (Some(path), _) => (path.clone(), "--trust"),
            (None, Some(set)) => (PathBuf::from(&set.value), "`trust` in the settings"),
            (None, None) => (by_file?, MIRROR_FILE),
        };
        Some(TrustPath { path, named_by })
    }

    /// The trust options of commands that read from a store, with a trust file that a mirror file may have named.
    pub(in crate::cli) fn trust_options_of(
        &self,
        arguments: &ReadTrust,
        file: Option<&TrustPath>,
    ) -> Result<TrustOptions, CommandError> {
        Ok(TrustOptions {
            policy: self.policy(&arguments.trust, file)?,
            require_pinned: arguments.require_pinned,
            attestation: None,
            now: SystemTime::now(),
        })
    }

    /// The trust options of commands with `--allow-unsigned`: a release without signature is accepted where a pattern says so.
    pub(in crate::cli) fn trust_options(
        &self,
        arguments: &ReadTrust,
        allow_unsigned: &[String],
    ) -> Result<TrustOptions, CommandError> {
        let unsigned = self.patterns(allow_unsigned)?;
        let file = self.trust_path(&arguments.trust, None);
        let options = self.trust_options_of(arguments, file.as_ref())?;
        Ok(TrustOptions {
            policy: options.policy.with_allow_unsigned(unsigned),
            ..options
        })
    }

    /// The policy of an optional trust file and of the keys of `--key`. Warns of entries that have no effect, or probably not the intended one.
    pub(in crate::cli) fn policy(
        &self,
        arguments: &Trust,
        file: Option<&TrustPath>,
    ) -> Result<Policy, CommandError> {
        let policy = policy(arguments, file, &mut read)?;
        let name = file
            .map(|file| printable_path(&file.path))
            .unwrap_or_default();
        for doubt in trust::doubts(&policy.entries) {
            let text = format!("{name}, line {}: {}", doubt.line, doubt.message);
            self.printer.warn_once(text);
        }
        Ok(policy)
    }
}

/// Reads a file. The text says what names it.
type ReadFile<'a> = &'a mut dyn FnMut(&Path, &str) -> Result<Vec<u8>, CommandError>;

/// The policy of an optional trust file and of the keys of `--key`. `read` reads each file, and is told what names it.
pub(in crate::cli) fn policy(
    arguments: &Trust,
    file: Option<&TrustPath>,
    read: ReadFile<'_>,
) -> Result<Policy, CommandError> {
    let mut policy = Policy::default();
    if let Some(TrustPath { path, named_by }) = file {
        let bytes = read(path, named_by)?;
        let file = TrustFile::parse(decode(path, &bytes, named_by)?);
        let file = file.map_err(|source| {
            let shown = match *named_by {
                MIRROR_FILE => source.without_text(),
                _ => source,
            };
            CommandError::not_a("a trust file", path, shown)
        })?;
        policy = file.resolve(|key| read_key(path, key, &mut *read))?;
    }
    let document = |path: &PathBuf| {
        let name = path.display().to_string();
        let bytes = read(path, "--key")?;
        trust::check_key_file(&name, &bytes)
            .map_err(|error| CommandError::key_file(error, "--key"))?;
        let anchor = Anchor::Pinned;
        Ok(KeyRing {
            name,
            bytes,
            anchor,
        })
    };
    let keys = arguments.key.iter().map(document);
    Ok(policy.with_keys(keys.collect::<Result<_, CommandError>>()?))
}

/// Reads a key file that a trust file names; `None` for the copy of a key that does not exist.
pub(in crate::cli) fn read_key(
    trust: &Path,
    key: &KeyFile,
    mut read: impl FnMut(&Path, &str) -> Result<Vec<u8>, CommandError>,
) -> Result<Option<Vec<u8>>, CommandError> {
    let path = trust.with_file_name(&key.path);
    if key.copy_of.is_some() && !disk::exists(&path)? {
        return Ok(None);
    }
    let bytes = read(&path, &named_by(trust, key))?;
    key.check(&bytes)
        .map_err(|error| CommandError::key_file(error, &named_by(trust, key)))?;
    Ok(Some(bytes))
}

/// Reads the public key of a mirror that an option names.
pub(in crate::cli) fn read_mirror_key(path: &Path) -> Result<Vec<u8>, CommandError> {
    let named_by = "--attestation-key";
    let bytes = read(path, named_by)?;
    trust::check_mirror_key(&path.display().to_string(), &bytes)
        .map_err(|error| CommandError::key_file(error, named_by))?;
    Ok(bytes)
}
