//! The integration tests: one executable, one module for each subject.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::string_slice,
    clippy::unwrap_used
)]

/// Killed, crowded, full, forbidden, interrupted: nothing half done is ever visible.
mod chaos;
mod support;

/// The order of modules, and the size of files.
mod architecture;

/// What `--help` says, and that its examples work.
mod help;

/// What the README shows, and that it is true.
mod readme;

/// Zips that lie, on their way in and out.
mod hostile;

/// What machines read: JSON, exit codes, and which stream says what.
mod json;

/// Every error that a person can be shown, word for word.
mod messages;

/// What a version in a store holds, and whether it is authentic.
mod inspect;
/// Every fixture of `testdata/layouts`: accepted and refused as clients do.
mod layouts;
/// Layouts altered at random: no panic, and nothing accepted that clients refuse.
mod mutations;
/// Layouts that somebody filled with bad intent.
#[cfg(target_os = "linux")]
mod strangers;

/// From a release folder into a store.
mod push;

/// The judge itself, against every fixture of `testdata/layouts`.
mod tofu_client;
/// The versions of a provider in a store.
mod versions;
