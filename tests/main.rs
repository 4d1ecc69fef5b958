//! The integration tests: one executable, one module for each subject.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::string_slice,
    clippy::unwrap_used
)]

mod support;

/// Zips that lie, on their way in and out.
mod hostile;

/// What machines read: JSON, exit codes, and which stream says what.
mod json;

/// Every error that a person can be shown, word for word.
mod messages;

/// From a release folder into a store.
mod push;

/// The judge itself, against every fixture of `testdata/layouts`.
mod tofu_client;
