//! Unpacks a provider zip into a directory, from a file or while it arrives.
//!
//! [`Archive::open`] has already refused every entry that could leave the directory or collide with another one. In addition, each file is
//! created with a call that fails if the name exists, so that no link is followed and no file overwritten even if another process writes to
//! the directory at the same time.
//!
//! [`Archive::open`]: crate::archive::Archive::open

use std::fs::{self, File};
use std::io::{self, BufRead, Write as _};
use std::path::Path;

use super::Directory;
use crate::archive::{self, EntryType, Hashes, Members, Stream, ZipEntry, executable};

/// The mode of files if the zip has no Unix modes.
const PLAIN: u32 = 0o644;
/// The mode of directories, and of the executable if the zip has no Unix modes.
const EXECUTABLE: u32 = 0o755;
/// The mode bits that files may have. It excludes setuid, setgid, sticky, and write permission for other users.
const ALLOWED: u32 = 0o755;
/// The mode bits that all files have, so that the owner can read and replace them.
const OWNER: u32 = 0o600;

/// Unpacks a package and returns both of its `h1` hashes, computed while the files are written.
///
/// `into` is an empty hidden directory; after an error, it contains unverified files. `type_name` determines the executable ([clients:
/// extraction](crate::clients#extraction)).
///
/// # Errors
/// The zip is refused, or has no executable; or the directory is not empty, or cannot be written to.
pub fn unpack(mut members: impl Members, type_name: &str, into: &Path) -> Result<Hashes, Error> {
    let into = empty_directory(into)?;
    while let Some((name, kind)) = members.next_entry()? {
        let name = name.to_owned();
        if kind == EntryType::Directory {
            directories(&into, &name)?;
            continue;
        }
        let mut file = create(&into, &name)?;
        while let Some(chunk) = members.chunk()? {
            let written = file.write_all(chunk);
            written.map_err(|error| super::Error::at("write", &into.path().join(&name), error))?;
        }
    }
    let (entries, hashes) = members.finish()?;
    let executable = executable(&entries, type_name)?.name();
    for entry in &entries {
        if entry.kind() == EntryType::File {
            allow(&into, entry, entry.name() == executable)?;
        }
    }
    Ok(hashes)
}

/// Unpacks a package while it arrives. `None` if it has to be unpacked from a file.
///
/// # Errors
/// As [`unpack`].
pub fn unpack_arriving<R: BufRead>(
    stream: Stream<R>,
    type_name: &str,
    into: &Path,
) -> Result<Option<Hashes>, Error> {
    let is_taken = |error: &super::Error| match error {
        super::Error::NotDirectory { .. } => true,
        super::Error::Io { source, .. } => matches!(
            source.kind(),
            io::ErrorKind::AlreadyExists
                | io::ErrorKind::NotADirectory
                | io::ErrorKind::IsADirectory
        ),
        _ => false,
    };
    match unpack(stream, type_name, into) {
        Err(Error::Archive(archive::Error::Unsuited)) => Ok(None),
        // Two entries have one name. The zip says how they differ once it has arrived.
        Err(Error::Disk(error)) if is_taken(&error) => Ok(None),
        unpacked => unpacked.map(Some),
    }
}

/// Opens a directory that must be empty.
fn empty_directory(path: &Path) -> Result<Directory, super::Error> {
    let opened = || {
        // Another user may have replaced it by a link.
        let directory = Directory::open_itself(path)?;
        match fs::read_dir(path)?.next() {
            None => Ok(directory),
            Some(_) => Err(io::ErrorKind::DirectoryNotEmpty.into()),
        }
    };
    opened().map_err(|error| super::Error::at("read", path, error))
}

/// Sets the mode of a file, which stands only in the central directory.
fn allow(into: &Directory, entry: &ZipEntry, is_executable: bool) -> Result<(), super::Error> {
    let mode = match entry.mode() {
        Some(mode) => mode & ALLOWED | OWNER,
        None if is_executable => EXECUTABLE,
        None => PLAIN,
    };
    let (parent, file_name) = split(entry.name());
    let directory = directories(into, parent)?;
    let file = directory.as_ref().unwrap_or(into).read(file_name)?;
    let allowed = set_mode(&file, mode);
    allowed.map_err(|error| super::Error::at("write", &into.path().join(entry.name()), error))
}

/// Creates a file that only its owner may use, and its directories.
fn create(into: &Directory, name: &str) -> Result<File, super::Error> {
    let (parent, file_name) = split(name);
    let directory = directories(into, parent)?;
    let created = directory.as_ref().unwrap_or(into).create(file_name);
    created.map_err(|error| super::Error::at("write", &into.path().join(name), error))
}

/// The parent directory of an entry, and the name in it.
fn split(name: &str) -> (&str, &str) {
    name.rsplit_once('/').unwrap_or(("", name))
}

/// Creates the directories of a path with forward slashes, and returns the innermost one; `None` for an empty path.
fn directories(into: &Directory, path: &str) -> Result<Option<Directory>, super::Error> {
    let mut last: Option<Directory> = None;
    for element in path.split('/').filter(|element| !element.is_empty()) {
        let above = last.as_ref().unwrap_or(into);
        let failed = |error| super::Error::at("create", &above.path().join(element), error);
        let (directory, is_new) = above.enter_or_create(element).map_err(failed)?;
        if is_new {
            directory.set_mode(EXECUTABLE).map_err(failed)?;
        }
        last = Some(directory);
    }
    Ok(last)
}

// Set after creation, because the umask would change a mode that is given at creation.
#[cfg(unix)]
fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_: &File, _: u32) -> io::Result<()> {
    Ok(())
}

/// Gives a copy the mode of its original, as far as files of packages may have it.
#[cfg(unix)]
pub(super) fn copy_mode(original: &File, copy: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = original.metadata()?.permissions().mode();
    set_mode(copy, mode & ALLOWED | OWNER)
}

#[cfg(not(unix))]
pub(super) fn copy_mode(_: &File, _: &File) -> io::Result<()> {
    Ok(())
}

/// An error that prevented unpacking.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The package is not a valid archive.
    #[error(transparent)]
    Archive(#[from] archive::Error),
    /// The system reported an error.
    #[error(transparent)]
    Disk(#[from] super::Error),
}

#[cfg(test)]
mod arriving_tests;
#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::hostile::cases;
    use crate::archive::zipfile::{EXECUTABLE, directory, executable, file, zip};
    use crate::archive::{Archive, Limits};
    use crate::disk::directory_h1;
    use crate::error::Category;
    use proptest::prelude::*;
    use std::io::Cursor;

    /// Unpacks into `x/into` in a temporary directory, which must contain nothing else afterwards.
    fn unpacked(zip: &[u8]) -> (tempfile::TempDir, Result<Hashes, Error>) {
        let directory = tempfile::tempdir().unwrap();
        let into = directory.path().join("x/into");
        fs::create_dir_all(&into).unwrap();
        let result = Archive::open(Cursor::new(zip), &Limits::default())
            .map_err(Error::from)
            .and_then(|mut archive| unpack(archive.members(), "demo", &into));
        for (path, only) in [
            (directory.path().to_owned(), "x"),
            (directory.path().join("x"), "into"),
        ] {
            let names: Vec<_> = fs::read_dir(path)
                .unwrap()
                .map(|e| e.unwrap().file_name())
                .collect();
            assert_eq!(names, [only]);
        }
        if let Ok(hashes) = &result {
            let h1 = directory_h1(&into, &Limits::default()).unwrap();
            assert_eq!(h1, hashes.directory);
        }
        (directory, result)
    }

    /// `TFOCI_BLESS=1` writes the file anew. Then read the difference.
    #[test]
    fn each_hostile_zip_is_refused_with_its_sentence() {
        let mut said = String::new();
        for case in cases() {
            let error = unpacked(&case.zip).1.expect_err(case.label);
            let text = error.to_string();
            said += &format!("{}: {}\n", case.label, text.lines().next().unwrap());
            assert!(text.lines().skip(1).all(|line| line.starts_with("  ")));
            let Error::Archive(error) = error else {
                panic!("{text}");
            };
            let is_untrusted = error.category() == Category::Untrusted;
            let exit = if is_untrusted { 3 } else { 1 };
            assert_eq!(exit, case.exit, "{}", case.label);
        }
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/hostile.txt");
        if std::env::var_os("TFOCI_BLESS").is_some() {
            fs::write(&file, &said).unwrap();
        }
        assert_eq!(said, fs::read_to_string(&file).unwrap());
    }

    #[test]
    fn the_contents_arrive() {
        let page = file("docs/a/x.md", "x\n").deflated().streamed();
        let bytes = zip([directory("empty/"), executable(), page]);
        let (directory, hashes) = unpacked(&bytes);
        let into = directory.path().join("x/into");
        assert_eq!(fs::read(into.join(EXECUTABLE)).unwrap(), b"hello\n");
        assert_eq!(fs::read(into.join("docs/a/x.md")).unwrap(), b"x\n");
        assert!(into.join("empty").is_dir());
        let hashes = hashes.unwrap();
        assert_ne!(hashes.zip, hashes.directory);
        let mut archive = Archive::open(Cursor::new(&bytes), &Limits::default()).unwrap();
        assert_eq!(archive.hashes().unwrap(), hashes);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_a_directory_is_not_followed() {
        let scene = tempfile::tempdir().unwrap();
        let (elsewhere, link) = (scene.path().join("elsewhere"), scene.path().join("link"));
        fs::create_dir(&elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &link).unwrap();
        let bytes = zip([executable()]);
        let mut archive = Archive::open(Cursor::new(&bytes), &Limits::default()).unwrap();
        let error = unpack(archive.members(), "demo", &link).unwrap_err();
        assert!(matches!(error, Error::Disk(_)));
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn modes_are_kept_but_for_the_dangerous_bits() {
        use std::os::unix::fs::PermissionsExt;
        let (directory, result) = unpacked(&zip([
            executable().mode(0o106777),
            file("none", "").mode(0o100000),
            file("closed", "").mode(0o100070),
            file("script", "").mode(0o100775),
            directory("open/").mode(0o041777),
        ]));
        result.unwrap();
        let mode = |name: &str| {
            let path = directory.path().join("x/into").join(name);
            fs::metadata(path).unwrap().permissions().mode() & 0o7777
        };
        assert_eq!(mode(EXECUTABLE), 0o755);
        assert_eq!(mode("none"), 0o644);
        assert_eq!(mode("closed"), 0o650);
        assert_eq!(mode("script"), 0o755);
        assert_eq!(mode("open"), 0o755);
    }

    #[cfg(unix)]
    #[test]
    fn an_executable_without_mode_can_be_run() {
        use std::os::unix::fs::PermissionsExt;
        let (directory, result) = unpacked(&zip([
            executable().without_mode(),
            file("LICENSE", "").without_mode(),
        ]));
        result.unwrap();
        let mode = |name: &str| {
            let path = directory.path().join("x/into").join(name);
            fs::metadata(path).unwrap().permissions().mode() & 0o7777
        };
        assert_eq!((mode(EXECUTABLE), mode("LICENSE")), (0o755, 0o644));
    }

    #[test]
    fn a_directory_with_something_in_it_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join(EXECUTABLE), "mine").unwrap();
        let bytes = zip([executable()]);
        let mut archive = Archive::open(Cursor::new(&bytes), &Limits::default()).unwrap();
        let error = unpack(archive.members(), "demo", directory.path()).unwrap_err();
        assert!(matches!(error, Error::Disk(_)));
        assert_eq!(
            fs::read(directory.path().join(EXECUTABLE)).unwrap(),
            b"mine"
        );
    }

    proptest! {
        /// `unpacked` checks that no file is written elsewhere, and that the `h1` of the directory is the computed one.
        #[test]
        fn names_of_any_kind_stay_inside(names in prop::collection::vec("[a./\\\\A]{1,6}", 1..4)) {
            let files = names.iter().map(|name| file(name, "x"));
            let _ = unpacked(&zip(files.chain([executable()])));
        }

        #[test]
        fn changed_zips_stay_inside(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
            let mut bytes = zip([executable().deflated(), directory("docs/"), file("docs/x.md", "x\n")]);
            for (at, value) in changes {
                let at = at.index(bytes.len());
                bytes[at] = value;
            }
            let _ = unpacked(&bytes);
        }
    }
}
