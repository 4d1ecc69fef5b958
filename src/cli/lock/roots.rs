//! The directories to lock, and the providers that each requires.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tfoci::address::{Hostname, ProviderAddr};
use tfoci::configuration::{self, ReadAs, Requirements};
use tfoci::constraint::VersionConstraints;
use tfoci::error::printable;
use tfoci::lock::target::{LockTarget, Update};
use tfoci::lockfile::{Client, FILE_NAME};
use tfoci::selection::Selection;

use super::request::Request;
use crate::cli::error::CommandError;
use crate::cli::session::Session;

/// A directory to lock.
pub(super) struct Root {
    /// The directory of the root module.
    pub(super) directory: PathBuf,
    pub(super) target: LockTarget,
    pub(super) required: BTreeMap<ProviderAddr, Required>,
}

/// What a directory requires of a provider.
pub(super) struct Required {
    /// The acceptable versions.
    pub(super) admitted: VersionConstraints,
    /// The constraints that the lock file records: those of the configuration.
    pub(super) recorded: VersionConstraints,
}

/// Reads all directories and their lock files.
pub(super) fn read(request: &Request, session: &Session) -> Result<Vec<Root>, CommandError> {
    let here = [PathBuf::from(".")];
    let directories = match request.directories.as_slice() {
        [] => here.as_slice(),
        directories => directories,
    };
    if directories.len() > 1 && request.lock_file.is_some() {
        return Err(CommandError::OneLockFile);
    }
    // With addresses, the other providers of the configuration stay locked.
    let how = match request.installs && request.providers.is_empty() {
        true => Update::Init,
        false => Update::Lock,
    };
    let roots = directories.iter().map(|directory| {
        let beside = || match directory.as_os_str() == "." {
            true => PathBuf::from(FILE_NAME),
            false => directory.join(FILE_NAME),
        };
        let path = request.lock_file.clone().unwrap_or_else(beside);
        let target = LockTarget::read(&path, request.client, how)?;
        let required = required(directory, target.client(), request, session)?;
        let directory = directory.clone();
        Ok(Root {
            directory,
            target,
            required,
        })
    });
    roots.collect()
}

fn required(
    directory: &Path,
    client: Client,
    request: &Request,
    session: &Session,
) -> Result<BTreeMap<ProviderAddr, Required>, CommandError> {
    let default_host = match client {
        Client::OpenTofu => session.default_host().clone(),
        Client::Terraform => Hostname::predecessor_origin(),
    };
    let read_as = ReadAs {
        client: Some(client),
        default_host: default_host.clone(),
        data: session.data_directory(),
    };
    let requirements = match Requirements::read(directory, &read_as) {
        Ok(requirements) => Some(requirements),
        // Addresses need no configuration.
        Err(configuration::Error::Empty { .. }) if !request.providers.is_empty() => None,
        Err(error) => return Err(error.into()),
    };
    if let Some(source) = requirements
        .as_ref()
        .and_then(|requirements| requirements.not_followed.first())
    {
        return Err(CommandError::ModuleMissing {
            directory: directory.to_owned(),
            source_address: printable(source),
            client,
        });
    }
    let selections = request
        .providers
        .iter()
        .map(|text| Ok(Selection::parse(text, &default_host)?));
    let selections: Vec<Selection> = selections.collect::<Result<_, CommandError>>()?;
    let all = requirements.map(|requirements| requirements.providers);
    if selections.is_empty() {
        let all = all.unwrap_or_default().into_iter();
        return Ok(all
            .map(|(provider, constraints)| {
                let recorded = constraints.clone();
                let admitted = constraints;
                (provider, Required { admitted, recorded })
            })
            .collect());
    }
    let mut required = BTreeMap::new();
    for Selection {
        provider,
        constraints,
    } in selections
    {
        let recorded = match all.as_ref().map(|all| all.get(&provider)) {
            Some(Some(configured)) => configured.clone(),
            Some(None) => {
                return Err(CommandError::NotRequired {
                    provider: Box::new(provider),
                    directory: directory.to_owned(),
                });
            }
            None => constraints.clone(),
        };
        let admitted = recorded.clone().and(constraints);
        required.insert(provider, Required { admitted, recorded });
    }
    Ok(required)
}
