//! Provider zips: untrusted archives, accepted only if every reader sees the same files in them.
//!
//! A zip describes each entry twice, in its central directory and in a local header before the data, and readers differ in which one they
//! use. [`Archive::open`] reads both. It accepts a zip only if they agree and nothing in it is hostile: no name that leaves the directory
//! or collides with another, no link, no overlap, no more entries or bytes than the limits. It decompresses nothing. [`Archive::read`] then
//! passes on the contents, limited by the announced sizes, and [`Archive::hashes`] computes both package hashes.
//!
//! | part | what it checks or does |
//! | --- | --- |
//! | `end` | the position of the central directory |
//! | `directory` | the entries, with method, sizes and mode |
//! | `extra` | 64-bit sizes, and second names |
//! | `name` | that names are safe as file names |
//! | `collision` | that no two names are the same file on some file system |
//! | `local` | that local headers agree, and the positions of the data |
//! | [`Content`] | decompression, with size and checksum |
//! | [`Frame`] | the end of a zip that is streamed |
//!
//! Clients are more lenient ([clients: extraction](crate::clients#extraction)): they write links as text and use the last of two entries
//! with one name. tfoci refuses such zips, because clients on different systems would unpack them differently.

mod collision;
mod content;
mod directory;
mod end;
mod entry;
mod error;
mod extra;
mod fault;
mod fields;
mod frame;
mod limits;
mod local;
mod name;

#[cfg(test)]
#[path = "../../tests/support/zipfile.rs"]
pub(crate) mod zipfile;

#[cfg(test)]
#[path = "../../tests/support/hostile.rs"]
pub(crate) mod hostile;

use std::io::{Read, Seek, SeekFrom};

pub use content::Content;
pub use entry::{EntryType, ZipEntry};
pub use error::{Error, Field};
pub use fault::Fault;
pub use frame::Frame;
pub use limits::Limits;

use crate::hash::{Contents, PackageHash};

/// Both forms of the hash of a package's contents ([clients: package hashes](crate::clients#package-hashes)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hashes {
    /// `h1` of the zip, which includes directory entries.
    pub zip: PackageHash,
    /// `h1` of the unpacked directory, which omits directory entries.
    pub directory: PackageHash,
}

/// A zip whose structure is valid.
#[derive(Debug)]
pub struct Archive<R> {
    reader: R,
    entries: Vec<ZipEntry>,
}

impl<R: Read + Seek> Archive<R> {
    /// Reads and checks everything except the contents.
    ///
    /// # Errors
    /// The zip cannot be read or is refused: see [`Error`].
    pub fn open(mut reader: R, limits: &Limits) -> Result<Self, Error> {
        let length = reader.seek(SeekFrom::End(0))?;
        let end = end::find(&mut reader, length)?;
        let records = directory::read(&mut reader, &end, limits)?;
        collision::distinct(records.iter().map(|r| (r.name.as_str(), r.kind)))?;
        limits.allow(&records, length)?;
        let data = local::locate(&mut reader, &records, end.offset)?;
        let entries = records.into_iter().zip(data);
        Ok(Self {
            reader,
            entries: entries
                .map(|(record, data)| ZipEntry { record, data })
                .collect(),
        })
    }

    /// The entries, in the order of the central directory.
    pub fn entries(&self) -> &[ZipEntry] {
        &self.entries
    }

    /// Whether directories have their own entries. Then the two `h1` of the package differ, which clients do not expect ([clients:
    /// package hashes](crate::clients#package-hashes)).
    pub fn has_directory_entries(&self) -> bool {
        self.entries
            .iter()
            .any(|e| e.kind() == EntryType::Directory)
    }

    /// The file that clients execute: a top-level file named `terraform-provider-TYPE`, optionally followed by `_` or `.` and more. If
    /// there are several, the first in lexical order ([clients: extraction](crate::clients#extraction)).
    ///
    /// # Errors
    /// [`Error::NoExecutable`].
    pub fn executable(&self, type_name: &str) -> Result<&ZipEntry, Error> {
        let expected = format!("terraform-provider-{type_name}");
        let matches = |name: &str| {
            name.strip_prefix(&expected)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '.']))
                && !name.contains('/')
        };
        self.entries
            .iter()
            .filter(|entry| entry.kind() == EntryType::File && matches(entry.name()))
            .min_by_key(|entry| entry.name())
            .ok_or(Error::NoExecutable { expected })
    }

    /// Passes the content of every entry to `visit`, in order. If `visit` does not read all of it, the rest is read and verified
    /// afterwards.
    ///
    /// # Errors
    /// An error of `visit` or of [`Content::chunk`].
    pub fn read<E: From<Error>>(
        &mut self,
        mut visit: impl FnMut(&ZipEntry, &mut Content<'_, R>) -> Result<(), E>,
    ) -> Result<Hashes, E> {
        let (mut zip, mut directory) = (Contents::new(), Contents::new());
        for entry in &self.entries {
            self.reader
                .seek(SeekFrom::Start(entry.data))
                .map_err(Error::from)?;
            let mut content = Content::new(&mut self.reader, &entry.record);
            visit(entry, &mut content)?;
            let sha256 = content.sha256()?;
            zip.add(entry.name().as_bytes(), sha256);
            if entry.kind() == EntryType::File {
                directory.add(entry.name().as_bytes(), sha256);
            }
        }
        Ok(Hashes {
            zip: zip.h1().map_err(Error::from)?,
            directory: directory.h1().map_err(Error::from)?,
        })
    }

    /// Both `h1` of the package, computed without unpacking it.
    ///
    /// # Errors
    /// The errors of [`Content::chunk`].
    pub fn hashes(&mut self) -> Result<Hashes, Error> {
        self.read(|_, _| Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::zipfile::{EXECUTABLE, directory, executable, file, with, zip};
    use super::*;
    use proptest::prelude::*;
    use std::io::{Cursor, Write};

    fn open(bytes: &[u8]) -> Result<Archive<Cursor<&[u8]>>, Error> {
        Archive::open(Cursor::new(bytes), &Limits::default())
    }

    fn hashes(bytes: &[u8]) -> (String, String) {
        let hashes = open(bytes).unwrap().hashes().unwrap();
        (hashes.zip.to_string(), hashes.directory.to_string())
    }

    const TWO: &str = "h1:mIYLZGu7edyL1Yh6y7aWNAFymkLMcuyVVTSpSMDKY8I=";
    const THREE: &str = "h1:fiPMXADwgsEsEA6knh+GTDhklBhZ4OjtQ6uyqCOCshU=";
    const WITH_DIRECTORY: &str = "h1:mHiZzsdCBTPj5JPV87fjr/f9PXRly3FIqzfjMkmImpA=";

    fn license() -> zipfile::File {
        file("LICENSE", "demo license\n")
    }

    #[test]
    fn h1_of_the_vectors_of_clients() {
        let page = file("docs/x.md", "x\n");
        let two = zip([executable(), license()]);
        assert_eq!(hashes(&two), (TWO.to_owned(), TWO.to_owned()));
        let three = zip([executable(), page.clone(), license()]);
        assert_eq!(hashes(&three), (THREE.to_owned(), THREE.to_owned()));
        assert!(!open(&three).unwrap().has_directory_entries());
        let four = zip([directory("docs/"), executable(), license(), page]);
        assert_eq!(hashes(&four), (WITH_DIRECTORY.to_owned(), THREE.to_owned()));
        assert!(open(&four).unwrap().has_directory_entries());
    }

    #[test]
    fn every_honest_way_to_write_a_zip_is_read() {
        let two = [executable(), license()];
        let each = |change: fn(zipfile::File) -> zipfile::File| zip(two.clone().map(change));
        for (label, bytes) in [
            ("deflated", each(|f| f.deflated())),
            ("streamed", each(|f| f.streamed())),
            ("streamed and deflated", each(|f| f.deflated().streamed())),
            ("without modes", each(|f| f.without_mode())),
            ("64-bit sizes", each(|f| f.wide())),
            ("64-bit end", with(two.clone(), |zip| zip.wide = true)),
            (
                "comment",
                with(two.clone(), |zip| zip.comment = vec![b'x'; 0xffff]),
            ),
            (
                "stub with true offsets",
                with(two.clone(), |zip| zip.before = vec![b'#'; 99]),
            ),
            (
                "descriptor without signature",
                each(|f| {
                    let mut f = f.streamed();
                    f.descriptor.drain(..4);
                    f
                }),
            ),
            (
                "descriptor with 64-bit sizes",
                each(|f| {
                    let mut f = f.streamed();
                    f.descriptor.truncate(8);
                    f.descriptor.extend(
                        [f.central.compressed, 0, f.central.size, 0]
                            .map(u32::to_le_bytes)
                            .concat(),
                    );
                    f
                }),
            ),
        ] {
            assert_eq!(hashes(&bytes), (TWO.to_owned(), TWO.to_owned()), "{label}");
        }
    }

    #[test]
    fn zips_of_another_writer_are_read() {
        for large in [false, true] {
            let mut writer = ::zip::ZipWriter::new(Cursor::new(Vec::new()));
            let options = ::zip::write::SimpleFileOptions::default().large_file(large);
            let deflated = options.compression_method(::zip::CompressionMethod::Deflated);
            writer
                .start_file(EXECUTABLE, deflated.unix_permissions(0o755))
                .unwrap();
            writer.write_all(b"hello\n").unwrap();
            writer.add_directory("docs/", options).unwrap();
            writer.start_file("docs/x.md", options).unwrap();
            writer.write_all(b"x\n").unwrap();
            writer.start_file("LICENSE", deflated).unwrap();
            writer.write_all(b"demo license\n").unwrap();
            let bytes = writer.finish().unwrap().into_inner();
            assert_eq!(
                hashes(&bytes),
                (WITH_DIRECTORY.to_owned(), THREE.to_owned())
            );
            assert_eq!(open(&bytes).unwrap().entries()[0].mode(), Some(0o755));
        }
    }

    #[test]
    fn a_large_file_passes_in_pieces() {
        let content: Vec<u8> = (0..300_000u32).flat_map(u32::to_le_bytes).collect();
        for large in [
            file("x", &content),
            file("x", &content).deflated().streamed(),
        ] {
            let bytes = zip([large]);
            let mut passed = Vec::new();
            let read = open(&bytes).unwrap().read::<Error>(|entry, content| {
                assert_eq!(entry.size(), 1_200_000);
                while let Some(chunk) = content.chunk()? {
                    assert!(chunk.len() <= 64 << 10);
                    passed.extend_from_slice(chunk);
                }
                Ok(())
            });
            assert!(read.is_ok());
            assert!(passed == content);
        }
    }

    #[test]
    fn the_executable_is_the_first_in_lexical_order() {
        let executable = |names: &[&str]| {
            let bytes = zip(names.iter().map(|name| file(name, "")));
            let archive = open(&bytes).unwrap();
            archive.executable("demo").map(|e| e.name().to_owned()).ok()
        };
        for (names, expected) in [
            (
                &["terraform-provider-demo"][..],
                Some("terraform-provider-demo"),
            ),
            (
                &["terraform-provider-demo.exe"],
                Some("terraform-provider-demo.exe"),
            ),
            (
                &["terraform-provider-demo_v2", "terraform-provider-demo_v1"],
                Some("terraform-provider-demo_v1"),
            ),
            (
                &["terraform-provider-demo-x", "x/terraform-provider-demo"],
                None,
            ),
            (&["terraform-provider-dem", "Terraform-provider-demo"], None),
        ] {
            assert_eq!(executable(names).as_deref(), expected);
        }
    }

    #[test]
    fn a_zip_cut_anywhere_is_refused() {
        let bytes = zip([executable(), license()]);
        for length in 0..bytes.len() {
            let error = open(&bytes[..length]).err();
            assert!(
                matches!(error, Some(Error::NotZip { .. } | Error::Truncated { .. })),
                "{length} {error:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn noise_never_panics(bytes: Vec<u8>) {
            prop_assert!(open(&bytes).is_err());
        }

        /// A zip with a modified byte that is accepted still has the announced names and contents.
        #[test]
        fn changed_zips_never_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
            let mut bytes = zip([executable().deflated().streamed(), directory("docs/"), license().wide()]);
            for (at, value) in changes {
                let at = at.index(bytes.len());
                bytes[at] = value;
            }
            if let Ok(mut archive) = open(&bytes) {
                let sizes: Vec<u64> = archive.entries().iter().map(ZipEntry::size).collect();
                let mut passed = Vec::new();
                let read = archive.read::<Error>(|_, content| {
                    let mut size = 0;
                    while let Some(chunk) = content.chunk()? {
                        size += chunk.len() as u64;
                    }
                    passed.push(size);
                    Ok(())
                });
                prop_assert!(read.is_err() || passed == sizes);
            }
        }
    }
}
