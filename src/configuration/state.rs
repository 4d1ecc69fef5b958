//! Local states, of which only the addresses of providers are read ([what clients do](crate::clients#where-init-finds-providers)).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::de::Error as _;
use serde_json::value::RawValue;

use super::{Error, MOST_PROVIDERS, Position, ReadAs, Requirements};
use crate::address::{self, Hostname, ProviderAddr};
use crate::config::module::Backend;
use crate::constraint::VersionConstraints;
use crate::disk;
use crate::error::printable_path;
use crate::json::{self, Object};
use crate::lockfile::Client;

/// The largest accepted state, in bytes. Large ones have some dozen megabytes; common hosts of repositories take no file of 100 MiB.
const LARGEST: u64 = 128 << 20;

/// The name of a state, unless the backend names another.
const FILE: &str = "terraform.tfstate";

/// The most bytes of the file that names the selected workspace.
const LONGEST_NAME: u64 = 4 << 10;

/// Adds the providers that the state requires, or says which state cannot be read.
pub(super) fn add(
    found: &mut Requirements,
    root: &Path,
    read_as: &ReadAs,
    client: Option<Client>,
    backend: Option<Backend>,
) -> Result<(), Error> {
    // A client that sets up a backend copies this one into it, if the user agrees.
    let mut states = vec![root.join(FILE)];
    match backend {
        Some(Backend::Other(name)) => {
            found.unread_state = Some(format!("state in the backend `{name}`"));
        }
        Some(Backend::Local { path, workspaces }) => {
            states.push(selected(root, read_as, path, workspaces)?);
        }
        None => states.push(selected(root, read_as, None, None)?),
    }
    states.dedup();
    let configured: BTreeSet<ProviderAddr> = found.providers.keys().cloned().collect();
    for path in states {
        let Some(bytes) = disk::if_exists(disk::read_regular(&path, LARGEST))? else {
            continue;
        };
        let refuse = |source| Error::State {
            path: path.clone(),
            source,
        };
        let Some(providers) = providers(&bytes).map_err(refuse)? else {
            found.unread_state = Some(format!("encrypted state {}", printable_path(&path)));
            continue;
        };
        for mut provider in providers {
            // OpenTofu looks for such a provider at its own origin, unless the configuration requires it too.
            if client == Some(Client::OpenTofu)
                && *provider.hostname() == Hostname::predecessor_origin()
                && !configured.contains(&provider)
            {
                provider = provider.at(Hostname::default_origin());
            }
            let (path, line) = (path.clone(), None);
            found.require(provider, Position { path, line }, VersionConstraints::any())?;
        }
    }
    Ok(())
}

/// The state of the selected workspace. Clients use its name as it is.
fn selected(
    root: &Path,
    read_as: &ReadAs,
    path: Option<String>,
    workspaces: Option<String>,
) -> Result<PathBuf, Error> {
    let recorded = root.join(&read_as.data).join("environment");
    let recorded = disk::if_exists(disk::read_regular(&recorded, LONGEST_NAME))?;
    let recorded = String::from_utf8(recorded.unwrap_or_default()).unwrap_or_default();
    let name = read_as.workspace.as_deref().unwrap_or(recorded.trim());
    Ok(root.join(match name {
        "" | "default" => path.unwrap_or_else(|| FILE.to_owned()),
        name => {
            let all = workspaces.unwrap_or_else(|| "terraform.tfstate.d".to_owned());
            format!("{all}/{name}/{FILE}")
        }
    }))
}

/// The providers of a state; `None` if OpenTofu has encrypted it.
fn providers(bytes: &[u8]) -> Result<Option<BTreeSet<ProviderAddr>>, json::Error> {
    let mut found = BTreeSet::new();
    if bytes.is_empty() {
        return Ok(Some(found));
    }
    let mut state = Object::parse(bytes)?;
    let is_encrypted = state.take("encrypted_data")?.is_some();
    state.list("resources", usize::MAX, |resource| {
        let mut resource = read(resource, &mut found)?;
        let instances = resource.list("instances", usize::MAX, |instance| {
            read(instance, &mut found).map(drop)
        });
        instances.map(drop)
    })?;
    Ok((!is_encrypted).then_some(found))
}

/// Adds the provider of a resource or an instance. Its text is such as `module.net.provider["example.com/acme/demo"].west`.
fn read<'a>(
    part: &'a RawValue,
    found: &mut BTreeSet<ProviderAddr>,
) -> Result<Object<'a>, json::Error> {
    let mut part = Object::of(part)?;
    let text = part.text("provider")?;
    let quoted = text.split_once("provider[\"");
    let quoted = quoted.and_then(|(_, rest)| rest.split_once("\"]"));
    match quoted.map_or(&*text, |(address, _)| address).parse() {
        // One too many for any configuration is enough.
        Ok(provider) if found.len() <= MOST_PROVIDERS => {
            found.insert(provider);
        }
        Err(error) if !text.is_empty() && !matches!(error, address::Error::BuiltIn { .. }) => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            return Err(serde_json::Error::custom(first).into());
        }
        _ => {}
    }
    Ok(part)
}
