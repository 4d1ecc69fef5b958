//! Reports about credential files: their content, and whether tfoci used it.

use std::fmt;
use std::path::PathBuf;

use super::Error;
use crate::error::printable_path;
use crate::shown::Shown;

/// The state of a credential file. It contains no secrets.
#[derive(Clone, Debug)]
pub struct SourceReport {
    /// The path of the file.
    pub path: PathBuf,
    /// The content of the file.
    pub state: SourceState,
    /// Who reads the file.
    pub readers: Readers,
    /// Whether one of its credentials was used.
    pub used: bool,
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

/// The content of a credential file.
#[derive(Clone, Debug)]
pub enum SourceState {
    /// The file does not exist.
    Absent,
    /// The file does not exist, although this variable names it.
    Missing(&'static str),
    /// The file was read.
    Read {
        /// The number of registries, prefixes of repositories, or hosts with a credential or helper.
        entries: usize,
        /// Whether the file names a helper for all registries.
        global: bool,
        /// Keys that match no registry, such as URLs with a path.
        passed_over: Vec<String>,
    },
    /// The file cannot be read or parsed.
    Broken(Error),
    /// The CLI configuration disables files of docker and podman.
    SwitchedOff,
}

impl SourceReport {
    pub(super) fn new(path: PathBuf, state: SourceState, readers: Readers) -> Self {
        Self {
            path,
            state,
            readers,
            used: false,
            failures: Vec::new(),
        }
    }
}

impl SourceReport {
    /// Warnings about what tfoci ignored, and users probably did not mean to be ignored.
    pub fn warnings(&self) -> Vec<String> {
        let path = printable_path(&self.path);
        let mut warnings = Vec::new();
        match &self.state {
            SourceState::Missing(variable) => {
                warnings.push(format!("{variable} names {path}, which does not exist"));
            }
            SourceState::Broken(error) => {
                warnings.push(format!("{}; it was ignored", Cause(error)));
            }
            _ => {}
        }
        let failures = self.failures.iter();
        warnings.extend(failures.map(|error| match error {
            Error::Entry { .. } => format!("{}; it was ignored", Cause(error)),
            _ => format!("{}, named by {path}; it was ignored", Cause(error)),
        }));
        warnings
    }
}

/// An error and its causes, in one line.
struct Cause<'a>(&'a Error);

impl fmt::Display for Cause<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        cause(f, self.0)
    }
}

impl fmt::Display for SourceReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", printable_path(&self.path), self.state)?;
        if self.readers == Readers::OnlyTfoci {
            f.write_str(", clients do not look there")?;
        }
        for error in &self.failures {
            f.write_str(", ")?;
            cause(f, error)?;
        }
        if self.used {
            f.write_str(", used")?;
        }
        Ok(())
    }
}

impl fmt::Display for SourceState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent | Self::Missing(_) => f.write_str("absent"),
            Self::SwitchedOff => f.write_str("passed over: discover_ambient_credentials is false"),
            Self::Broken(error) => {
                f.write_str("cannot be used: ")?;
                cause(f, error)
            }
            Self::Read {
                entries,
                global,
                passed_over,
            } => {
                let plural = if *entries == 1 { "entry" } else { "entries" };
                write!(f, "{entries} {plural}")?;
                if *global {
                    f.write_str(" and a helper for the rest")?;
                }
                for key in passed_over {
                    write!(f, ", `{}` is not a registry", Shown::from(key.as_str()))?;
                }
                Ok(())
            }
        }
    }
}

/// Writes an error and its causes on one line.
fn cause(f: &mut fmt::Formatter<'_>, error: &Error) -> fmt::Result {
    let mut next: Option<&dyn std::error::Error> = Some(error);
    let mut between = "";
    while let Some(error) = next {
        for line in error.to_string().lines() {
            write!(f, "{between}{}", line.trim())?;
            between = ", ";
        }
        next = error.source();
    }
    Ok(())
}
