//! The path of a package in a filesystem mirror or in the providers of a working directory.
//!
//! Other users may share that directory. Below it tfoci follows no symbolic link, neither to write a package nor to check an
//! installed one.

mod unpacked;

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};

use super::{
    Archive, DirectoryKind, Form, Hashes, InstalledPackage, Limits, Package, PackageHash, Platform,
    Problem, ProviderAddr, Request, Staged, Transfer, Version, canonical_file_name, disk,
};
use crate::disk::Directory;
use crate::disk::exposed::{exposed, exposure};
use crate::error::printable_path;

/// The path of a package, and its path in the other form.
#[derive(Clone, Debug)]
pub(super) struct PackagePlace {
    into: PathBuf,
    form: Form,
    kind: DirectoryKind,
    pub(super) dry_run: bool,
    packed: EntryPath,
    unpacked: EntryPath,
    platform: Platform,
    type_name: String,
}

impl PackagePlace {
    pub(super) fn of(
        request: &Request,
        provider: &ProviderAddr,
        version: &Version,
        platform: &Platform,
    ) -> Self {
        let into = &request.into;
        let host = match request.kind {
            DirectoryKind::Site => provider.hostname().as_ascii().to_owned(),
            _ => provider.hostname().to_unicode(),
        };
        let way = vec![
            host,
            provider.namespace().to_owned(),
            provider.type_name().to_owned(),
        ];
        let within = [way.as_slice(), &[version.to_string()]].concat();
        let file = canonical_file_name(provider, version, platform);
        Self {
            into: into.clone(),
            form: request.form,
            kind: request.kind,
            dry_run: request.dry_run,
            packed: EntryPath::new(into, way, file),
            unpacked: EntryPath::new(into, within, platform.to_string()),
            platform: platform.clone(),
            type_name: provider.type_name().to_owned(),
        }
    }

    /// The package at the path by which clients find it. No zip was read.
    pub(super) fn installed(&self, transfer: Transfer) -> InstalledPackage {
        InstalledPackage {
            platform: self.platform.clone(),
            path: self.spot().path.clone(),
            transfer,
            size: 0,
            zh: None,
            h1: None,
            hashes: Vec::new(),
        }
    }

    pub(super) fn is_in_site(&self) -> bool {
        self.kind == DirectoryKind::Site
    }

    fn spot(&self) -> &EntryPath {
        match self.form {
            Form::Packed => &self.packed,
            Form::Unpacked => &self.unpacked,
        }
    }

    /// Creates a hidden file for the zip at the top of the mirror. It is on the same file system, and the package's directories need
    /// not exist yet.
    pub(super) fn stage(&self) -> Result<Staged, disk::Error> {
        Staged::hidden_in(&self.into, &self.spot().path)
    }

    pub(super) fn refuse_other_form(&self) -> Result<(), Problem> {
        let (other, received) = match self.form {
            Form::Packed => (&self.unpacked, "a directory"),
            Form::Unpacked => (&self.packed, "a zip"),
        };
        if self.is_in_site() {
            return Ok(());
        }
        match other.find()? {
            None => Ok(()),
            Some(_) => Err(occupied(&other.path, received)),
        }
    }

    /// The hashes of a package that is already installed as a zip; `None` if it is missing or the form is unpacked, or if a site has to replace it.
    pub(super) fn packed_already<L>(
        &self,
        package: &Package<L>,
    ) -> Result<Option<Hashes>, Problem> {
        let EntryPath { name, path, .. } = &self.packed;
        if self.form == Form::Unpacked {
            return Ok(None);
        }
        let Some((directory, found)) = self.packed.find()? else {
            return Ok(None);
        };
        if !found.is_file() {
            return Err(disk::Error::special(path).into());
        }
        let expected = package.expected.digest;
        let received = disk::Blocks::of(directory.read(name)?, path, 0)?.digest()?;
        let other = match (received == expected, exposure(&found)) {
            (false, _) => PackageHash::of_zip(&received).to_string(),
            (true, None) => {
                let zip = directory.read(name)?;
                return package_hashes(zip, &self.type_name, &package.file_name).map(Some);
            }
            (true, Some(exposure)) => same_but(path, exposure),
        };
        match self.is_in_site() {
            true => Ok(None),
            false => Err(occupied(path, other)),
        }
    }

    /// Hard-links a zip of a layout into a site, if the file is undamaged and the file system supports it. A web server, which runs as another
    /// user, must be able to read it: a link has the mode of the store's file.
    pub(super) fn link<L>(
        &self,
        from: &Path,
        package: &Package<L>,
    ) -> Result<Option<Hashes>, Problem> {
        let expected = package.expected;
        let found = std::fs::symlink_metadata(from).ok();
        let fits = found.is_some_and(|found| {
            found.len() == expected.size && exposure(&found).is_none() && is_readable_by_all(&found)
        });
        let hidden = self.into.join(&self.packed.name);
        let Some(link) = fits.then(|| Staged::link(from, &hidden)).flatten() else {
            return Ok(None);
        };
        let received = disk::Blocks::open(link.path(), 0)?.digest()?;
        if received != expected.digest {
            // The download that follows reports the damage.
            return Ok(None);
        }
        let (_, hashes) = self.move_into_place(link, &package.file_name, &|_| Ok(()))?;
        Ok(Some(hashes))
    }

    /// The `h1` of an unpacked package that is already there and has one of the locked `h1`; `None` if there is none. Hashes every file, which
    /// can take seconds.
    pub(super) fn unpacked_already(
        &self,
        locked: &BTreeSet<PackageHash>,
    ) -> Result<Option<PackageHash>, Problem> {
        let has_h1 = locked.iter().any(PackageHash::is_h1);
        if self.form == Form::Packed || !has_h1 || !self.is_occupied()? {
            return Ok(None);
        }
        let path = &self.unpacked.path;
        let there = disk::directory_h1(path, &Limits::default()).ok();
        let there = there.filter(|h1| locked.contains(h1));
        let exposed = exposed(path).map_err(|error| disk::Error::at_use(path, error))?;
        Ok(there.filter(|_| exposed.is_none()))
    }

    /// Opens a verified zip, and moves it or its extracted content to the package's path.
    pub(super) fn move_into_place(
        &self,
        staged: Staged,
        file: &str,
        accept: &dyn Fn(&Hashes) -> Result<(), Problem>,
    ) -> Result<(Transfer, Hashes), Problem> {
        match self.form {
            Form::Packed => {
                let hashes = package_hashes(disk::open(staged.path())?, &self.type_name, file)?;
                accept(&hashes)?;
                staged.show_in(&self.packed.open_or_create_parent()?, &self.packed.name)?;
                Ok((Transfer::Copied, hashes))
            }
            Form::Unpacked => self.unpack(&staged, file, accept),
        }
    }

    /// Whether the path exists. An empty directory does not count, because clients ignore it ([clients: plugin
    /// folders](crate::clients#plugin-folders)); nor does a link of a client with a plugin cache, which a package replaces.
    pub(super) fn is_occupied(&self) -> Result<bool, Problem> {
        if self.kind == DirectoryKind::Providers
            && let Some(parent) = self.spot().open_parent()?
            && parent.is_link(&self.spot().name)
        {
            return Ok(false);
        }
        match self.spot().find()? {
            None => Ok(false),
            Some((_, found)) if found.is_dir() => Ok(!disk::names(&self.spot().path)?.is_empty()),
            Some(_) => Ok(true),
        }
    }

    /// Fails if the installed package has another `h1`, or if others may change it.
    pub(super) fn compare_h1(&self, h1: &PackageHash) -> Result<(), Problem> {
        let path = &self.unpacked.path;
        let there = disk::directory_h1(path, &Limits::default());
        let received = match there {
            Err(error) => error.to_string(),
            Ok(there) if there != *h1 => there.to_string(),
            Ok(_) => match exposed(path).map_err(|error| disk::Error::at_use(path, error))? {
                None => return Ok(()),
                Some((path, exposure)) => same_but(&path, exposure),
            },
        };
        Err(occupied(path, received))
    }
}

fn occupied(path: &Path, received: impl ToString) -> Problem {
    Problem::Occupied {
        path: path.to_owned(),
        received: received.to_string(),
    }
}

/// The package itself, but another user may change this file or directory of it.
fn same_but(path: &Path, exposure: &str) -> String {
    format!("the same, but `{}` is {exposure}", printable_path(path))
}

/// A file or directory in a mirror: its parent directories and its name.
#[derive(Clone, Debug)]
struct EntryPath {
    into: PathBuf,
    /// The names of the parent directories, from the mirror down.
    parents: Vec<String>,
    name: String,
    path: PathBuf,
}

impl EntryPath {
    fn new(into: &Path, parents: Vec<String>, name: String) -> Self {
        let mut path = into.to_owned();
        path.extend(&parents);
        path.push(&name);
        Self {
            into: into.to_owned(),
            parents,
            name,
            path,
        }
    }

    /// Opens the directory of the entry and reads its metadata; `None` if it does not exist.
    fn find(&self) -> Result<Option<(Directory, Metadata)>, disk::Error> {
        let Some(at) = self.open_parent()? else {
            return Ok(None);
        };
        Ok(at.metadata(&self.name)?.map(|found| (at, found)))
    }

    /// Opens the parent directory; `None` if it does not exist.
    fn open_parent(&self) -> Result<Option<Directory>, disk::Error> {
        Directory::below(&self.into, &self.parents)
    }

    /// Opens the parent directory, and creates missing directories.
    fn open_or_create_parent(&self) -> Result<Directory, disk::Error> {
        Directory::create_below(&self.into, &self.parents)
    }
}

#[cfg(unix)]
fn is_readable_by_all(found: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    const READABLE: u32 = 0o444;
    found.mode() & READABLE == READABLE
}

#[cfg(not(unix))]
fn is_readable_by_all(_: &Metadata) -> bool {
    true
}

/// The hashes of a package that has a provider's executable. `file` names it in errors.
fn package_hashes(zip: impl Read + Seek, type_name: &str, file: &str) -> Result<Hashes, Problem> {
    let unusable = |source| unpacked::unusable(source, file);
    let mut archive = Archive::open(zip, &Limits::default()).map_err(unusable)?;
    archive.executable(type_name).map_err(unusable)?;
    archive.hashes().map_err(unusable)
}
