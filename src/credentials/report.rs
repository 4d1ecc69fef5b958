//! Which files of credentials there are, and whether they can be read.

use std::path::PathBuf;

use super::Error;
use crate::error::one_line;

/// The state of a credential file. It contains no secrets.
#[derive(Clone, Debug)]
pub struct SourceReport {
    /// The path of the file.
    pub path: PathBuf,
    /// Why it was not read; `None` if it was.
    pub error: Option<Error>,
    /// Who reads the file.
    pub readers: Readers,
}

/// Who reads a credential file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// [Clients](crate::clients#credential-files), and tfoci.
    Clients,
    /// tfoci only, so that its credentials do not work for clients.
    OnlyTfoci,
}

impl SourceReport {
    /// The report about a file that cannot be read; `None` for one that does not exist.
    pub(super) fn unread(path: PathBuf, error: Error, readers: Readers) -> Option<Self> {
        (!error.is_not_found()).then_some(Self {
            path,
            error: Some(error),
            readers,
        })
    }

    /// The warning about a file that is ignored.
    pub(super) fn warning(&self) -> Option<String> {
        let error = self.error.as_ref()?;
        Some(format!("{}; it was ignored", one_line(error)))
    }
}
