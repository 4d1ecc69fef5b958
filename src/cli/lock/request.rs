//! The request of `tfoci lock`, or of `tfoci install` for a working directory.

use std::path::PathBuf;

use clap::Args;

use tfoci::lock::Options;
use tfoci::lockfile::Client;
use tfoci::platform::Platforms;

use crate::cli::arguments::{ClientName, ReadTrust};
use crate::cli::error::CommandError;
use crate::cli::session::{Session, consequence, requested};

/// Options of `lock`, and of `install` into a working directory.
///
/// Flatten it after all other arguments: clap applies its last help heading to every argument that follows.
#[derive(Args)]
pub(in crate::cli) struct LockOptions {
    /// Select the newest versions that the configuration admits, even if others are locked
    #[arg(long, help_heading = "Selection")]
    pub(in crate::cli) upgrade: bool,
    /// The client whose lock file and packages these are [default: the one that wrote the lock file; without a file, terraform if the default
    /// host is registry.terraform.io; otherwise tofu]
    #[arg(long, value_enum, help_heading = "Lock file")]
    pub(in crate::cli) client: Option<ClientName>,
    #[command(flatten)]
    pub(in crate::cli) trust: ReadTrust,
    /// Accept releases without signature or key; may be repeated
    ///
    /// `*` stands for any namespace or type, as in `example.com/acme/*`.
    #[arg(long, value_name = "PATTERN", hide_short_help = true)]
    pub(in crate::cli) allow_unsigned: Vec<String>,
    /// Believe the hashes that the store or mirror states, where no known signature covers them
    #[arg(long, conflicts_with = "require_pinned", hide_short_help = true)]
    pub(in crate::cli) trust_store: bool,
}

impl LockOptions {
    /// The options of the library. `platforms` are those of `--platform`.
    pub(in crate::cli) fn options(
        &self,
        h1: bool,
        platforms: &[String],
        session: &Session,
    ) -> Result<Options, CommandError> {
        let named = requested::platforms(platforms)?;
        Ok(Options {
            trust: session.trust_options_with(&self.trust, &self.allow_unsigned)?,
            trust_store: self.trust_store,
            h1: match h1 {
                true => named.clone(),
                false => Platforms::Only(Vec::new()),
            },
            platforms: named,
            same: false,
            are_named: !platforms.is_empty(),
            upgrade: self.upgrade,
            jobs: session.jobs(),
        })
    }
}

/// The arguments of `lock`, or of `install` without `--into`: which providers to lock, in which directories, and whether to install them.
pub(in crate::cli) struct LockRequest {
    pub(in crate::cli) providers: Vec<String>,
    pub(in crate::cli) from: Option<String>,
    pub(in crate::cli) directories: Vec<PathBuf>,
    pub(in crate::cli) lock_file: Option<PathBuf>,
    pub(in crate::cli) client: Option<Client>,
    pub(in crate::cli) options: Options,
    pub(in crate::cli) trust: ReadTrust,
    /// Whether the lock file is written.
    pub(in crate::cli) writing: Writing,
    /// Whether nothing is installed either.
    pub(in crate::cli) dry_run: bool,
    pub(in crate::cli) installs: bool,
}

impl LockRequest {
    /// What happens to providers that no rule of the trust file matches.
    pub(super) fn consequence(&self) -> &'static str {
        match self.options.trust_store {
            true => "no key is pinned, and `--trust-store` believes the store or mirror",
            false => consequence(&self.trust),
        }
    }

    /// Whether the lock file is only compared: `lock --check`.
    pub(super) fn is_check(&self) -> bool {
        !self.installs && self.writing == Writing::Locked
    }

    /// Whether hashes that match no package are differences: `lock --check --require-pinned`.
    pub(super) fn is_strict_check(&self) -> bool {
        self.trust.require_pinned && self.is_check()
    }

    /// Whether exactly what is locked is installed: `install --locked`.
    pub(super) fn is_locked_install(&self) -> bool {
        self.installs && self.writing == Writing::Locked
    }
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Writing {
    /// Everything.
    Real,
    /// Everything but the lock file, which must be up to date.
    Locked,
    /// Nothing; the plan is printed.
    DryRun,
}
