//! An entry of a source of credentials for OCI registries.

use super::CredentialKind;
use crate::config::cli::OciCredentialKind;
use crate::config::{HelperName, RepositoryPrefix};

/// An entry: the credentials for some repositories.
#[derive(Debug)]
pub(super) struct Entry {
    /// The registry and path prefix of the repositories; `None` matches all.
    pub(super) prefix: Option<RepositoryPrefix>,
    pub(super) value: Result<EntryValue, &'static str>,
    /// The key, as in the file.
    pub(super) key: String,
    /// The index of its source in the list.
    pub(super) source: usize,
}

/// The content of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EntryValue {
    /// The file itself has the secret.
    Inline(CredentialKind),
    /// The same, written in a way that clients do not read. It counts after all that they read.
    Loose(CredentialKind),
    /// A helper that provides the credential.
    Helper(HelperName),
}

impl From<OciCredentialKind> for EntryValue {
    fn from(kind: OciCredentialKind) -> Self {
        match kind {
            OciCredentialKind::Own(kind) => Self::Inline(kind),
            OciCredentialKind::Helper(helper) => Self::Helper(helper),
        }
    }
}

impl Entry {
    /// Whether clients do not read the entry as it is written.
    pub(super) fn is_loose(&self) -> bool {
        matches!(self.value, Ok(EntryValue::Loose(_)))
    }

    /// The specificity of the match with a repository; `None` if the entry does not match. A longer path is more specific, and an entry
    /// without a domain is the least specific ([clients: credential selection](crate::clients#credential-selection)).
    pub(super) fn specificity(&self, domain: &str, repository: &str) -> Option<usize> {
        match &self.prefix {
            None => Some(0),
            Some(prefix) => prefix
                .covers(domain, repository)
                .then(|| 1 + prefix.depth()),
        }
    }
}
