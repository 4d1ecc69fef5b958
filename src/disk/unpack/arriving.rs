//! Unpacks a zip while it arrives.

use std::io::{self, BufRead, Write as _};
use std::path::Path;

use super::{Error, create, directories, empty_directory, mode, set_mode, split};
use crate::archive::{Arrived, EntryType, Hashes, Stop, Stream};
use crate::disk::{self, Directory};

/// Unpacks a package while it arrives, with the result of [`unpack`](super::unpack). `None` if it has to be unpacked from a file.
///
/// `into` is an empty hidden directory; unless this returns hashes, it contains unverified files.
///
/// # Errors
/// As [`unpack`](super::unpack), and as [`Archive::open`](crate::archive::Archive::open).
pub fn unpack_arriving<R: BufRead>(
    stream: Stream<R>,
    type_name: &str,
    into: &Path,
) -> Result<Option<Hashes>, Error> {
    let into = empty_directory(into)?;
    match unpacked(stream, type_name, &into) {
        Ok(hashes) => Ok(Some(hashes)),
        Err(Halt::Unsuited) => Ok(None),
        Err(Halt::Failed(error)) => Err(error),
    }
}

/// Why unpacking ended.
enum Halt {
    Unsuited,
    Failed(Error),
}

impl From<Stop> for Halt {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Unsuited => Self::Unsuited,
            Stop::Refused(error) => Self::Failed(error.into()),
        }
    }
}

impl From<disk::Error> for Halt {
    fn from(error: disk::Error) -> Self {
        let is_taken = match &error {
            disk::Error::NotDirectory { .. } => true,
            disk::Error::Io { source, .. } => matches!(
                source.kind(),
                io::ErrorKind::AlreadyExists
                    | io::ErrorKind::NotADirectory
                    | io::ErrorKind::IsADirectory
            ),
            _ => false,
        };
        match is_taken {
            // Two entries have one name. The zip says how they differ once it has arrived.
            true => Self::Unsuited,
            false => Self::Failed(error.into()),
        }
    }
}

fn unpacked<R: BufRead>(
    mut stream: Stream<R>,
    type_name: &str,
    into: &Directory,
) -> Result<Hashes, Halt> {
    while let Some((name, kind)) = stream.next_entry()? {
        let name = name.to_owned();
        match kind {
            EntryType::Directory => drop(directories(into, &name)?),
            EntryType::File => write(into, &name, &mut stream)?,
        }
    }
    let Arrived { archive, hashes } = stream.finish()?;
    let executable = archive.executable(type_name).map_err(Stop::Refused)?.name();
    for entry in archive.entries() {
        if entry.kind() == EntryType::File {
            allow(into, entry.name(), mode(entry, entry.name() == executable))?;
        }
    }
    Ok(hashes)
}

fn write<R: BufRead>(into: &Directory, name: &str, stream: &mut Stream<R>) -> Result<(), Halt> {
    let mut file = create(into, name)?;
    while let Some(chunk) = stream.chunk()? {
        let written = file.write_all(chunk);
        written.map_err(|error| disk::Error::at("write", &into.path().join(name), error))?;
    }
    Ok(())
}

/// Sets the mode of a file, which stands only in the central directory.
fn allow(into: &Directory, name: &str, mode: u32) -> Result<(), disk::Error> {
    let (parent, file_name) = split(name);
    let directory = directories(into, parent)?;
    let file = directory.as_ref().unwrap_or(into).read(file_name)?;
    let allowed = set_mode(&file, mode);
    allowed.map_err(|error| disk::Error::at("write", &into.path().join(name), error))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::super::unpack;
    use super::*;
    use crate::archive::hostile::cases;
    use crate::archive::pieces::{Pieces, any_file, squeezed};
    use crate::archive::zipfile::{EXECUTABLE, File, directory, executable, file, zip};
    use crate::archive::{Archive, Limits};

    /// What is below a directory: paths, modes and contents.
    type Tree = BTreeMap<String, (u32, Option<Vec<u8>>)>;

    fn add(directory: &Path, prefix: &str, tree: &mut Tree) {
        for entry in fs::read_dir(directory).unwrap() {
            let (path, name) = {
                let entry = entry.unwrap();
                (entry.path(), entry.file_name().into_string().unwrap())
            };
            let name = format!("{prefix}{name}");
            let found = fs::symlink_metadata(&path).unwrap();
            #[cfg(unix)]
            let mode = std::os::unix::fs::PermissionsExt::mode(&found.permissions());
            #[cfg(not(unix))]
            let mode = 0;
            let content = found.is_file().then(|| fs::read(&path).unwrap());
            if found.is_dir() {
                add(&path, &format!("{name}/"), tree);
            }
            tree.insert(name, (mode, content));
        }
    }

    /// Unpacks into `x/into` in a temporary directory, which must have nothing else afterwards.
    fn made(work: impl FnOnce(&Path) -> Result<Option<Hashes>, Error>) -> Made {
        let scene = tempfile::tempdir().unwrap();
        let into = scene.path().join("x/into");
        fs::create_dir_all(&into).unwrap();
        let hashes = work(&into);
        let mut tree = Tree::new();
        add(&into, "", &mut tree);
        let mut all = Tree::new();
        add(scene.path(), "", &mut all);
        assert_eq!(all.len(), tree.len() + 2);
        hashes.map(|hashes| hashes.map(|hashes| (hashes, tree)))
    }

    type Made = Result<Option<(Hashes, Tree)>, Error>;

    fn by_file(zip: &[u8]) -> Made {
        made(|into| {
            let mut archive = Archive::open(Cursor::new(zip), &Limits::default())?;
            unpack(&mut archive, "demo", into).map(Some)
        })
    }

    fn by_stream(zip: &[u8], size: usize) -> Made {
        made(|into| {
            let pieces = Pieces::of(zip, &[size]);
            let stream = Stream::new(pieces, zip.len() as u64, &Limits::default());
            unpack_arriving(stream, "demo", into)
        })
    }

    /// Compares both ways. Returns whether the zip was unpacked while it arrived.
    #[track_caller]
    fn compare(label: &str, zip: &[u8], size: usize) -> bool {
        match (by_stream(zip, size), by_file(zip)) {
            (Ok(None), _) => false,
            (Ok(arrived), Ok(opened)) => {
                assert!(arrived == opened, "{label}");
                true
            }
            (Err(error), Err(expected)) => {
                assert_eq!(error.to_string(), expected.to_string(), "{label}");
                false
            }
            (Ok(_), Err(error)) | (Err(error), Ok(_)) => panic!("{label}: {error}"),
        }
    }

    #[test]
    fn the_tree_is_that_of_a_file() {
        let script = |mode| squeezed("docs/script", b"#!").mode(mode);
        for (label, files) in [
            (
                "modes",
                vec![
                    executable(),
                    script(0o100755),
                    file("none", "").mode(0o100000),
                ],
            ),
            (
                "dangerous modes",
                vec![executable().mode(0o106777), script(0o100070)],
            ),
            (
                "no modes",
                vec![executable().without_mode(), script(0).without_mode()],
            ),
            (
                "directories",
                vec![
                    directory("docs/"),
                    directory("a/b/").mode(0o041777),
                    script(0o100644),
                    executable(),
                ],
            ),
            (
                "descriptors",
                vec![script(0o100700).streamed(), executable()],
            ),
            (
                "two executables",
                vec![
                    file("terraform-provider-demo", "").without_mode(),
                    executable().without_mode(),
                ],
            ),
        ] {
            assert!(compare(label, &zip(files), 99), "{label}");
        }
    }

    #[test]
    fn hostile_zips_are_refused_with_their_sentence_or_left_to_the_file() {
        let mut refused = 0;
        for case in cases() {
            assert!(!compare(case.label, &case.zip, 33), "{}", case.label);
            refused += usize::from(by_stream(&case.zip, 33).is_err());
        }
        // Of the others, nothing is known before the file is there.
        assert!(refused >= 30, "{refused}");
    }

    #[test]
    fn what_only_the_directory_tells_is_told_before_anything_is_returned() {
        let link = |mode| zip([executable(), squeezed("x", b"/etc/passwd").mode(mode)]);
        for (label, zip, said) in [
            (
                "link",
                link(0o120777),
                Some("the entry `x` is a symbolic link"),
            ),
            (
                "device",
                link(0o060666),
                Some("the entry `x` is a special file"),
            ),
            (
                "twice",
                zip([executable(), file("x", "1"), file("x", "2")]),
                None,
            ),
            (
                "below a file",
                zip([executable(), file("x", "1"), file("x/y", "2")]),
                None,
            ),
            (
                "above a file",
                zip([executable(), file("x/y", "1"), file("x", "2")]),
                None,
            ),
            (
                "case",
                zip([executable(), file("X", "1"), file("x", "2")]),
                Some("`X`"),
            ),
            ("no executable", zip([file("x", "1")]), Some("executable")),
        ] {
            let received = by_stream(&zip, 5).map(|made| assert!(made.is_none(), "{label}"));
            let received = received.err().map(|error| error.to_string());
            match (&received, said) {
                (Some(received), Some(said)) => assert!(received.contains(said), "{received}"),
                _ => assert_eq!((received, said), (None, None), "{label}"),
            }
        }
    }

    #[test]
    fn a_directory_with_something_in_it_is_left_alone() {
        let scene = tempfile::tempdir().unwrap();
        let there = scene.path().join(EXECUTABLE);
        fs::write(&there, "mine").unwrap();
        let zip = zip([executable()]);
        let stream = Stream::new(Cursor::new(&zip), zip.len() as u64, &Limits::default());
        let error = unpack_arriving(stream, "demo", scene.path()).unwrap_err();
        assert!(matches!(error, Error::Disk(disk::Error::Io { .. })));
        assert_eq!(fs::read(there).unwrap(), b"mine");
    }

    proptest! {
        #[test]
        fn both_ways_make_the_same_tree(
            files in prop::collection::vec(any_file(), 0..5),
            size in 1..50_000usize,
        ) {
            let bytes = zip(files.into_iter().chain([executable()]));
            let is_sound = by_file(&bytes).is_ok();
            prop_assert_eq!(compare("generated", &bytes, size), is_sound);
        }

        #[test]
        fn names_of_any_kind_stay_inside(names in prop::collection::vec("[a./\\\\A]{1,6}", 1..4)) {
            let files = names.iter().map(|name| file(name, "x"));
            let files: Vec<File> = files.chain([executable()]).collect();
            compare("names", &zip(files), 20);
        }
    }
}
