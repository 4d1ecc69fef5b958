//! Trust policies, from trust files and keys that arguments name.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tfoci::error::printable_path;
use tfoci::examine::TrustOptions;
use tfoci::release::Document;
use tfoci::trust::{self, Policy, TrustFile};

use super::read;
use crate::cli::args::{ReadTrust, Trust};
use crate::cli::error::CommandError;

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
        let file = TrustFile::parse(&trust_text(path)?);
        let file = file.map_err(|source| CommandError::trust_file(path, source))?;
        let beside = path.parent().unwrap_or(Path::new(""));
        policy = file.resolve(|key| {
            let named_by = format!("`keys` in {}", printable_path(path));
            read(&beside.join(key), &named_by)
        })?;
    }
    let document = |path: &PathBuf| {
        Ok(Document {
            name: path.display().to_string(),
            bytes: read(path, "--key")?,
        })
    };
    let keys = arguments.key.iter().map(document);
    Ok(policy.with_keys(keys.collect::<Result<_, CommandError>>()?))
}

/// Reads the text of a trust file.
pub(in crate::cli) fn trust_text(path: &Path) -> Result<String, CommandError> {
    let text = String::from_utf8(read(path, "--trust")?);
    text.map_err(|_| CommandError::trust_file(path, trust::Error::Encoding))
}
