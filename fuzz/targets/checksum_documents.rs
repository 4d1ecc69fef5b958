//! Checksum documents: every line that is found has one digest, and asking for it by name gives that digest.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tfoci::trust::Checksums;

fuzz_target!(|document: &[u8]| {
    let Ok(checksums) = Checksums::parse(document) else {
        return;
    };
    for (file_name, digest) in checksums.lines() {
        assert_eq!(checksums.lookup(file_name), Some(digest));
    }
});
