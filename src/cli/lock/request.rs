//! What is locked and installed, from the arguments of either command.

use std::path::PathBuf;

use tfoci::lock::Options;
use tfoci::lockfile::Client;

use crate::cli::args::ReadTrust;

/// What is locked, and installed if there is a directory for packages: the arguments of `lock`, or of `install` without `--into`.
pub(in crate::cli) struct Request {
    pub(in crate::cli) providers: Vec<String>,
    pub(in crate::cli) from: Option<String>,
    pub(in crate::cli) directories: Vec<PathBuf>,
    pub(in crate::cli) lock_file: Option<PathBuf>,
    pub(in crate::cli) client: Option<Client>,
    pub(in crate::cli) options: Options,
    pub(in crate::cli) trust: ReadTrust,
    /// Whether the lock file is written.
    pub(in crate::cli) writing: Writing,
    /// Whether packages are installed.
    pub(in crate::cli) installs: bool,
}

/// Whether something is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Writing {
    /// Everything.
    Real,
    /// Everything but the lock file, which must be up to date.
    Locked,
    /// Nothing; the plan is printed.
    DryRun,
}
