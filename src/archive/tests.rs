mod stream;

use super::zipfile::{EXECUTABLE, File, directory, executable, file, with, zip};
use super::*;
use crate::error::Category;
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

fn license() -> File {
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
    let each = |change: fn(File) -> File| zip(two.clone().map(change));
    for (label, bytes) in [
        ("deflated", each(|f| f.deflated())),
        ("streamed", each(|f| f.streamed())),
        ("streamed and deflated", each(|f| f.deflated().streamed())),
        ("without modes", each(|f| f.without_mode())),
        ("64-bit sizes", each(|f| f.wide())),
        (
            "comment",
            with(two.clone(), |zip| zip.comment = vec![b'x'; 0xffff]),
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
        let mut archive = open(&bytes).unwrap();
        let mut members = archive.members();
        assert!(members.next_entry().unwrap().is_some());
        while let Some(chunk) = members.chunk().unwrap() {
            assert!(chunk.len() <= 64 << 10);
            passed.extend_from_slice(chunk);
        }
        assert!(members.finish().is_ok());
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
        assert!(matches!(error, Some(Error::NotZip)), "{length} {error:?}");
    }
}

#[track_caller]
fn is_untrusted(bytes: &[u8]) {
    let error = open(bytes).err().unwrap();
    assert_eq!(error.category(), Category::Untrusted);
}

#[test]
fn contradictions_of_64_bit_numbers_are_refused() {
    let sized = |size: u32, extra: &[u8]| {
        let odd = file("x", "content").both(|header| {
            header.size = size;
            header.extra = extra.to_vec();
        });
        zip([executable(), odd])
    };
    is_untrusted(&with([executable()], |zip| zip.wide = true));
    is_untrusted(&sized(u32::MAX, &[]));
    is_untrusted(&sized(u32::MAX, &[1, 0, 0, 0]));
    is_untrusted(&sized(7, &[1, 0, 8, 0, 9, 0, 0, 0, 0, 0, 0, 0]));
}

#[test]
fn an_entry_that_is_a_file_and_a_directory_is_refused() {
    is_untrusted(&zip([executable(), file("x/", "content")]));
    let other = file("x", "").mode(0o040755);
    is_untrusted(&zip([executable(), other]));
}

#[test]
fn bytes_that_belong_to_no_entry_are_refused() {
    let gap = File {
        descriptor: vec![0; 3],
        ..executable()
    };
    is_untrusted(&zip([gap.clone(), license()]));
    is_untrusted(&zip([license(), gap]));
    is_untrusted(&with([executable()], |zip| zip.before = vec![b'#'; 99]));
}

/// The contents of a zip may have the signature of an end record by chance.
#[test]
fn the_signature_of_an_end_record_in_a_content_is_no_second_one() {
    let content = [b"PK\x05\x06".as_slice(), &[b'x'; 99]].concat();
    assert!(open(&zip([executable(), file("x", content)])).is_ok());
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
            let sizes: Vec<u64> = archive.entries().iter().map(|one| one.record.size).collect();
            let mut passed = Vec::new();
            let mut members = archive.members();
            let mut read = || {
                while members.next_entry()?.is_some() {
                    let mut size = 0;
                    while let Some(chunk) = members.chunk()? {
                        size += chunk.len() as u64;
                    }
                    passed.push(size);
                }
                Ok::<_, Error>(())
            };
            let read = read();
            prop_assert!(read.is_err() || passed == sizes);
        }
    }
}
