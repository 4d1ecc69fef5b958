//! `tfoci lock`: writes lock files for every platform.
//!
//! [`update`] runs the steps, for `tfoci install` too: [`roots`] reads the providers that configurations require, [`methods`] decides where
//! each provider is looked up, and [`report`] adds the versions to the [report of all commands](super::report) and prints what became of the files.
//! [`tfoci::lock`] selects and verifies versions and writes the files.

mod methods;
mod report;
mod roots;
mod update;

use std::path::PathBuf;

use clap::Args;

use tfoci::lock::Options;
use tfoci::lockfile::Client;
use tfoci::platform::Platforms;

use super::Ending;
use super::arguments::{ReadTrust, SELECTION};
use super::error::CommandError;
use super::session::{Session, requested};
pub(super) use update::update;

const EXAMPLES: &str = "\
Examples:
  tfoci lock
  tfoci lock --check --trust trust.toml
  tfoci lock --recursive . --upgrade --h1 --platform same
  tfoci lock --h1 --platform linux_amd64 --platform darwin_arm64";

/// Lock providers for every platform, mostly without downloading them
///
/// tfoci reads what the configuration in this directory requires, selects versions as `init` does, verifies their signatures, and records the
/// hashes of every package in `.terraform.lock.hcl`, as `providers lock` does for all platforms. Without `--from`, it looks where the CLI
/// configuration of the client says.
///
/// A release that is signed by a pinned key, or by a key that its origin serves, is locked for every platform. Of others, tfoci downloads the
/// packages of `--platform`, and records those; `--trust-store` believes what the store or mirror says.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Only these providers, with version constraints [default: all]
    ///
    /// In a directory without configuration, the lock file records these constraints.
    #[arg(value_name = "ADDR[@CONSTRAINTS]")]
    providers: Vec<String>,
    /// A store, `origin`, network-mirror:URL or filesystem-mirror:DIR
    #[arg(long, value_name = "STORE", help_heading = "Source")]
    from: Option<String>,
    /// The directory of the configuration; may be repeated [default: .]
    ///
    /// Directories of both clients need a run for each client, with its directories. Or name a place for both with `--from`, and no `--client`:
    /// each lock file is then for the client that wrote it, and a new one for the client that `--client` names as its default.
    #[arg(long, value_name = "DIR", help_heading = SELECTION)]
    chdir: Vec<PathBuf>,
    /// Lock this directory and each one below it, if it has a lock file
    ///
    /// Hidden directories are left out, and no link is followed.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["chdir", "lock_file"], help_heading = SELECTION)]
    recursive: Option<PathBuf>,
    /// Platform to download for: OS_ARCH, `all`, or `same` [default: this machine's]
    ///
    /// May be repeated.
    ///
    /// Only packages whose hashes no known signature covers are downloaded, or with `--h1`.
    ///
    /// `same`, without another platform, means those that the lock file has for the provider; `--h1` then records the `h1` of each that has one.
    /// If the `zh` do not tell the platforms, tfoci downloads packages of the locked version to compare them. A provider without an entry is
    /// locked for this machine's platform.
    #[arg(long, value_name = "OS_ARCH", help_heading = SELECTION)]
    platform: Vec<String>,
    /// Also record the `h1` of the packages, which `install --locked` needs
    ///
    /// Clients check what is installed by `h1` only. A plain `init` adds the `h1` of its platform to the lock file. With
    /// `-lockfile=readonly`, it warns that it did not update the file, and `plan` refuses the installed packages. So record `h1` if CI runs
    /// `install --locked` or `init -lockfile=readonly`, or if it has a plugin cache, which clients use only for packages with a locked `h1`.
    #[arg(long, help_heading = "Lock file")]
    h1: bool,
    /// The lock file, if it is not DIR/.terraform.lock.hcl
    #[arg(long, value_name = "FILE", help_heading = "Lock file")]
    lock_file: Option<PathBuf>,
    /// Write nothing; print what would change, and exit with 4 if something would
    ///
    /// tfoci warns of an entry that the configuration does not require, because `init` removes it. The exit code stays 0. With
    /// `--require-pinned`, tfoci verifies such an entry like the others.
    ///
    /// tfoci also warns of a `zh` that belongs to no package of the release, because clients accept a package that matches it. With
    /// `--h1 --platform all`, it warns of such an `h1` too.
    ///
    /// With `--require-pinned`, such a hash is a difference. An `h1` is a difference, too, if the store does not have the package to compare it with.
    ///
    /// A provider without an entry is a difference, and tfoci asks no host about it. That holds for what the configuration and its test
    /// files require, and for packages in `terraform.d/plugins`.
    ///
    /// A gate for changes by others has two lines, and neither is enough alone:
    ///
    ///   tfoci lock --check --client terraform --h1 --platform all --trust trust.toml --require-pinned
    ///
    ///   terraform init -lockfile=readonly
    ///
    /// For OpenTofu, both name `tofu`. The first line verifies the packages before the second one installs them. The second line refuses
    /// what a state requires without an entry: tfoci reads no state, and warns if there is one. Name the client, since otherwise the lock file
    /// says which client it is for. Take `trust.toml` and the key files from the protected branch, not from the change.
    ///
    /// A downloaded module counts only if `modules.json` has the source and version of the call. If the client computes them,
    /// tfoci takes the module that is there.
    #[arg(long, conflicts_with = "dry_run", help_heading = "Lock file")]
    check: bool,
    /// Write nothing, and print what would change
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    lock: LockOptions,
}

pub(super) async fn run(arguments: Arguments, session: &Session) -> Result<Ending, CommandError> {
    let lock = arguments.lock;
    let same = arguments.platform == ["same"];
    let named: &[String] = match same {
        true => &[],
        false => &arguments.platform,
    };
    let options = Options {
        same,
        ..lock.options(arguments.h1, named, session)?
    };
    let request = LockRequest {
        providers: arguments.providers,
        from: arguments.from,
        directories: match &arguments.recursive {
            Some(above) => requested::locked_below(above, "--recursive")?,
            None => arguments.chdir,
        },
        lock_file: arguments.lock_file,
        options,
        lock,
        locked: arguments.check,
        dry_run: arguments.dry_run,
        installs: false,
    };
    update(request, session).await
}

/// Options of `lock`, and of `install` into a working directory.
///
/// Flatten it after all other arguments: clap applies its last help heading to every argument that follows.
#[derive(Args)]
pub(super) struct LockOptions {
    /// Select the newest versions that the configuration admits
    #[arg(long, help_heading = SELECTION)]
    pub(super) upgrade: bool,
    /// The client of these files [default: the one that wrote the lock file]
    ///
    /// Without a lock file, it is terraform if the default host is registry.terraform.io, and tofu otherwise.
    #[arg(long, value_enum, help_heading = "Lock file")]
    pub(super) client: Option<Client>,
    #[command(flatten)]
    pub(super) trust: ReadTrust,
    /// Accept releases without signature or key; may be repeated
    ///
    /// `*` stands for any namespace or type, as in `example.com/acme/*`.
    #[arg(long, value_name = "PATTERN", hide_short_help = true)]
    pub(super) allow_unsigned: Vec<String>,
    /// Believe the hashes of the store where no signature covers them
    #[arg(long, conflicts_with = "require_pinned", hide_short_help = true)]
    pub(super) trust_store: bool,
}

impl LockOptions {
    /// The options of the library. `platforms` are what `--platform` says.
    pub(super) fn options(
        &self,
        h1: bool,
        platforms: &[String],
        session: &Session,
    ) -> Result<Options, CommandError> {
        let named = requested::platforms(platforms)?;
        Ok(Options {
            trust: session.trust_options(&self.trust, &self.allow_unsigned)?,
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
pub(super) struct LockRequest {
    pub(super) providers: Vec<String>,
    pub(super) from: Option<String>,
    pub(super) directories: Vec<PathBuf>,
    pub(super) lock_file: Option<PathBuf>,
    pub(super) options: Options,
    pub(super) lock: LockOptions,
    /// Whether the lock file has to be up to date, and is not written.
    pub(super) locked: bool,
    /// Whether nothing is written.
    pub(super) dry_run: bool,
    pub(super) installs: bool,
}

impl LockRequest {
    /// Whether lock files are written.
    fn writes(&self) -> bool {
        !self.locked && !self.dry_run
    }

    /// Whether the lock file is only compared: `lock --check`.
    fn is_check(&self) -> bool {
        !self.installs && self.locked
    }

    /// Whether hashes that match no package are differences: `lock --check --require-pinned`.
    fn is_strict_check(&self) -> bool {
        self.lock.trust.require_pinned && self.is_check()
    }

    /// Whether exactly what is locked is installed: `install --locked`.
    fn is_locked_install(&self) -> bool {
        self.installs && self.locked
    }
}
