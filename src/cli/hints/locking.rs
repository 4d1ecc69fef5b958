//! Hints about lock files.

use std::path::Path;

use tfoci::address::ProviderAddr;
use tfoci::configuration;
use tfoci::error::printable_path;
use tfoci::lock::target;
use tfoci::lockfile::Client;
use tfoci::outcome::{At, Failure, PackageError, Problem};
use tfoci::trust;
use tfoci::version::Version;

use super::{Effect, files, mirroring, versions};
use crate::cli::error::{CommandError, LockDifference};

/// A hint for a provider that was not locked; `None` if it is that of other commands.
pub(super) fn hint(failure: &Failure) -> Option<String> {
    let text = match &*failure.problem {
        // Without an address, it would upgrade every provider.
        Problem::OtherLocked { .. } => {
            let address = &failure.subject.as_ref()?.provider;
            return Some(format!(
                "`tfoci lock {address} --upgrade` with your other options selects the newest version that satisfies the constraints; commit the file"
            ));
        }
        Problem::OtherRelease { .. } => {
            "the version was published again with other packages, this is not the release that was locked, or the lock file was changed by hand: compare it with its last version. Else do not use the release before its author confirms it; then delete its entry from the lock file, and run `tfoci lock` again"
        }
        Problem::UnknownPlatforms => "name them with `--platform OS_ARCH`",
        Problem::Withdrawn { admitted, .. } => return Some(not_there(failure, admitted.as_ref())),
        Problem::Package { source, .. } if matches!(**source, PackageError::Blob(_)) => {
            "nothing of this version was recorded. The source is broken, or a proxy changes packages"
        }
        Problem::NoProvider => {
            let address = failure.subject.as_ref()?.provider.to_string();
            let short = versions::without_host(&address)?;
            return Some(format!(
                "`{short}` means {address}; with `--client terraform`, registry.terraform.io/{short}. `tfoci list --from STORE` lists the providers"
            ));
        }
        Problem::NoEvidence => {
            "the store has nothing that proves the packages. `--trust-store` believes its hashes; \
             `tfoci mirror` stores signatures with the packages"
        }
        Problem::Trust(error) if is_mirror(&failure.at) => {
            let address = &failure.subject.as_ref()?.provider;
            return unsigned_mirror(error, address).or_else(|| unsigned(error, failure));
        }
        Problem::Trust(error) => return unsigned(error, failure),
        _ => return None,
    };
    Some(text.to_owned())
}

/// What to do about a mirror, whose protocol has no signatures.
fn unsigned_mirror(error: &trust::Error, address: &ProviderAddr) -> Option<String> {
    let find = "a mirror of packages has no signatures.";
    match error {
        // No option accepts an unsigned release of a provider with a pinned key.
        trust::Error::NotSigned { .. } => Some(format!(
            "{find} `--from STORE` and `--from origin` find them. To believe the mirror instead, \
             pin no key for {address}: `install` then takes what the lock file has, and `lock --trust-store` what the mirror has"
        )),
        trust::Error::NoDocument | trust::Error::NoSignature => Some(format!(
            "{find} `--from STORE --trust FILE` and `--from origin` find them. Without \
             either, `--trust-store` locks every platform by the hashes that the mirror states, and `--allow-unsigned {address}` downloads and hashes the packages of `--platform`"
        )),
        _ => None,
    }
}

/// What to do about a release that nobody has signed.
fn unsigned(error: &trust::Error, failure: &Failure) -> Option<String> {
    let address = &failure.subject.as_ref()?.provider;
    match error {
        trust::Error::NotSigned { .. } => {
            let (needs, unpin) = mirroring::not_signed(error, address)?;
            Some(Effect::ReadOnly.hint(&(needs + &unpin)))
        }
        trust::Error::NoDocument | trust::Error::NoSignature | trust::Error::NoKey => {
            let key = match error {
                trust::Error::NoKey => Effect::ReadOnly.hint(mirroring::NO_KEY) + ". ",
                _ => String::new(),
            };
            Some(format!(
                "{key}`--allow-unsigned {address}` accepts it, and downloads the packages of `--platform`"
            ))
        }
        _ => None,
    }
}

/// A hint for a configuration or a lock file that cannot be used.
pub(super) fn command(error: &CommandError) -> Option<String> {
    let text = match error {
        CommandError::LockDiffers { difference, .. } => return Some(differs(difference)),
        CommandError::LockTarget(error) => return target(error),
        CommandError::LockFile { path, source } => return files::lock(path, source),
        CommandError::ModuleMissing {
            client, directory, ..
        } => return Some(get(*client, directory)),
        CommandError::DataLink { .. } => "name the directory that it leads to with TF_DATA_DIR",
        CommandError::NotRequired { .. } => {
            "add it to `required_providers`, or name another directory with `--chdir`"
        }
        CommandError::TwoClients { .. } => {
            "run it once for each client, with its directories. Or name a place for both with `--from`: each file is then for the client that wrote it"
        }
        CommandError::NamedTwice(_) => "name it once: `ADDR@'A, B'` joins constraints",
        CommandError::NoMethod { .. } => {
            "`--from origin` asks the provider registry that publishes it"
        }
        CommandError::Configuration(configuration::Error::Uncertain { .. }) => {
            "a strict check does not know every short form: write the source out, such as `git::https://HOST/REPOSITORY.git?ref=TAG`"
        }
        CommandError::Configuration(
            configuration::Error::Redirected { .. }
            | configuration::Error::ModulesJsonContent { .. },
        ) => "the client does not write such a file: remove it, and run `get` again",
        CommandError::Configuration(configuration::Error::Empty { .. }) => {
            "name another directory, with `--chdir`; or a provider, such as `'acme/demo@~> 1.0'`"
        }
        CommandError::NoLockFile { directory } => {
            return Some(format!(
                "`tfoci lock --chdir {}` writes it",
                printable_path(directory)
            ));
        }
        CommandError::ConfigurationToMirror(configuration::Error::Empty { .. }) => {
            "name another directory, with `--from-config DIR`; or a provider, such as `'acme/demo@~> 1.0'`"
        }
        _ => return None,
    };
    Some(text.to_owned())
}

/// What to do about a locked version that is not there. `admitted` is the version that `lock --upgrade` would select.
fn not_there(failure: &Failure, admitted: Option<&Version>) -> String {
    let subject = failure.subject.as_ref();
    let version = subject.and_then(|subject| subject.version.as_ref());
    let version = version.map_or_else(|| "this version".to_owned(), Version::to_string);
    let add = match &failure.at {
        At::From { .. } => Some(format!("copy {version} into this store")),
        at if is_mirror(at) => Some(format!("add {version} to the mirror")),
        _ => None,
    };
    let upgrade = admitted.zip(subject).map(|(admitted, subject)| {
        let address = &subject.provider;
        format!("`tfoci lock {address} --upgrade` with the same options selects {admitted}")
    });
    match (add, upgrade) {
        (Some(add), Some(upgrade)) => format!("{add}; or {upgrade}"),
        (Some(add), None) => format!("{add}; or, if it was withdrawn, change the constraints"),
        (None, Some(upgrade)) => upgrade,
        (None, None) => {
            "no version that is there satisfies the constraints: change the constraints".to_owned()
        }
    }
}

/// Whether the failure is about a network mirror or a filesystem mirror, whose protocols have no signatures.
fn is_mirror(at: &At) -> bool {
    matches!(at, At::Source(place) if place.is_mirror())
}

/// What to do about a lock file that has other providers than the configuration.
fn differs(difference: &LockDifference) -> String {
    match difference {
        LockDifference::Unrequired { client, .. } => format!(
            "`{} init` removes it, and `tfoci lock` does not; or delete its block. Commit the file",
            client.program()
        ),
        LockDifference::NoH1 { .. } => {
            "`tfoci lock --h1` with the same `--from` and `--trust` adds it for this machine, and with `--platform` for others"
                .to_owned()
        }
        LockDifference::Offered { directory, .. } => format!(
            "if nothing requires it, remove it from {}",
            printable_path(directory)
        ),
        LockDifference::NoFile => {
            "`tfoci lock --h1` with the same `--client`, `--from` and `--trust` writes it for this machine, and with `--platform` for others; commit the file"
                .to_owned()
        }
        LockDifference::Missing { client: None, .. } => {
            "`tfoci lock` brings it up to date; commit the file".to_owned()
        }
        LockDifference::Missing {
            client: Some(client),
            ..
        } => {
            let client = client.program();
            format!(
                "the file is not one of {client}: leave out `--client`, or run `tfoci lock --h1 --client {client}`, which adds it; commit the file"
            )
        }
    }
}

/// A hint for a lock file that cannot be updated.
fn target(error: &target::Error) -> Option<String> {
    match error {
        target::Error::Malformed { path, source } => files::lock(path, source).or_else(|| {
            Some(
                "clients refuse it too. Restore it, or remove it to select all versions anew"
                    .to_owned(),
            )
        }),
        target::Error::Changed { .. } => Some("run the same command again".to_owned()),
        target::Error::Disk(_) => None,
    }
}

/// The command that downloads missing modules.
fn get(client: Client, directory: &Path) -> String {
    let (program, directory) = (client.program(), printable_path(directory));
    format!("`{program} -chdir={directory} get` downloads the modules; tfoci downloads none")
}
