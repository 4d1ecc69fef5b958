//! Lock files on the disk: reading one, adding providers, and replacing it.
//!
//! A file is written as `providers lock` writes it: providers that are not locked now stay, and so do hashes of the same version
//! ([clients: lock file writing](crate::clients#lock-file-writing)). One difference is deliberate: if nothing changes, the file and its
//! time stay as they are.
//!
//! Another program may write the file while providers are looked up. So the file is read again before it is replaced, and what changed
//! meanwhile is kept. tfoci does this under a lock on the directory, which only other runs of tfoci respect.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::address::ProviderAddr;
use crate::disk::{self, Lock};
use crate::error::{Category, Hint, printable_path};
use crate::event::Reporter;
use crate::hash::PackageHash;
use crate::lockfile::{self, Client, LARGEST, LockFile, LockedProvider};
use crate::version::Version;

/// A lock file to update.
#[derive(Clone, Debug)]
pub struct LockTarget {
    /// The path of the file.
    pub path: PathBuf,
    /// The client to write the file as; `None` for the one that wrote it.
    client: Option<Client>,
    /// How to update it.
    update: Update,
    /// The content when it was first read; `None` if there was no file.
    pub file: Option<LockFile>,
}

/// How clients update a lock file ([clients: lock file writing](crate::clients#lock-file-writing)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// As `providers lock`: other providers stay, and constraints are brought up to date.
    Lock,
    /// As `init`: other providers are removed, and constraints alone are no reason to write.
    Init,
}

/// The effect on a lock file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockChange {
    /// The content before; empty without a file.
    pub before: String,
    /// The content after.
    pub after: String,
    /// Whether the two mean the same, so that the file stays as it is.
    pub is_unchanged: bool,
    /// Whether both lock the same versions of the same providers.
    pub has_same_versions: bool,
}

impl LockTarget {
    /// Reads a lock file, which need not exist.
    ///
    /// # Errors
    /// The file cannot be read or parsed.
    pub fn read(path: &Path, client: Option<Client>, update: Update) -> Result<Self, Error> {
        Ok(Self {
            path: path.to_owned(),
            client,
            update,
            file: read(path)?.map(|(_, file)| file),
        })
    }

    /// The client that the file is written as: the given one, otherwise the one that wrote it, otherwise OpenTofu.
    pub fn client(&self) -> Client {
        self.client_of(self.file.as_ref())
    }

    /// The client that wrote the file; `None` without a file or a header.
    pub fn written_by(&self) -> Option<Client> {
        self.file.as_ref()?.written_by
    }

    fn client_of(&self, file: Option<&LockFile>) -> Client {
        let written_by = file.and_then(|file| file.written_by);
        self.client.or(written_by).unwrap_or(Client::OpenTofu)
    }

    /// The locked version of a provider, with its hashes. `tofu` takes over the versions of its predecessor's origin, without the hashes
    /// ([clients: lock file writing](crate::clients#lock-file-writing)).
    pub fn locked(&self, provider: &ProviderAddr) -> Option<(Version, BTreeSet<PackageHash>)> {
        if let Some(entry) = self.entry(provider) {
            return Some((entry.version.clone(), entry.hashes.clone()));
        }
        let is_tofu = self.client() == Client::OpenTofu;
        let predecessor = self.entry(&provider.predecessor().filter(|_| is_tofu)?)?;
        Some((predecessor.version.clone(), BTreeSet::new()))
    }

    /// What the file has of a provider.
    pub fn entry(&self, provider: &ProviderAddr) -> Option<&LockedProvider> {
        self.file.as_ref()?.entries.get(provider)
    }

    /// What these providers change in the file.
    ///
    /// # Errors
    /// The file cannot be read or parsed.
    pub fn change(
        &self,
        providers: &BTreeMap<ProviderAddr, LockedProvider>,
    ) -> Result<LockChange, Error> {
        let now = read(&self.path)?;
        let (before, file) = now.map_or_else(Default::default, |(text, file)| (text, Some(file)));
        let known = file.clone().unwrap_or_default();
        let mut after = known.clone();
        after.written_by = Some(self.client_of(file.as_ref()));
        for (provider, entry) in providers {
            // The versions were selected for the file as it was first read.
            let expected = self.entry(provider).map(|entry| &entry.version);
            let received = known.entries.get(provider).map(|entry| &entry.version);
            if expected != received && received != Some(&entry.version) {
                return Err(Error::Changed {
                    path: self.path.clone(),
                    provider: provider.clone(),
                });
            }
            after.add(provider.clone(), entry.clone());
        }
        if self.update == Update::Init {
            after
                .entries
                .retain(|provider, _| providers.contains_key(provider));
        }
        let is_same_client = self.client.is_none() || known.written_by == self.client;
        Ok(LockChange {
            before,
            after: after.to_string(),
            is_unchanged: match self.update {
                // Without providers, `init` leaves no file.
                Update::Lock if file.is_none() => after.entries.is_empty(),
                Update::Lock => is_same_client && known.entries == after.entries,
                // Without providers, no file is as good as an empty one.
                Update::Init => packages(&known).eq(packages(&after)),
            },
            has_same_versions: {
                let versions = |(provider, version, _)| (provider, version);
                packages(&known)
                    .map(versions)
                    .eq(packages(&after).map(versions))
            },
        })
    }

    /// Adds these providers to the file. It is replaced in one step, and stays as it is if nothing changes.
    ///
    /// # Errors
    /// The file cannot be read, parsed or replaced, or another program selected another version of one of the providers meanwhile.
    pub async fn write(
        &self,
        providers: &BTreeMap<ProviderAddr, LockedProvider>,
        reporter: &dyn Reporter,
    ) -> Result<LockChange, Error> {
        let directory = match self.path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let _lock = Lock::of_directory(directory, reporter).await?;
        // What a killed run has left. Runs that are not killed hold the lock.
        disk::sweep(directory)?;
        let change = self.change(providers)?;
        if !change.is_unchanged {
            disk::staged::replace(&self.path, change.after.as_bytes())?;
        }
        Ok(change)
    }
}

/// What a file selects, without constraints.
fn packages(
    file: &LockFile,
) -> impl Iterator<Item = (&ProviderAddr, &Version, &BTreeSet<PackageHash>)> {
    let entries = file.entries.iter();
    entries.map(|(provider, entry)| (provider, &entry.version, &entry.hashes))
}

fn read(path: &Path) -> Result<Option<(String, LockFile)>, Error> {
    let Some(bytes) = disk::if_exists(disk::read_regular(path, LARGEST as u64))? else {
        return Ok(None);
    };
    let file = LockFile::parse(&bytes).map_err(|source| Error::Malformed {
        path: path.to_owned(),
        source: Box::new(source),
    })?;
    Ok(Some((String::from_utf8_lossy(&bytes).into_owned(), file)))
}

/// A lock file that cannot be updated. It is unchanged.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Error {
    /// The file cannot be read or written.
    #[error(transparent)]
    Disk(#[from] disk::Error),
    /// Clients refuse the file.
    #[error("the lock file {} cannot be read", printable_path(.path))]
    Malformed {
        path: PathBuf,
        source: Box<lockfile::Error>,
    },
    /// Another program selected other versions in the meantime.
    #[error("another program changed the version of {provider} in {} meanwhile", printable_path(.path))]
    Changed {
        path: PathBuf,
        provider: ProviderAddr,
    },
}

impl Error {
    /// The category that decides the exit code.
    pub fn category(&self) -> Category {
        match self {
            Self::Disk(error) => error.category(),
            Self::Malformed { source, .. } => source.category(),
            Self::Changed { .. } => Category::Conflict,
        }
    }
}

impl Hint for Error {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Disk(error) => error.hint(),
            Self::Malformed { source, .. } => source.hint().or_else(|| {
                let text =
                    "clients refuse it too: restore it, or remove it to select all versions anew";
                Some(text.to_owned())
            }),
            Self::Changed { .. } => None,
        }
    }
}
