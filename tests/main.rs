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
#[cfg(unix)]
mod chaos;
mod support;

/// The judge itself, against every fixture of `testdata/layouts`.
mod tofu_client;
