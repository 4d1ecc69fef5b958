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

/// Every error that a person can be shown, word for word.
mod messages;

/// The judge itself, against every fixture of `testdata/layouts`.
mod tofu_client;
