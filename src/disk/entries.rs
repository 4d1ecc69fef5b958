//! Creates, lists, syncs and removes the entries of directories.

use std::path::Path;

use super::{Error, UNFINISHED, if_exists};

/// Creates a directory and its missing parents.
///
/// # Errors
/// The system reported an error.
pub fn create_directory(path: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(path).map_err(|source| Error::at("create", path, source))
}

/// Like [`create_directory`], and syncs the new directories, so that they survive a power failure.
///
/// # Errors
/// The system reported an error.
pub fn create_durable_directory(path: &Path) -> Result<(), Error> {
    let new: Vec<&Path> = path.ancestors().take_while(|at| is_absent(at)).collect();
    create_directory(path)?;
    new.into_iter()
        .try_for_each(|directory| sync_directory(directory_of(directory)))
}

/// Whether a path does not exist. The empty path is the working directory, which exists.
fn is_absent(path: &Path) -> bool {
    !path.as_os_str().is_empty() && !path.exists()
}

/// Creates a directory that only its owner may read, and its missing parents. Existing directories keep their modes.
///
/// # Errors
/// The system reported an error.
pub fn create_private_directory(path: &Path) -> Result<(), Error> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let created = builder.create(path);
    created.map_err(|source| Error::at("create", path, source))
}

/// The sorted names of a directory's entries. Names that are not UTF-8 are omitted, because neither tfoci nor clients create them.
///
/// # Errors
/// The system reported an error.
pub fn names(path: &Path) -> Result<Vec<String>, Error> {
    let mut left = usize::MAX;
    Ok(names_within(path, &mut left)?.unwrap_or_default())
}

/// As [`names`]; `None` if the directory has more than `left` entries. They are subtracted from `left`.
///
/// # Errors
/// The system reported an error.
pub fn names_within(path: &Path, left: &mut usize) -> Result<Option<Vec<String>>, Error> {
    let error = |source| Error::at("list", path, source);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(path).map_err(error)? {
        let entry = entry.map_err(error)?;
        let Some(rest) = left.checked_sub(1) else {
            return Ok(None);
        };
        *left = rest;
        names.extend(entry.file_name().into_string());
    }
    names.sort_unstable();
    Ok(Some(names))
}

/// The sorted names of the directories in a directory, without those that begin with a dot; none if it does not exist.
///
/// # Errors
/// The system reported an error.
pub fn subdirectories(path: &Path) -> Result<Vec<String>, Error> {
    let found = subdirectories_within(path, &mut { usize::MAX })?;
    Ok(found.unwrap_or_default())
}

/// As [`subdirectories`]; `None` if the directory has more than `left` entries of any kind. They are subtracted from `left`.
///
/// # Errors
/// The system reported an error.
pub fn subdirectories_within(path: &Path, left: &mut usize) -> Result<Option<Vec<String>>, Error> {
    let Some(mut names) = if_exists(names_within(path, left))?.unwrap_or(Some(Vec::new())) else {
        return Ok(None);
    };
    // A name that begins with a dot is that of an unfinished or hidden directory, which clients ignore too.
    names.retain(|name| !name.starts_with('.'));
    let mut directories = Vec::new();
    for name in names {
        let entry = path.join(&name);
        let found = std::fs::metadata(&entry).map_err(|source| Error::at("read", &entry, source));
        if if_exists(found)?.is_some_and(|found| found.is_dir()) {
            directories.push(name);
        }
    }
    Ok(Some(directories))
}

/// Whether a path exists. If a directory above it cannot be read, that is an error, and not a no.
///
/// # Errors
/// The system reported an error.
pub fn exists(path: &Path) -> Result<bool, Error> {
    let exists = path.try_exists();
    exists.map_err(|source| Error::at("read", path, source))
}

/// Refuses a path of directories below `root` in which one is a symbolic link. A stranger's link would lead writes out of `root`. The root
/// itself, which the user named, may be a link.
///
/// # Errors
/// [`Error::Link`].
pub fn refuse_links(root: &Path, below: &Path) -> Result<(), Error> {
    let mut path = root.to_owned();
    for name in below.components() {
        path.push(name);
        // A path that cannot be looked at cannot be written through either, and the write reports why.
        if std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink()) {
            return Err(Error::Link { path });
        }
    }
    Ok(())
}

/// Syncs a directory, so that its entries survive a power failure.
///
/// # Errors
/// The system reported an error.
pub fn sync_directory(path: &Path) -> Result<(), Error> {
    // Windows cannot open a directory for this, and does not need it.
    if cfg!(unix) {
        let sync = std::fs::File::open(path).and_then(|directory| directory.sync_all());
        sync.map_err(|source| Error::at("sync", path, source))?;
    }
    Ok(())
}

/// Removes the unfinished files of interrupted runs from a directory. The caller holds the lock on the directory.
///
/// # Errors
/// The system reported an error.
pub fn sweep(directory: &Path) -> Result<(), Error> {
    for name in if_exists(names(directory))?.unwrap_or_default() {
        if name.starts_with(UNFINISHED) {
            remove(&directory.join(name))?;
        }
    }
    Ok(())
}

/// Removes a file, or a directory with its content. The path need not exist.
///
/// # Errors
/// The system reported an error.
pub fn remove(path: &Path) -> Result<(), Error> {
    let removed = match std::fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
        Err(error) => Err(error),
    };
    if_exists(removed.map_err(|source| Error::at("remove", path, source))).map(|_| ())
}

/// The directory of a file: the working directory for a name without directory.
pub fn directory_of(target: &Path) -> &Path {
    let directory = target.parent().filter(|path| !path.as_os_str().is_empty());
    directory.unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_name_is_in_the_working_directory() {
        for (target, directory) in [
            ("file", "."),
            ("./file", "."),
            ("a/file", "a"),
            ("/file", "/"),
        ] {
            assert_eq!(directory_of(Path::new(target)), Path::new(directory));
        }
    }

    #[test]
    fn durable_directories_may_be_there_already() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a/b/c");
        for _ in 0..2 {
            create_durable_directory(&path).unwrap();
            assert!(path.is_dir());
        }
        create_durable_directory(Path::new("src")).unwrap();
        std::fs::write(directory.path().join("file"), b"").unwrap();
        assert!(create_durable_directory(&directory.path().join("file/a")).is_err());
    }

    #[test]
    fn sweeping_removes_only_what_is_unfinished() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join(format!("{UNFINISHED}x")), b"").unwrap();
        std::fs::create_dir(directory.path().join(format!("{UNFINISHED}dir"))).unwrap();
        std::fs::write(directory.path().join("kept"), b"").unwrap();
        sweep(directory.path()).unwrap();
        assert_eq!(names(directory.path()).unwrap(), ["kept"]);
    }
}
