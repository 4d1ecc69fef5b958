//! Providers that files request: mirror files and lock files.

use std::path::{Path, PathBuf};

use tfoci::address::ProviderAddr;
use tfoci::config::MirrorFile;
use tfoci::disk;
use tfoci::error::{Category, printable_path};
use tfoci::lockfile::{FILE_NAME, LockFile};
use tfoci::mirror::{Locks, VersionFilter};
use tfoci::platform::{Platform, Platforms};

use super::{NamedBy, TrustPath, read, read_text};
use crate::cli::arguments::Trust;
use crate::cli::error::CommandError;
use crate::cli::printer::Printer;

/// One requested provider.
pub(in crate::cli) struct Item {
    pub(in crate::cli) provider: ProviderAddr,
    pub(in crate::cli) filter: VersionFilter,
    /// The store addresses that a mirror file gives for this provider.
    pub(in crate::cli) to: Vec<String>,
}

/// Reads a mirror file. The path of its trust file becomes relative to the working directory.
pub(in crate::cli) fn mirror_file(path: &Path) -> Result<MirrorFile, CommandError> {
    let text = read_text(path, "--file")?;
    let mut file = MirrorFile::parse(&text).map_err(|source| CommandError::MirrorFile {
        path: path.to_owned(),
        source: Box::new(source),
    })?;
    // A pipe is in no directory of the user: its paths are relative to the working directory.
    let beside = path.parent().filter(|_| !path.starts_with("/dev"));
    let beside = beside.unwrap_or(Path::new(""));
    file.trust = file.trust.map(|trust| beside.join(trust));
    Ok(file)
}

/// The providers of a mirror file.
pub(in crate::cli) fn entries(file: MirrorFile) -> impl Iterator<Item = Item> {
    file.providers.into_iter().map(|entry| {
        let is_any = entry.constraints.is_any();
        Item {
            provider: entry.provider,
            filter: VersionFilter {
                versions: entry.constraints,
                newest: entry.newest.or(is_any.then_some(1)),
                prereleases: entry.prereleases,
                platforms: entry.platforms,
            },
            to: entry.to,
        }
    })
}

/// The trust file: that of `--trust`, or else that of the mirror file, which has to exist.
pub(in crate::cli) fn trust_file(
    arguments: &Trust,
    file: Option<&MirrorFile>,
    mirror_file: Option<&Path>,
) -> Result<Option<TrustPath>, CommandError> {
    match (TrustPath::of(arguments, file), mirror_file) {
        (Some(trust), Some(file))
            if trust.named_by == NamedBy::MirrorFile && !trust.path.exists() =>
        {
            let (path, file) = (printable_path(&trust.path), printable_path(file));
            let message = format!("there is no trust file {path}\n  named by `trust` in {file}");
            Err(CommandError::plain(Category::NotFound, message)
                .advising("`tfoci mirror --pin-new` creates it, with the keys that it sees"))
        }
        (trust, _) => Ok(trust),
    }
}

/// The platforms that `--platform` names; without any, that of this machine.
pub(in crate::cli) fn platforms(texts: &[String]) -> Result<Platforms, CommandError> {
    if texts.iter().any(|text| text == "all") {
        return Ok(Platforms::All);
    }
    let mut platforms = texts
        .iter()
        .map(|text| text.parse())
        .collect::<Result<Vec<Platform>, _>>()?;
    if platforms.is_empty() {
        platforms.push(Platform::current());
    }
    platforms.sort();
    platforms.dedup();
    Ok(Platforms::Only(platforms))
}

/// Reads lock files. In a directory, this is its `.terraform.lock.hcl`.
pub(in crate::cli) fn locks(paths: &[PathBuf], printer: &Printer) -> Result<Locks, CommandError> {
    let mut locks = Locks::default();
    for path in paths {
        let directory = path.is_dir().then(|| path.clone());
        let path = match &directory {
            Some(directory) => directory.join(FILE_NAME),
            None => path.clone(),
        };
        if let Some(directory) = directory.filter(|_| !path.exists()) {
            let directory = printable_path(&directory);
            let message = format!(
                "no lock file is in {directory}\n  expected .terraform.lock.hcl\n  named by --from-lock"
            );
            return Err(CommandError::plain(Category::NotFound, message)
                .advising(format!("`tfoci lock --chdir {directory}` writes it")));
        }
        let file = LockFile::parse(&read(&path, "--from-lock")?).map_err(|source| {
            CommandError::LockFile {
                path: path.clone(),
                source: Box::new(source),
            }
        })?;
        if file.entries.is_empty() {
            let text = format!("{} locks no provider", printable_path(&path));
            printer.warning(&text);
        }
        locks.add(&path, file);
    }
    Ok(locks)
}

/// Checks that the directory that an option names is there.
pub(in crate::cli) fn directory(path: &Path, named_by: &str) -> Result<(), CommandError> {
    let found = std::fs::metadata(path);
    found.map(drop).map_err(|error| {
        let error = disk::Error::at(disk::Action::Read, path, error);
        CommandError::file(error, named_by)
    })
}
