//! What can be wrong with credentials.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::netrc;
use crate::config;
use crate::disk;
use crate::error::{Category, printable, printable_path};
use crate::shown::Shown;

/// Credentials that cannot be used or kept. Nothing of them is shown, and nothing that a helper wrote.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read or written.
    #[error(transparent)]
    Disk(Arc<disk::Error>),
    /// A file is not the JSON that it should be. The parser would quote what it found.
    #[error("{} is not a file of credentials\n  expected a JSON object, as docker and podman write it\n  at line {line}, column {column}", printable_path(.path))]
    Document {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
    },
    /// A CLI configuration that cannot be used.
    #[error("{} is not a CLI configuration", printable_path(.path))]
    Config {
        /// The file.
        path: PathBuf,
        /// Why.
        source: Arc<config::Error>,
    },
    /// An entry for the registry that cannot be used.
    #[error("the entry `{}` of {} cannot be used: {mistake}", printable(.key), printable_path(.path))]
    Entry {
        /// Its key.
        key: String,
        /// The file.
        path: PathBuf,
        /// Why.
        mistake: Mistake,
    },
    /// A helper that is not installed, or cannot be started.
    #[error("{helper} cannot be started")]
    Start {
        /// The program.
        helper: String,
        /// What the system says.
        source: Arc<io::Error>,
    },
    /// A helper that failed.
    #[error("{helper} failed to {action}{}", .status.map(|status| format!(": exit {status}")).unwrap_or_default())]
    Failed {
        /// The program.
        helper: String,
        /// What it was asked to do.
        action: Action,
        /// Its exit code, unless a signal ended it.
        status: Option<i32>,
    },
    /// A helper that does not come to an end.
    #[error("{helper} did not {action} within {seconds} seconds")]
    Slow {
        /// The program.
        helper: String,
        /// What it was asked to do.
        action: Action,
        /// How long it was waited for.
        seconds: u64,
    },
    /// A helper that answers something else.
    #[error(
        "{helper} answered something that is no credentials\n  expected JSON with {}, at most {limit} bytes", .action.answer()
    )]
    Answer {
        /// The program.
        helper: String,
        /// What it was asked to do.
        action: Action,
        /// The limit in bytes.
        limit: u64,
    },
    /// A token that no header can hold.
    #[error("the token from {} holds characters that cannot be sent", printable(.origin))]
    Token {
        /// Where it was found.
        origin: String,
    },
    /// A `.netrc` that cannot be understood.
    #[error("{} is not a .netrc", printable_path(.path))]
    Netrc {
        /// The file.
        path: PathBuf,
        /// Why.
        source: netrc::Error,
    },
    /// There is no place for credentials.
    #[error("there is no home directory to keep credentials in")]
    NoHome,
    /// Credentials are kept for registries.
    #[error("`{}` is not a registry\n  expected HOST or HOST:PORT", without_user(.text))]
    Registry {
        /// What was given.
        text: String,
    },
}

/// What was given, without a name and password.
fn without_user(text: &str) -> String {
    match text.contains('@') {
        true => Shown::from(text).to_string(),
        false => printable(text),
    }
}

/// What is wrong with an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// Not an object, or its members are not text.
    Shape,
    /// `auth` is not base64 of text.
    Base64,
    /// `auth` has no colon between name and password.
    NoColon,
    /// The name of a helper that is none.
    HelperName,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Shape => "it is not an object whose members are text",
            Self::Base64 => "its `auth` is not base64 of text",
            Self::NoColon => "its `auth` has no colon between name and password",
            Self::HelperName => "it does not name a credential helper",
        })
    }
}

/// What a helper is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// To tell credentials.
    Get,
    /// To tell a token, which another kind of helper does.
    GetToken,
    /// To keep credentials.
    Store,
    /// To forget credentials.
    Erase,
}

impl Action {
    /// The argument of the program.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get | Self::GetToken => "get",
            Self::Store => "store",
            Self::Erase => "erase",
        }
    }

    /// What has to be in the answer.
    fn answer(self) -> &'static str {
        match self {
            Self::GetToken => "token",
            Self::Get | Self::Store | Self::Erase => "Username and Secret",
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<disk::Error> for Error {
    fn from(error: disk::Error) -> Self {
        Self::Disk(Arc::new(error))
    }
}

impl Error {
    /// What kind of problem it is.
    pub fn category(&self) -> Category {
        match self {
            Self::Disk(error) => error.category(),
            Self::Document { .. }
            | Self::Config { .. }
            | Self::Entry { .. }
            | Self::Answer { .. }
            | Self::Token { .. }
            | Self::Netrc { .. } => Category::Malformed,
            Self::Start { .. } | Self::Failed { .. } | Self::Slow { .. } | Self::NoHome => {
                Category::Local
            }
            Self::Registry { .. } => Category::Usage,
        }
    }
}
