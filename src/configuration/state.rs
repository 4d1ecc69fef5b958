//! Local states. Only the addresses of providers are read from them ([what clients do](crate::clients#where-init-finds-providers)).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::de::Error as _;
use serde_json::value::RawValue;

use super::{Error, MOST_PROVIDERS, Position, ReadAs, Requirements, Stated, clean};
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
    let record = root.join(&read_as.data).join(FILE);
    let saved = match disk::if_exists(disk::read_regular(&record, LARGEST))? {
        Some(bytes) => saved_backend(&bytes).map_err(refused(&record))?,
        None => None,
    };
    for backend in [backend.unwrap_or_default()].into_iter().chain(saved) {
        match backend {
            Backend::Other(name) => {
                found.unread_state = Some(format!("state in the backend `{name}`"));
            }
            Backend::Local { path, workspaces } => {
                states.push(selected(root, read_as, path, workspaces)?);
            }
        }
    }
    states.dedup();
    let configured: BTreeSet<ProviderAddr> = found.providers.keys().cloned().collect();
    for path in states {
        let Some(bytes) = disk::if_exists(disk::read_regular(&path, LARGEST))? else {
            continue;
        };
        let (providers, is_encrypted) = providers(&bytes).map_err(refused(&path))?;
        if is_encrypted {
            found.unread_state = Some(format!("encrypted state {}", printable_path(&path)));
        }
        for mut provider in providers {
            // OpenTofu looks for such a provider at its own origin, unless the configuration requires it too.
            if client == Some(Client::OpenTofu)
                && *provider.hostname() == Hostname::predecessor_origin()
                && !configured.contains(&provider)
            {
                provider = provider.at(Hostname::default_origin());
            }
            let (path, line) = (path.clone(), None);
            let stated = Stated {
                position: Position { path, line },
                constraints: VersionConstraints::any(),
            };
            found.require(provider, stated)?;
        }
    }
    Ok(())
}

fn refused(path: &Path) -> impl Fn(json::Error) -> Error {
    move |source| Error::State {
        path: path.to_owned(),
        source,
    }
}

/// The backend that the client has set up. It uses this one as long as the configuration looks the same, and a change may bring it along.
fn saved_backend(bytes: &[u8]) -> Result<Option<Backend>, json::Error> {
    let Some(backend) = Object::parse(bytes)?.take("backend")? else {
        return Ok(None);
    };
    let mut backend = Object::of(backend)?;
    let name = backend.text("type")?;
    let config = backend.take("config")?.map(Object::of).transpose()?;
    let (mut path, mut workspaces) = (None, None);
    if let Some(mut config) = config.filter(|_| name == "local") {
        path = config.value("path")?;
        workspaces = config.value("workspace_dir")?;
    }
    Ok(Some(Backend::of(
        &name,
        path.map(Some),
        workspaces.map(Some),
    )))
}

/// The state of the selected workspace. Clients clean the path as text.
fn selected(
    root: &Path,
    read_as: &ReadAs,
    path: Option<String>,
    workspaces: Option<String>,
) -> Result<PathBuf, Error> {
    let recorded = root.join(&read_as.data).join("environment");
    let bytes = disk::if_exists(disk::read_regular(&recorded, LONGEST_NAME))?;
    let text = bytes.unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let name = read_as.workspace.as_deref().unwrap_or(text.trim());
    Ok(root.join(match name {
        "" | "default" => path.unwrap_or_else(|| FILE.to_owned()),
        name => {
            let all = workspaces.unwrap_or_else(|| "terraform.tfstate.d".to_owned());
            clean(&format!("{all}/{name}/{FILE}"))
        }
    }))
}

/// The providers of a state, and whether OpenTofu has encrypted it.
fn providers(bytes: &[u8]) -> Result<(BTreeSet<ProviderAddr>, bool), json::Error> {
    let mut found = BTreeSet::new();
    if bytes.is_empty() {
        return Ok((found, false));
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
    Ok((found, is_encrypted))
}

/// Adds the provider of a resource or an instance. Its text is such as `module.net.provider["example.com/acme/demo"].west`.
fn read<'a>(
    part: &'a RawValue,
    found: &mut BTreeSet<ProviderAddr>,
) -> Result<Object<'a>, json::Error> {
    let mut part = Object::of(part)?;
    let text = part.text("provider")?;
    // Clients skip comments, so nothing but names may be around the address.
    let is_plain = |text: &str| {
        text.chars()
            .all(|c| c.is_alphanumeric() || "._-".contains(c))
    };
    let quoted = text.split_once("provider[\"");
    let quoted = quoted.filter(|(before, _)| is_plain(before));
    let quoted = quoted.and_then(|(_, rest)| rest.split_once("\"]"));
    let quoted = quoted.filter(|(_, behind)| is_plain(behind));
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
