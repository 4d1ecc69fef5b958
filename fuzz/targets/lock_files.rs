//! Dependency lock files of both clients.
//!
//! The same bytes with other line ends mean the same, and entries that are added again change nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tfoci::lockfile::{Client, LockFile};

fuzz_target!(|bytes: &[u8]| {
    let _ = Client::of_header(bytes);
    let Ok(file) = LockFile::parse(bytes) else {
        return;
    };
    let mut merged = file.clone();
    for (provider, entry) in &file.entries {
        merged.add(provider.clone(), entry.clone());
    }
    assert_eq!(merged.entries, file.entries);
});
