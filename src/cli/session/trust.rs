//! Trust policies, from trust files and keys that arguments name.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tfoci::examine::TrustOptions;
use tfoci::release::Document;
use tfoci::trust::rule::key_id_digits;
use tfoci::trust::{self, Fingerprint, KeyFile, Policy, TrustFile};

use super::read;
use crate::cli::args::{ReadTrust, Trust};
use crate::cli::error::{CommandError, named_by};

/// The trust options of commands that read from a store.
pub(in crate::cli) fn trust_options(arguments: &ReadTrust) -> Result<TrustOptions, CommandError> {
    Ok(TrustOptions {
        policy: policy(&arguments.trust, arguments.trust.trust.as_deref())?,
        require_pinned: arguments.require_pinned,
        now: SystemTime::now(),
    })
}

/// The policy of an optional trust file and of the keys of `--key`.
pub(in crate::cli) fn policy(
    arguments: &Trust,
    file: Option<&Path>,
) -> Result<Policy, CommandError> {
    let mut policy = Policy::default();
    if let Some(path) = file {
        let file = TrustFile::parse(&trust_text(path, "--trust")?);
        let file = file.map_err(|source| CommandError::trust_file(path, source))?;
        policy = file.resolve(|key| read_key(path, key))?;
    }
    let document = |path: &PathBuf| {
        if let Some(text) = path.to_str().filter(|_| !path.exists())
            && (text.parse::<Fingerprint>().is_ok() || key_id_digits(text).is_some())
        {
            let text = text.to_owned();
            return Err(CommandError::KeyNotFile { text });
        }
        Ok(Document {
            name: path.display().to_string(),
            bytes: read(path, "--key")?,
        })
    };
    let keys = arguments.key.iter().map(document);
    Ok(policy.with_keys(keys.collect::<Result<_, CommandError>>()?))
}

/// Reads a key file that a trust file names.
pub(in crate::cli) fn read_key(trust: &Path, key: &KeyFile) -> Result<Vec<u8>, CommandError> {
    let beside = trust.parent().unwrap_or(Path::new(""));
    read(&beside.join(&key.path), &named_by(trust, key))
}

/// Reads the text of a trust file. `named_by` says what names it.
pub(in crate::cli) fn trust_text(path: &Path, named_by: &str) -> Result<String, CommandError> {
    let text = String::from_utf8(read(path, named_by)?);
    text.map_err(|_| CommandError::trust_file(path, trust::Error::Encoding))
}
