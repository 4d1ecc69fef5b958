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

/// The order of modules, and the size of files.
mod architecture;

/// What `--help` says, and that its examples work.
mod help;

/// What the README shows, and that it is true.
mod readme;

/// Every error that a person can be shown, word for word.
mod messages;

/// The judge itself, against every fixture of `testdata/layouts`.
mod tofu_client;
