//! Stores credentials as docker and podman do: in a file, or with the helper that the file names.
//!
//! Other programs use the same file. tfoci therefore keeps the order and bytes of all members that are not about the registry, replaces the
//! file atomically, and makes it readable for its owner only.

use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use super::docker;
use super::docker_file::DockerFile;
use super::docker_helper::DockerHelpers;
use super::entry::{Entry, EntryValue};
use super::hub;
use super::locations::LARGEST;
use super::{Error, Locations};
use crate::config::{HelperName, RepositoryPrefix};
use crate::disk::{self, staged};
use crate::http::basic_pair;
use crate::secret::Secret;

/// Stores and erases the credentials of one registry.
#[derive(Debug)]
pub struct CredentialStore {
    domain: String,
    file: PathBuf,
    helpers: DockerHelpers,
}

/// The location of stored or erased credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// In a file, with the passwords in the clear.
    File(PathBuf),
    /// With a helper, which keeps them in the system's keychain, for example.
    Helper(HelperName),
}

impl CredentialStore {
    /// Uses the file of `--authfile`, otherwise of `REGISTRY_AUTH_FILE`, otherwise docker's configuration.
    ///
    /// # Errors
    /// The text is not a registry, or there is no home directory and no option or variable names the file.
    pub fn new(locations: &Locations, registry: &str) -> Result<Self, Error> {
        Ok(Self {
            domain: domain(registry)?,
            file: locations.store().ok_or(Error::NoHome)?,
            helpers: DockerHelpers::new(locations.environment.path.clone()),
        })
    }

    /// Stores a username and password in place of the previous ones.
    ///
    /// # Errors
    /// The file cannot be read or written, or the helper failed.
    pub async fn store(&self, username: &str, password: &Secret) -> Result<Location, Error> {
        let _lock = self.lock().await?;
        let mut file = self.read()?.unwrap_or_default();
        if let Some(helper) = self.helper(&file)? {
            self.helpers
                .store(&helper, &self.domain, username, password)
                .await?;
            // A password in the file would take precedence over the helper's.
            if self.remove(&mut file)? {
                self.write(&file)?;
            }
            return Ok(Location::Helper(helper));
        }
        self.insert(&mut file, &basic_pair(username, password))
            .map_err(|error| self.malformed(&error))?;
        self.write(&file)?;
        Ok(Location::File(self.file.clone()))
    }

    /// Erases the stored credentials; `None` if there were none.
    ///
    /// # Errors
    /// The file cannot be read or written, or the helper failed.
    pub async fn erase(&self) -> Result<Option<Location>, Error> {
        if disk::if_exists(disk::open(&self.file))?.is_none() {
            return Ok(None);
        }
        let _lock = self.lock().await?;
        let Some(mut file) = self.read()? else {
            return Ok(None);
        };
        let mut erased = None;
        if self.remove(&mut file)? {
            self.write(&file)?;
            erased = Some(Location::File(self.file.clone()));
        }
        if let Some(helper) = self.helper(&file)?
            && self.helpers.erase(&helper, &self.domain).await?
        {
            erased = Some(Location::Helper(helper));
        }
        Ok(erased)
    }

    /// Locks the file's directory, so that two concurrent runs of tfoci do not overwrite each other's changes.
    async fn lock(&self) -> Result<Option<disk::Lock>, Error> {
        let target = followed(&self.file);
        let directory = disk::directory_of(&target);
        disk::create_private_directory(directory)?;
        // Locking is best effort: some network file systems do not support locks on directories.
        Ok(disk::Lock::of_directory(directory, &()).await.ok())
    }

    /// Adds an entry to `auths`, and removes all others for the registry.
    fn insert(&self, file: &mut DockerFile, auth: &Secret) -> Result<(), serde_json::Error> {
        let auth = auth.reveal();
        let key = hub::key_of(&self.domain);
        let mut auths = file.object("auths")?;
        auths.retain(|other| other == key || !is_for(other, &self.domain));
        let mut entry = DockerFile::default();
        // Base64 needs no escapes. Reallocation would leave copies of the password in memory.
        let mut quoted = String::with_capacity(auth.len() + 2);
        quoted.extend(["\"", auth, "\""]);
        entry.set("auth", quoted.into());
        auths.set(key, entry.print(2)?);
        file.set("auths", auths.print(1)?);
        Ok(())
    }

    /// Removes the registry from `auths`. Returns `false` if it had no entry.
    fn remove(&self, file: &mut DockerFile) -> Result<bool, Error> {
        let malformed = |error| self.malformed(&error);
        let mut auths = file.object("auths").map_err(malformed)?;
        let before = auths.members().count();
        auths.retain(|key| !is_for(key, &self.domain));
        if auths.members().count() == before {
            return Ok(false);
        }
        file.set("auths", auths.print(1).map_err(malformed)?);
        Ok(true)
    }

    /// The helper that the file names for the registry.
    fn helper(&self, file: &DockerFile) -> Result<Option<HelperName>, Error> {
        let entries = docker::entries(file).map_err(|error| self.malformed(&error))?;
        let own = entries
            .into_iter()
            .filter(|entry| Entry::specificity(entry, &self.domain, "").is_some());
        Ok(own.map(|entry| entry.value).find_map(|value| match value {
            Ok(EntryValue::Helper(helper)) => Some(helper),
            _ => None,
        }))
    }

    fn read(&self) -> Result<Option<DockerFile>, Error> {
        let read = disk::read_regular(&self.file, LARGEST);
        let Some(bytes) = disk::if_exists(read)?.map(Zeroizing::new) else {
            return Ok(None);
        };
        let parsed = DockerFile::parse(&bytes);
        parsed.map(Some).map_err(|error| self.malformed(&error))
    }

    fn write(&self, file: &DockerFile) -> Result<(), Error> {
        let text = file.print(0).map_err(|error| self.malformed(&error))?;
        let mut bytes = Zeroizing::new(Vec::with_capacity(text.reveal().len() + 1));
        bytes.extend_from_slice(text.reveal().as_bytes());
        bytes.push(b'\n');
        staged::replace_private(&followed(&self.file), &bytes)?;
        Ok(())
    }

    fn malformed(&self, error: &serde_json::Error) -> Error {
        Error::docker_config(&self.file, error)
    }
}

/// Parses a registry that the user typed, and returns its canonical name.
fn domain(registry: &str) -> Result<String, Error> {
    let prefix = RepositoryPrefix::parse(registry).ok();
    let prefix = prefix.filter(|prefix| prefix.depth() == 0);
    let prefix = prefix.ok_or_else(|| Error::NotARegistry {
        text: registry.to_owned(),
    })?;
    Ok(hub::canonical(prefix.domain()).to_owned())
}

/// Whether a key of `auths` names the registry without a path.
fn is_for(key: &str, domain: &str) -> bool {
    hub::prefix_of_any_key(key)
        .is_some_and(|(prefix, _)| prefix.depth() == 0 && prefix.domain() == domain)
}

/// The target of a symbolic link, so that the target is written and the link is kept.
fn followed(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
