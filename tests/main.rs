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

/// What unmodified clients and other OCI tools make of what we push and install.
mod clients;
/// `install`: from a layout into a filesystem mirror.
mod install;

/// The judge itself, against every fixture of `testdata/layouts`.
mod tofu_client;
