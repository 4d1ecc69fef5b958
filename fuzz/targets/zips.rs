//! Zips: an accepted zip means the same to an independent reader, name by name and byte by byte. Read while it arrives, it has the same
//! entries and hashes, or is left to be read from a file.
#![no_main]

use std::io::{BufReader, Cursor, Read as _};

use libfuzzer_sys::fuzz_target;
use tfoci::archive::{Archive, EntryType, Error, Limits, Members as _, Skeleton, Stream};

/// Small enough for a fuzzer, and enough for every path.
const LIMITS: Limits = Limits {
    entries: 64,
    unpacked: 1 << 20,
    ratio: 200,
};

fuzz_target!(|bytes: &[u8]| {
    let mut skeleton = Skeleton::new(bytes.len() as u64);
    for chunk in bytes.chunks(7) {
        skeleton.pass_by(chunk);
    }
    let framed = skeleton.check_end();
    // A small buffer, so that every field is cut somewhere.
    let arriving = BufReader::with_capacity(5, bytes);
    let arrived = Stream::new(arriving, bytes.len() as u64, &LIMITS).finish();
    let hashed =
        Archive::open(Cursor::new(bytes), &LIMITS).and_then(|mut archive| archive.hashes());
    match (arrived, &hashed) {
        (Ok((_, hashes)), Ok(expected)) => assert_eq!(hashes, *expected),
        (Ok(_), Err(error)) => panic!("the stream accepts what a file refuses: {error}"),
        (Err(Error::Unsuited), _) | (Err(_), Err(_)) => {}
        (Err(error), Ok(_)) => panic!("the stream refuses what a file has: {error}"),
    }
    let Ok(mut archive) = Archive::open(Cursor::new(bytes), &LIMITS) else {
        return;
    };
    framed.expect("a zip that opens has a sound end");
    let mut ours = Vec::new();
    let mut members = archive.members();
    let mut read = || {
        while let Some((name, kind)) = members.next_entry()? {
            let (name, mut bytes) = (name.to_owned(), Vec::new());
            while let Some(chunk) = members.chunk()? {
                bytes.extend_from_slice(chunk);
            }
            ours.push((name, kind == EntryType::Directory, bytes));
        }
        Ok::<(), Error>(())
    };
    if read().is_err() {
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
