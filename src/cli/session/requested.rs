//! Which providers are requested, and which of their versions: by addresses, mirror files, lock files and configurations.

use std::path::{Path, PathBuf};

use tfoci::address::Hostname;
use tfoci::config::{MirrorEntry, MirrorFile};
use tfoci::configuration::{ReadAs, Requirements};
use tfoci::constraint::VersionConstraints;
use tfoci::disk;
use tfoci::error::{Category, printable, printable_path};
use tfoci::lockfile::{Client, FILE_NAME, LockFile};
use tfoci::mirror::{Locks, VersionFilter};
use tfoci::platform::{Platform, Platforms};
use tfoci::selection::Selection;

use super::{Session, data_directory, decode, read};
use crate::cli::error::CommandError;
use crate::cli::printer::Printer;

/// The provider that an argument names.
pub(in crate::cli) fn named(text: &str, session: &Session) -> Result<MirrorEntry, CommandError> {
    let Selection {
        provider,
        constraints,
    } = session.selection(text)?;
    Ok(MirrorEntry::of(provider, constraints))
}

/// The versions that are locked.
pub(in crate::cli) fn locked(locks: &Locks) -> impl Iterator<Item = MirrorEntry> {
    locks.versions().map(|(provider, version)| {
        let constraints = VersionConstraints::exactly(version.clone());
        MirrorEntry::of(provider.clone(), constraints)
    })
}

/// The providers that a configuration requires, each in the version that `init` would select.
pub(in crate::cli) fn required(
    root: &Path,
    session: &Session,
) -> Result<impl Iterator<Item = MirrorEntry>, CommandError> {
    let read_as = read_as(None, session.default_host().clone());
    let required = Requirements::read(root, &read_as)?;
    for module in &required.not_followed {
        let (root, module) = (printable_path(root), printable(module));
        let line = format!("{root}: the module {module} is not on this disk");
        session.printer.warning(&line);
    }
    let providers = required.providers.into_iter();
    Ok(providers.map(|(provider, constraints)| MirrorEntry {
        newest: Some(1),
        ..MirrorEntry::of(provider, constraints)
    }))
}

/// How a configuration is read: as its client does in this environment.
pub(in crate::cli) fn read_as(client: Option<Client>, default_host: Hostname) -> ReadAs {
    ReadAs {
        client,
        default_host,
        data: data_directory(),
    }
}

/// The versions that an entry selects: without constraints, the newest release.
pub(in crate::cli) fn filter(entry: &MirrorEntry) -> VersionFilter {
    let is_any = entry.constraints.is_any();
    VersionFilter {
        min_age: entry.min_age,
        is_named: entry.constraints.as_exact().is_some(),
        versions: entry.constraints.clone(),
        newest: entry.newest.or(is_any.then_some(1)),
        prereleases: entry.prereleases,
        platforms: entry.platforms.clone(),
    }
}

/// The mirror file that an option names, if it does.
pub(in crate::cli) fn mirror_file_if(
    path: Option<&Path>,
    named_by: &str,
) -> Result<Option<MirrorFile>, CommandError> {
    path.map(|path| mirror_file(path, named_by)).transpose()
}

/// Reads a mirror file. If it is not one, no text of it is shown unless an option names it: `tfoci.toml` may name a file with passwords.
/// The path of its trust file becomes relative to the working directory.
pub(in crate::cli) fn mirror_file(path: &Path, named_by: &str) -> Result<MirrorFile, CommandError> {
    let bytes = read(path, named_by)?;
    let mut file = MirrorFile::parse(decode(path, &bytes, named_by)?).map_err(|source| {
        let shown = match named_by {
            "--file" => source,
            _ => source.without_text(),
        };
        CommandError::not_a("a mirror file", path, shown)
    })?;
    // A pipe is in no directory of the user: its paths are relative to the working directory.
    let beside = path.parent().filter(|_| !path.starts_with("/dev"));
    let beside = beside.unwrap_or(Path::new(""));
    file.trust = file.trust.map(|trust| beside.join(trust));
    if let Some(key) = file.attest.as_mut().and_then(|attest| attest.key.as_mut()) {
        *key = beside.join(&key);
    }
    Ok(file)
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
    Ok(Platforms::only(platforms))
}

/// Reads lock files. In a directory, this is its `.terraform.lock.hcl`.
pub(in crate::cli) fn locks(paths: &[PathBuf], printer: &Printer) -> Result<Locks, CommandError> {
    let mut locks = Locks::default();
    for path in paths {
        let path = match path.is_dir() {
            true => path.join(FILE_NAME),
            false => path.clone(),
        };
        let file = LockFile::parse(&read(&path, "--from-lock")?)
            .map_err(|source| CommandError::not_a("a lock file", &path, source))?;
        if file.entries.is_empty() {
            let text = format!("{} locks no provider", printable_path(&path));
            printer.warning(&text);
        }
        locks.add(file);
    }
    Ok(locks)
}

/// The directories at and below `above` that have a lock file. Hidden ones are left out, and no link is followed.
pub(in crate::cli) fn locked_below(
    above: &Path,
    named_by: &str,
) -> Result<Vec<PathBuf>, CommandError> {
    let (mut pending, mut locked) = (vec![above.to_owned()], Vec::new());
    while let Some(directory) = pending.pop() {
        let unread = |error| {
            let error = disk::Error::at("list", &directory, error);
            CommandError::file(error, named_by)
        };
        for entry in std::fs::read_dir(&directory).map_err(unread)? {
            let entry = entry.map_err(unread)?;
            let name = entry.file_name();
            let is_directory = entry.file_type().map_err(unread)?.is_dir();
            if is_directory && !name.as_encoded_bytes().starts_with(b".") {
                pending.push(entry.path());
            }
            if name == FILE_NAME {
                locked.push(directory.clone());
            }
        }
    }
    locked.sort();
    if locked.is_empty() {
        let message = format!("no lock file is in {} or below it", printable_path(above));
        return Err(CommandError::plain(Category::NotFound, message));
    }
    Ok(locked)
}

/// Reads the lock files at and below these directories. One that is missing or cannot be read is a mistake in the arguments, because its versions
/// would seem to be unused.
pub(in crate::cli) fn locks_below(
    directories: &[PathBuf],
    named_by: &str,
    printer: &Printer,
) -> Result<Locks, CommandError> {
    let mut paths = Vec::new();
    for directory in directories {
        let below = locked_below(directory, named_by);
        paths.extend(below.map_err(|error| CommandError::usage(error.to_string()))?);
    }
    locks(&paths, printer).map_err(|error| CommandError::usage(error.to_string()))
}
