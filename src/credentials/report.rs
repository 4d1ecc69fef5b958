//! Which files of credentials there are, and whether they can be read.

use std::path::PathBuf;

use super::Error;
use crate::error::{one_line, printable_path};

/// The state of a credential file. It contains no secrets.
#[derive(Clone, Debug)]
pub struct SourceReport {
    /// The path of the file.
    pub path: PathBuf,
    /// Whether it was read.
    pub state: SourceState,
    /// Who reads the file.
    pub readers: Readers,
    /// Errors of entries that were needed, such as a helper that failed.
    pub failures: Vec<Error>,
}

/// Who reads a credential file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// [Clients](crate::clients#credential-files), and tfoci.
    Clients,
    /// tfoci only, so that its credentials do not work for clients.
    OnlyTfoci,
}

/// Whether a credential file was read.
#[derive(Clone, Debug)]
pub enum SourceState {
    /// The file does not exist, although this variable names it.
    Missing(&'static str),
    /// The file was read.
    Read,
    /// The file cannot be read or parsed.
    Broken(Error),
}

impl SourceReport {
    pub(super) fn new(path: PathBuf, state: SourceState, readers: Readers) -> Self {
        Self {
            path,
            state,
            readers,
            failures: Vec::new(),
        }
    }

    /// The report about a file that cannot be read; `None` for one that does not exist, unless this variable names it.
    pub(super) fn unread(
        path: PathBuf,
        error: Error,
        named_by: Option<&'static str>,
        readers: Readers,
    ) -> Option<Self> {
        let state = match error.is_not_found() {
            true => SourceState::Missing(named_by?),
            false => SourceState::Broken(error),
        };
        Some(Self::new(path, state, readers))
    }

    /// Warnings about what tfoci ignored, and users probably did not mean to be ignored.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        let path = printable_path(&self.path);
        let own = match &self.state {
            SourceState::Read => None,
            SourceState::Missing(name) => {
                Some(format!("{name} names {path}, which does not exist"))
            }
            SourceState::Broken(error) => Some(format!("{}; it was ignored", one_line(error))),
        };
        let failures = self.failures.iter().map(|error| one_line(error));
        own.into_iter()
            .chain(failures.map(move |error| format!("{path}: {error}; it was ignored")))
    }
}
