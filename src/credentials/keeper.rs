//! Keeping credentials where docker and podman keep them: in a file of theirs, or with the helper that it names.
//!
//! The file belongs to others. Every member that is not about the registry keeps its place and its bytes, the file is
//! replaced whole, and only its owner can read it.

use std::path::{Path, PathBuf};

use serde_json::value::RawValue;

use super::docker::DockerFile;
use super::document::Document;
use super::helper::{Helpers, PATIENCE};
use super::means::Means;
use super::{Credential, Error, Places, TYPED, discover, hub};
use crate::config::{HelperName, Hidden, RepositoryPrefix};
use crate::disk::{self, staged};

/// Who keeps the credentials for one registry.
#[derive(Debug)]
pub struct Keeper {
    domain: String,
    file: PathBuf,
    helpers: Helpers,
}

/// Where credentials are, or were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// In a file.
    File(PathBuf),
    /// With a helper.
    Helper(HelperName),
}

impl Keeper {
    /// The keeper of `--authfile`, else of `REGISTRY_AUTH_FILE`, else of docker's configuration.
    ///
    /// # Errors
    /// Text that is no registry; or there is no such place, because there is no home directory.
    pub fn new(places: &Places, registry: &str) -> Result<Self, Error> {
        Ok(Self {
            domain: domain(registry)?,
            file: places.kept().ok_or(Error::NoHome)?,
            helpers: Helpers::new(places.environment.path.clone(), PATIENCE),
        })
    }

    /// Keeps a name and password, in the place of what was kept.
    ///
    /// # Errors
    /// The file cannot be read or written, or the helper failed.
    pub async fn store(&self, username: &str, secret: &Hidden) -> Result<Kept, Error> {
        let _lock = self.lock().await?;
        let mut document = self.read()?.unwrap_or_default();
        if let Some(helper) = self.helper(&document)? {
            self.helpers
                .store(&helper, &self.domain, username, secret)
                .await?;
            // A password that stays in the file would count more than the helper's.
            if self.forget(&mut document)? {
                self.write(&document)?;
            }
            return Ok(Kept::Helper(helper));
        }
        let failed = |error| discover::malformed(&self.file, &error);
        let mut auths = document.object("auths").map_err(failed)?;
        let key = hub::key(&self.domain);
        auths.retain(|other, _| other == key || !is_for(other, &self.domain));
        let mut entry = Document::default();
        let auth = base64_pair(username, secret);
        entry.set("auth", raw(serde_json::to_string(&auth)).map_err(failed)?);
        auths.set(key, raw(entry.print(2)).map_err(failed)?);
        document.set("auths", raw(auths.print(1)).map_err(failed)?);
        self.write(&document)?;
        Ok(Kept::File(self.file.clone()))
    }

    /// Forgets. `None`: nothing was kept.
    ///
    /// # Errors
    /// The file cannot be read or written, or the helper failed.
    pub async fn erase(&self) -> Result<Option<Kept>, Error> {
        if disk::if_exists(disk::open(&self.file))?.is_none() {
            return Ok(None);
        }
        let _lock = self.lock().await?;
        let Some(mut document) = self.read()? else {
            return Ok(None);
        };
        let mut kept = None;
        if self.forget(&mut document)? {
            self.write(&document)?;
            kept = Some(Kept::File(self.file.clone()));
        }
        if let Some(helper) = self.helper(&document)?
            && self.helpers.erase(&helper, &self.domain).await?
        {
            kept = Some(Kept::Helper(helper));
        }
        Ok(kept)
    }

    /// Keeps others of us out of the file's directory: of two who read and then write, one would undo the other.
    async fn lock(&self) -> Result<Option<disk::Lock>, Error> {
        let target = followed(&self.file);
        let directory = staged::directory_of(&target);
        disk::create_private_dir(directory)?;
        // Some network file systems lock no directories, which must not keep anybody from logging in.
        Ok(disk::Lock::of_directory(directory, &()).await.ok())
    }

    /// Takes the registry out of `auths`. `false`: it was not there.
    fn forget(&self, document: &mut Document) -> Result<bool, Error> {
        let failed = |error| discover::malformed(&self.file, &error);
        let mut auths = document.object("auths").map_err(failed)?;
        let before = auths.members().count();
        auths.retain(|key, _| !is_for(key, &self.domain));
        if auths.members().count() == before {
            return Ok(false);
        }
        document.set("auths", raw(auths.print(1)).map_err(failed)?);
        Ok(true)
    }

    /// The helper that the file names for the registry.
    fn helper(&self, document: &Document) -> Result<Option<HelperName>, Error> {
        let failed = |error| discover::malformed(&self.file, &error);
        let file = DockerFile::read(document).map_err(failed)?;
        let own = file
            .entries
            .into_iter()
            .find_map(|entry| match entry.means {
                Ok(Means::Helper(helper)) if entry.prefix.covers(&self.domain, "") => Some(helper),
                _ => None,
            });
        Ok(own.or_else(|| file.store.and_then(Result::ok)))
    }

    fn read(&self) -> Result<Option<Document>, Error> {
        let read = disk::read_regular(&self.file, discover::LARGEST);
        let Some(bytes) = disk::if_exists(read)? else {
            return Ok(None);
        };
        let parsed = Document::parse(&bytes);
        parsed
            .map(Some)
            .map_err(|error| discover::malformed(&self.file, &error))
    }

    fn write(&self, document: &Document) -> Result<(), Error> {
        let failed = |error| discover::malformed(&self.file, &error);
        let text = document.print(0).map_err(failed)?;
        let target = followed(&self.file);
        staged::replace_private(&target, format!("{text}\n").as_bytes())?;
        Ok(())
    }
}

impl Credential {
    /// What a user types to log in.
    pub fn typed(username: &str, secret: &Hidden) -> Self {
        Self::Basic {
            username: username.to_owned(),
            password: secret.reveal().to_owned(),
            origin: TYPED.to_owned(),
        }
    }
}

/// A registry as the user writes it, under its one name.
fn domain(registry: &str) -> Result<String, Error> {
    let prefix = RepositoryPrefix::parse(registry).ok();
    let prefix = prefix.filter(|prefix| prefix.depth() == 0);
    let prefix = prefix.ok_or_else(|| Error::Registry {
        text: registry.to_owned(),
    })?;
    Ok(hub::canonical(prefix.domain()).to_owned())
}

/// Whether a key of `auths` is for a registry as a whole.
fn is_for(key: &str, domain: &str) -> bool {
    hub::prefix(key).is_some_and(|prefix| prefix.depth() == 0 && prefix.domain() == domain)
}

fn base64_pair(username: &str, secret: &Hidden) -> String {
    use base64::Engine as _;
    let pair = format!("{username}:{}", secret.reveal());
    base64::engine::general_purpose::STANDARD.encode(pair)
}

fn raw(text: Result<String, serde_json::Error>) -> Result<Box<RawValue>, serde_json::Error> {
    RawValue::from_string(text?)
}

/// Where a symbolic link leads, even if nothing is there yet: the link stays.
fn followed(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    match std::fs::read_link(path) {
        Ok(target) => path.parent().unwrap_or(Path::new("")).join(target),
        Err(_) => path.to_owned(),
    }
}
