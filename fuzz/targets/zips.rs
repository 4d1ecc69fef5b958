//! Zips: an accepted zip means the same to an independent reader, name by name and byte by byte.
#![no_main]

use std::io::{Cursor, Read as _};

use libfuzzer_sys::fuzz_target;
use tfoci::archive::{Archive, Frame, EntryType, Limits};

/// Small enough for a fuzzer, and enough for every path.
const LIMITS: Limits = Limits {
    entries: 64,
    unpacked: 1 << 20,
    ratio: 200,
};

fuzz_target!(|bytes: &[u8]| {
    let mut frame = Frame::new(bytes.len() as u64);
    for chunk in bytes.chunks(7) {
        frame.pass(chunk);
    }
    let framed = frame.check();
    let Ok(mut archive) = Archive::open(Cursor::new(bytes), &LIMITS) else {
        return;
    };
    framed.expect("a zip that opens has a sound end");
    let mut ours = Vec::new();
    let read = archive.read(|entry, content| {
        let mut bytes = Vec::new();
        while let Some(chunk) = content.chunk()? {
            bytes.extend_from_slice(chunk);
        }
        ours.push((
            entry.name().to_owned(),
            entry.kind() == EntryType::Directory,
            bytes,
        ));
        Ok::<(), tfoci::archive::Error>(())
    });
    if read.is_err() {
        return;
    }
    let mut theirs =
        zip::ZipArchive::new(Cursor::new(bytes)).expect("an independent reader opens it");
    assert_eq!(theirs.len(), ours.len());
    for (place, (name, is_directory, content)) in ours.iter().enumerate() {
        let mut file = theirs.by_index(place).expect("the same entry");
        assert_eq!(file.name().expect("a name"), *name);
        assert_eq!(file.is_dir(), *is_directory);
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).expect("the same content");
        assert_eq!(bytes, *content);
    }
});
