//! Unpacks packages at their paths.

use std::io::BufRead;

use tempfile::TempDir;

use super::{
    Archive, DirectoryKind, Form, Hashes, Limits, Package, PackageHash, PackagePlace, Path,
    Problem, Staged, Transfer, disk,
};
use crate::archive::{self, Stream};
use crate::disk::unpack::{self, unpack, unpack_arriving};

/// Accepts a package by its hashes, or refuses it.
type Accept<'a> = &'a dyn Fn(&Hashes) -> Result<(), Problem>;

impl PackagePlace {
    /// Whether a zip that begins with these bytes can be unpacked while it arrives. What is at the path already is compared with the
    /// whole zip.
    pub(in crate::install) fn can_unpack_arriving(&self, front: &[u8]) -> Result<bool, Problem> {
        let suits = self.form == Form::Unpacked && Stream::<&[u8]>::suits(front);
        Ok(suits && !self.is_occupied()?)
    }

    /// Unpacks a zip that `reader` gives while it arrives, and moves the directory to the package's path. `reader` must not end before the zip
    /// is verified. `None` if the zip has to be unpacked from a file.
    pub(in crate::install) fn unpack_arriving<L>(
        &self,
        reader: impl BufRead,
        package: &Package<L>,
        accept: Accept<'_>,
    ) -> Result<Option<(Transfer, Hashes)>, Problem> {
        let hidden = disk::hidden_directory(&self.into)?;
        let stream = Stream::new(reader, package.expected.size, &Limits::default());
        let unpacked = unpack_arriving(stream, &self.type_name, hidden.path());
        let unpacked = unpacked.map_err(|error| not_unpacked(error, &package.file_name));
        let Some(hashes) = unpacked? else {
            return Ok(None);
        };
        accept(&hashes)?;
        // Another program may have installed something meanwhile.
        if self.is_occupied()? {
            return Ok(None);
        }
        self.show(hidden)?;
        Ok(Some((Transfer::Copied, hashes)))
    }

    /// Unpacks a verified zip at the package's path.
    pub(super) fn unpack(
        &self,
        staged: &Staged,
        file: &str,
        accept: Accept<'_>,
    ) -> Result<(Transfer, Hashes), Problem> {
        let unusable = |source| unusable(source, file);
        let mut archive = Archive::open(staged.reopen()?, &Limits::default()).map_err(unusable)?;
        archive.executable(&self.type_name).map_err(unusable)?;
        if self.is_occupied()? {
            let hashes = archive.hashes().map_err(unusable)?;
            accept(&hashes)?;
            self.compare_h1(&hashes.directory)?;
            return Ok((Transfer::Present, hashes));
        }
        let hidden = disk::hidden_directory(&self.into)?;
        let hashes = unpack(archive.members(), &self.type_name, hidden.path())
            .map_err(|error| not_unpacked(error, file))?;
        accept(&hashes)?;
        self.show(hidden)?;
        Ok((Transfer::Copied, hashes))
    }

    /// Copies an unpacked package to the package's path, if it is accepted by its `h1`.
    pub(in crate::install) fn copy(
        &self,
        from: &Path,
        accept: &dyn Fn(&PackageHash) -> Result<(), Problem>,
    ) -> Result<(Transfer, PackageHash), Problem> {
        let is_occupied = self.is_occupied()?;
        if is_occupied || self.dry_run {
            let h1 = disk::directory_h1(from, &Limits::default())?;
            accept(&h1)?;
            if is_occupied {
                self.compare_h1(&h1)?;
                return Ok((Transfer::Present, h1));
            }
            return Ok((Transfer::Planned, h1));
        }
        let hidden = disk::hidden_directory(&self.into)?;
        let h1 = disk::copy_directory(from, hidden.path(), &Limits::default())?;
        accept(&h1)?;
        self.show(hidden)?;
        Ok((Transfer::Copied, h1))
    }

    /// Moves an unpacked package to its path.
    fn show(&self, hidden: TempDir) -> Result<(), Problem> {
        let way = self.unpacked.open_or_create_parent()?;
        if self.kind == DirectoryKind::Providers && way.is_link(&self.unpacked.name) {
            way.remove(&self.unpacked.name)?;
        }
        disk::show_directory(hidden, &way, &self.unpacked.name)?;
        Ok(())
    }
}

fn not_unpacked(error: unpack::Error, file: &str) -> Problem {
    match error {
        unpack::Error::Archive(source) => unusable(source, file),
        unpack::Error::Disk(source) => source.into(),
    }
}

pub(super) fn unusable(source: archive::Error, file: &str) -> Problem {
    Problem::Archive {
        file: file.to_owned(),
        source,
    }
}
