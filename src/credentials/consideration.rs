//! What became of each place where credentials may be.

use std::fmt;
use std::path::PathBuf;

use super::Error;
use crate::error::printable_path;
use crate::shown::Shown;

/// One place that was looked at. It holds no secrets.
#[derive(Clone, Debug)]
pub struct Consideration {
    /// The file.
    pub path: PathBuf,
    /// What is there.
    pub state: State,
    /// Whether [clients look there](crate::clients#credential-files) too: what only tfoci finds, they do not have.
    pub clients: bool,
    /// Whether it gave a credential.
    pub used: bool,
    /// What in it could not be used when it was asked for, such as a helper that failed.
    pub failures: Vec<Error>,
}

/// What is in a place.
#[derive(Clone, Debug)]
pub enum State {
    /// Nothing.
    Absent,
    /// A file.
    Read {
        /// For how many registries, or parts of one, it has credentials or a helper.
        entries: usize,
        /// Whether it names a helper for all registries.
        global: bool,
        /// Keys that match no registry, such as URLs.
        passed_over: Vec<String>,
    },
    /// A file that cannot be used.
    Broken(Error),
    /// A file that was not looked at, because the CLI configuration says so.
    SwitchedOff,
}

impl fmt::Display for Consideration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", printable_path(&self.path), self.state)?;
        if !self.clients {
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

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("absent"),
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
                    write!(f, ", `{}` is no registry", Shown::from(key.as_str()))?;
                }
                Ok(())
            }
        }
    }
}

/// An error and its causes in one line.
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
