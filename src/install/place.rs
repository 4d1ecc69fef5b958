//! The place of a package in a filesystem mirror.

use super::{
    Archive, Form, Hashes, Limits, Package, PackageHash, Path, PathBuf, Platform, Problem,
    ProviderAddr, Request, Staged, Transfer, Version, blob, canonical_file_name, disk,
};
use crate::digest::{Algorithm, Digest, Hasher};

/// Where one package goes, and where it would be in the other form.
#[derive(Clone, Debug)]
pub(super) struct Place {
    into: PathBuf,
    form: Form,
    packed: PathBuf,
    unpacked: PathBuf,
    type_name: String,
}

impl Place {
    pub(super) fn of(
        request: &Request,
        provider: &ProviderAddr,
        version: &Version,
        platform: &Platform,
    ) -> Self {
        let directory = request
            .into
            .join(provider.hostname().to_unicode())
            .join(provider.namespace())
            .join(provider.type_name());
        Self {
            into: request.into.clone(),
            form: request.form,
            packed: directory.join(canonical_file_name(provider, version, platform)),
            unpacked: directory
                .join(version.to_string())
                .join(platform.to_string()),
            type_name: provider.type_name().to_owned(),
        }
    }

    pub(super) fn path(&self) -> &Path {
        match self.form {
            Form::Packed => &self.packed,
            Form::Unpacked => &self.unpacked,
        }
    }

    /// Starts a zip, hidden at the top of the mirror: on the right file system, where no directory is created too early.
    pub(super) fn stage(&self) -> Result<Staged, disk::Error> {
        Staged::hidden_in(&self.into, self.path())
    }

    pub(super) fn refuse_other_form(&self) -> Result<(), Problem> {
        let other = match self.form {
            Form::Packed => &self.unpacked,
            Form::Unpacked => &self.packed,
        };
        if other.exists() {
            Err(Problem::OtherForm {
                path: other.clone(),
            })
        } else {
            Ok(())
        }
    }

    /// The hashes of a packed package that is there; `None` where nothing is, or where the form is another.
    pub(super) async fn packed_already<L>(
        &self,
        package: &Package<L>,
    ) -> Result<Option<Hashes>, Problem> {
        if self.form == Form::Unpacked || !self.packed.exists() {
            return Ok(None);
        }
        let (path, type_name, expected) = (
            self.packed.clone(),
            self.type_name.clone(),
            package.expected.digest,
        );
        let (zh, file) = (package.zh(), package.file_name.clone());
        let compare = move || {
            let received = digest(&path)?;
            if received != expected {
                let received = PackageHash::of_zip(&received)
                    .map_or_else(String::new, |hash| hash.to_string());
                let expected = zh.unwrap_or(PackageHash::Zh([0; 32]));
                return Err(Problem::Occupied {
                    path,
                    expected,
                    received,
                });
            }
            hashes(disk::open(&path)?, &type_name, &file).map(Some)
        };
        let compared = tokio::task::spawn_blocking(compare).await;
        compared.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
    }

    /// Opens a proved zip and puts it, or its contents, where it belongs.
    pub(super) fn settle(&self, staged: Staged, file: &str) -> Result<(Transfer, Hashes), Problem> {
        match self.form {
            Form::Packed => {
                let hashes = hashes(staged.reopen()?, &self.type_name, file)?;
                self.make_parent()?;
                staged.show()?;
                Ok((Transfer::Copied, hashes))
            }
            Form::Unpacked => self.unpack(&staged, file),
        }
    }

    fn unpack(&self, staged: &Staged, file: &str) -> Result<(Transfer, Hashes), Problem> {
        let unusable = |source| Problem::Archive {
            file: file.to_owned(),
            source,
        };
        let mut archive = Archive::open(staged.reopen()?, &Limits::default()).map_err(unusable)?;
        archive.executable(&self.type_name).map_err(unusable)?;
        if self.is_occupied()? {
            let hashes = archive.hashes().map_err(unusable)?;
            return self
                .compare(hashes)
                .map(|hashes| (Transfer::Present, hashes));
        }
        let hidden = disk::hidden_dir(&self.into)?;
        let hashes = disk::unpack::unpack(&mut archive, &self.type_name, hidden.path()).map_err(
            |error| match error {
                disk::unpack::Error::Archive(source) => unusable(source),
                other => Problem::Unpack(other),
            },
        )?;
        self.make_parent()?;
        disk::show_dir(hidden, &self.unpacked)?;
        Ok((Transfer::Copied, hashes))
    }

    /// Whether something is there; an empty directory is nothing, to clients too (contract 4.5).
    pub(super) fn is_occupied(&self) -> Result<bool, Problem> {
        if !self.path().is_dir() {
            return Ok(self.path().exists());
        }
        Ok(!disk::names(self.path())?.is_empty())
    }

    /// What clients make of a zip whose two `h1` differ (contract 11).
    pub(super) fn about_two_h1(&self) -> &'static str {
        match self.form {
            Form::Packed => {
                "the zip has directory entries and so two different h1: clients refuse their own lock file when they install it \
                 from a packed mirror again, not from an unpacked one"
            }
            Form::Unpacked => {
                "the zip has directory entries and so two different h1: clients that share a plugin cache may refuse it"
            }
        }
    }

    fn compare(&self, hashes: Hashes) -> Result<Hashes, Problem> {
        let there = disk::directory_h1(&self.unpacked, &Limits::default());
        match there {
            Ok(hash) if hash == hashes.directory => Ok(hashes),
            Ok(hash) => Err(self.occupied(&hashes, hash.to_string())),
            Err(error) => Err(self.occupied(&hashes, error.to_string())),
        }
    }

    fn occupied(&self, hashes: &Hashes, received: String) -> Problem {
        Problem::Occupied {
            path: self.unpacked.clone(),
            expected: hashes.directory.clone(),
            received,
        }
    }

    fn make_parent(&self) -> Result<(), Problem> {
        self.path()
            .parent()
            .map_or(Ok(()), disk::create_dir)
            .map_err(Problem::from)
    }
}

fn hashes(zip: std::fs::File, type_name: &str, file: &str) -> Result<Hashes, Problem> {
    let unusable = |source| Problem::Archive {
        file: file.to_owned(),
        source,
    };
    let mut archive = Archive::open(zip, &Limits::default()).map_err(unusable)?;
    archive.executable(type_name).map_err(unusable)?;
    archive.hashes().map_err(unusable)
}

fn digest(path: &Path) -> Result<Digest, blob::Error> {
    let mut blocks = disk::Blocks::open(path, 0)?;
    let mut hasher = Hasher::new(Algorithm::Sha256);
    while let Some(block) = blocks.next_block()? {
        hasher.update(&block);
    }
    Ok(hasher.finish())
}
