//! A reader of a zip that is still arriving sees the same entries as a reader of the whole file.

use std::collections::BTreeMap;
use std::io::Cursor;

use proptest::prelude::*;

use super::*;
use crate::archive::hostile::cases;
use crate::archive::pieces::{Pieces, any_file, squeezed};
use crate::archive::zipfile::{EXECUTABLE, File, directory, executable, file, with, zip};

/// The contents by name, what [`Archive`] says, and the hashes.
type Seen = (BTreeMap<String, Vec<u8>>, String, Hashes);

fn read(
    mut members: impl Members,
    contents: &mut BTreeMap<String, Vec<u8>>,
) -> Result<(Vec<ZipEntry>, Hashes), Error> {
    while let Some((name, kind)) = members.next_entry()? {
        assert_eq!(kind == EntryType::Directory, name.ends_with('/'));
        let to: &mut Vec<u8> = contents.entry(name.to_owned()).or_default();
        while let Some(chunk) = members.chunk()? {
            to.extend_from_slice(chunk);
        }
    }
    members.finish()
}

fn opened(bytes: &[u8]) -> Result<Seen, Error> {
    let mut archive = Archive::open(Cursor::new(bytes), &Limits::default())?;
    let mut contents = BTreeMap::new();
    let hashes = read(archive.members(), &mut contents)?.1;
    Ok((contents, format!("{:?}", archive.entries()), hashes))
}

fn streamed(bytes: &[u8], sizes: &[usize]) -> Result<Seen, Error> {
    let (pieces, length) = (Pieces::of(bytes, sizes), bytes.len() as u64);
    let stream = Stream::new(pieces, length, &Limits::default());
    let mut contents = BTreeMap::new();
    let (entries, hashes) = read(stream, &mut contents)?;
    Ok((contents, format!("{entries:?}"), hashes))
}

/// Compares both ways. Returns whether the stream was accepted.
#[track_caller]
fn compare(label: &str, bytes: &[u8], sizes: &[usize]) -> bool {
    match (streamed(bytes, sizes), opened(bytes)) {
        (Ok(seen), Ok(expected)) => {
            assert_eq!(seen, expected, "{label}");
            true
        }
        (Ok(_), Err(error)) => panic!("{label}: {error}"),
        (Err(Error::Unsuited), _) => false,
        (Err(error), other) => {
            let expected = other.map(drop).unwrap_err().to_string();
            assert_eq!(error.to_string(), expected, "{label}");
            false
        }
    }
}

fn two() -> [File; 2] {
    [executable(), squeezed("LICENSE", b"demo license\n")]
}

/// A descriptor without its signature.
fn unsigned(file: File) -> File {
    let mut file = file.streamed();
    file.descriptor.drain(..4);
    file
}

/// A descriptor with 64-bit sizes.
fn wide_descriptor(file: File) -> File {
    let mut file = file.streamed();
    let numbers = [file.central.compressed, 0, file.central.size, 0];
    file.descriptor.truncate(8);
    file.descriptor
        .extend(numbers.map(u32::to_le_bytes).concat());
    file
}

#[test]
fn what_honest_writers_write_is_read_while_it_arrives() {
    let noise: Vec<u8> = (0..300_000u32)
        .map(|n| (n.wrapping_mul(n) >> 9) as u8)
        .collect();
    let license = || squeezed("LICENSE", b"demo license\n");
    for (label, bytes) in [
        ("stored and deflated", zip(two())),
        ("streamed", zip([license().streamed(), executable()])),
        (
            "without signature",
            zip([executable(), unsigned(license())]),
        ),
        (
            "without signature, another follows",
            zip([unsigned(license()), executable()]),
        ),
        (
            "64-bit descriptor",
            zip([executable(), wide_descriptor(license())]),
        ),
        (
            "directories",
            zip([
                directory("docs/"),
                directory("docs/a/").deflated(),
                executable(),
            ]),
        ),
        (
            "empty",
            zip([
                executable(),
                file("a", ""),
                squeezed("b", b""),
                squeezed("c", b"").streamed(),
            ]),
        ),
        ("without modes", zip(two().map(File::without_mode))),
        ("64-bit sizes", zip(two().map(File::wide))),
        (
            "comment",
            with(two(), |zip| zip.comment = vec![b'x'; 0xffff]),
        ),
        (
            "large",
            zip([
                executable(),
                file("a", &noise),
                squeezed("b", &noise).streamed(),
                license(),
            ]),
        ),
        (
            "large, stored last",
            zip([executable(), squeezed("a", &noise), file("b", &noise)]),
        ),
    ] {
        assert!(Stream::<&[u8]>::suits(&bytes), "{label}");
        for sizes in [&[1][..], &[7, 64], &[16 << 10], &[1 << 20]] {
            assert!(compare(label, &bytes, sizes), "{label} {sizes:?}");
        }
    }
    // Another order in the central directory.
    let mut bytes = zip([file("a", "1"), file("b", "2")]);
    let entry = 46 + 1;
    let start = 2 * (30 + 1 + 1);
    bytes[start..start + 2 * entry].rotate_left(entry);
    assert!(compare("order", &bytes, &[5]));
}

#[test]
fn what_only_the_directory_explains_is_left_to_the_file() {
    let named = |n: u32| {
        let long = format!("{}/", "x".repeat(250));
        file(format!("{n:04}/{}", long.repeat(3)), "")
    };
    for (label, bytes) in [
        ("stored, with a descriptor", zip([executable().streamed()])),
        ("a megabyte of names", zip((0..1000).map(named))),
    ] {
        assert!(
            matches!(streamed(&bytes, &[999]), Err(Error::Unsuited)),
            "{label}"
        );
        assert!(opened(&bytes).is_ok(), "{label}");
    }
    assert!(!Stream::<&[u8]>::suits(&zip([executable().streamed()])));
    assert!(!Stream::<&[u8]>::suits(b"PK\x03\x04"));
    assert!(!Stream::<&[u8]>::suits(&[0; 99]));
}

#[test]
fn each_lie_of_the_directory_is_found() {
    type Lie = fn(&mut File);
    let lies: [(&str, Lie); 16] = [
        ("name", |f| f.central.name = b"other".to_vec()),
        ("flags", |f| f.central.flags ^= 8),
        ("encryption", |f| f.central.flags ^= 1),
        ("method", |f| f.central.method ^= 8),
        ("checksum", |f| f.central.crc ^= 1),
        ("compressed size", |f| f.central.compressed += 1),
        ("size", |f| f.central.size += 1),
        ("smaller", |f| {
            (f.central.size, f.central.compressed) = (f.central.size - 1, f.central.compressed - 1)
        }),
        ("both checksums", |f| (f.central.crc, f.local.crc) = (1, 1)),
        ("both sizes", |f| (f.central.size, f.local.size) = (1, 1)),
        ("second name", |f| {
            f.central.extra = b"\x75\x70\x06\0\x01\0\0\0\0y".to_vec()
        }),
        ("offset", |f| f.offset = Some(1)),
        ("offset of another", |f| f.offset = Some(0)),
        ("link", |f| f.attributes = 0o120777 << 16),
        ("directory", |f| f.attributes = 0o040755 << 16),
        ("disk", |f| f.disk = 1),
    ];
    for (label, lie) in lies {
        for style in [|f| f, File::streamed, unsigned] as [fn(File) -> File; 3] {
            for original in [squeezed("x", b"some content"), file("x", "some content")] {
                let mut liar = style(original);
                lie(&mut liar);
                for files in [vec![executable(), liar.clone()], vec![liar, executable()]] {
                    let bytes = zip(files);
                    // The first file has the true offset.
                    if opened(&bytes).is_err() {
                        assert!(!compare(label, &bytes, &[3, 50]), "{label}");
                    } else {
                        assert_eq!(label, "offset of another");
                    }
                }
            }
        }
    }
    for lie in [-1, 1] {
        let bytes = with(two(), |zip| zip.entries_lie = lie);
        assert!(!compare("number of entries", &bytes, &[50]));
    }
}

#[test]
fn descriptors_must_be_right() {
    for at in 0..16 {
        let mut wrong = squeezed("x", b"some content").streamed();
        wrong.descriptor[at] ^= 1;
        for bytes in [
            zip([executable(), wrong.clone()]),
            zip([wrong, executable()]),
        ] {
            assert!(!compare("descriptor", &bytes, &[9]), "{at}");
        }
    }
}

#[test]
fn hostile_zips_are_never_accepted() {
    for case in cases() {
        for sizes in [&[1][..], &[40, 3], &[1 << 20]] {
            let hashes = streamed(&case.zip, sizes);
            // Only clients need an executable, and only a directory may not be one.
            let is_about_executable =
                case.label.contains("executable") && case.label != "executable twice";
            assert!(hashes.is_err() || is_about_executable, "{}", case.label);
            compare(case.label, &case.zip, sizes);
        }
    }
}

#[test]
fn a_bomb_stops_at_its_limit() {
    let zeros = squeezed("zeros", &vec![0; 50 << 20]).streamed();
    let bytes = zip([executable(), zeros]);
    let (pieces, length) = (Pieces::of(&bytes, &[4096]), bytes.len() as u64);
    let mut stream = Stream::new(pieces, length, &Limits::default());
    let mut passed = 0;
    let stopped = loop {
        match stream.chunk() {
            Ok(Some(chunk)) => passed += chunk.len() as u64,
            Ok(None) => match stream.next_entry() {
                Ok(Some(_)) => {}
                other => break other.is_err(),
            },
            Err(_) => break true,
        }
    };
    assert!(stopped && passed <= 200 * length, "{passed}");
}

/// A reader that unpacks while the zip arrives has made the directories before the end.
#[test]
fn too_many_directories_stop_it_before_they_are_made() {
    let named = |n: u32| file(format!("{n}/{}x", "d/".repeat(50)), "");
    let bytes = zip((0..300).map(named));
    let (pieces, length) = (Pieces::of(&bytes, &[4096]), bytes.len() as u64);
    let mut stream = Stream::new(pieces, length, &Limits::default());
    let mut passed = 0;
    while let Ok(entry) = stream.next_entry() {
        assert!(entry.is_some(), "accepted");
        passed += 1;
    }
    // Each makes 51 directories and a file.
    assert_eq!(passed, 10_000 / 52);
}

#[test]
fn a_zip_cut_anywhere_is_never_accepted() {
    let whole = zip([squeezed("a", b"content").streamed(), executable()]);
    for length in 0..whole.len() {
        let cut = &whole[..length];
        assert!(!compare("cut", cut, &[13]), "{length}");
        // Shorter or longer than announced.
        for bytes in [cut.to_vec(), [whole.as_slice(), cut, b"x"].concat()] {
            let pieces = Pieces::of(&bytes, &[13]);
            let stream = Stream::new(pieces, whole.len() as u64, &Limits::default());
            assert!(matches!(stream.finish(), Err(Error::Unsuited)), "{length}");
        }
    }
}

#[test]
fn the_limits_are_the_callers() {
    let bytes = zip([
        executable(),
        squeezed(EXECUTABLE, b"x").both(|h| h.name = b"x".to_vec()),
    ]);
    let accepted = |entries, unpacked| {
        let limits = Limits {
            entries,
            unpacked,
            ratio: 1,
        };
        let stream = Stream::new(Pieces::of(&bytes, &[9]), bytes.len() as u64, &limits);
        stream.finish().is_ok()
    };
    assert!(accepted(2, 7));
    assert!(!accepted(1, 7));
    assert!(!accepted(2, 6));
}

proptest! {
    #[test]
    fn both_ways_see_the_same(
        files in prop::collection::vec(any_file(), 0..5),
        comment in 0..9usize,
        sizes in prop::collection::vec(1..40_000usize, 1..5),
    ) {
        let bytes = with(files.into_iter().chain([executable()]), |zip| {
            zip.comment = vec![b'x'; comment];
        });
        let accepted = compare("generated", &bytes, &sizes);
        prop_assert_eq!(accepted, opened(&bytes).is_ok());
    }

    #[test]
    fn both_ways_see_the_same_in_changed_zips(
        files in prop::collection::vec(any_file(), 0..3),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        size in 1..3000usize,
    ) {
        let mut bytes = zip(files.into_iter().chain([executable()]));
        for (at, value) in changes {
            // Most of the structure is at the end.
            let at = bytes.len() - 1 - at.index(bytes.len().min(400));
            bytes[at] = value;
        }
        compare("changed", &bytes, &[size]);
    }

    #[test]
    fn noise_is_never_accepted(bytes: Vec<u8>, size in 1..40usize) {
        prop_assert!(!compare("noise", &bytes, &[size]));
    }
}
