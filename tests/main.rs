//! The integration tests: one executable, one module for each subject.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test stops at the first surprise, and prints what it skips"
)]

mod support;

/// The order of modules, and the size of files.
mod architecture;

/// Lists without end: memory and requests stay few.
#[cfg(target_os = "linux")]
mod bounds;

/// Killed, crowded, full, forbidden, interrupted: nothing half done is ever visible.
#[cfg(unix)]
mod chaos;

/// What unmodified clients and other OCI tools make of what we push and install.
mod clients;

/// The CLI configuration of clients: printed, and checked.
mod cli_config;

/// Completion scripts of shells.
mod completions;

/// From one store into another.
mod copy;

/// Which sources of credentials were considered.
mod credentials;

/// Artifacts of tfoci whose evidence is gone.
mod gone;

/// What `--help` says, and that its examples work.
mod help;

/// Hostile zips, pushed and installed.
mod hostile;

/// Stores in which there is nothing to read.
mod empty;

/// What a version in a store holds, and whether it is authentic.
mod inspect;

/// From a layout into a filesystem mirror.
mod install;

/// What a run that is interrupted has to report.
#[cfg(unix)]
mod interrupted;

/// What machines read: JSON, exit codes, and which stream says what.
mod json;

/// Every fixture of `testdata/layouts`: accepted and refused as clients do.
mod layouts;

/// Lock files.
mod lock;

/// Credentials for registries: checked, kept, forgotten.
#[cfg(unix)]
mod login;
mod logout;

/// One document, one meaning: no member is there twice.
mod meanings;

/// Every error that a person can be shown, word for word.
mod messages;

/// Manual pages.
mod man;

/// From the origins of providers, and from mirrors of others, into a store.
mod mirror;

/// Layouts altered at random: no panic, and nothing accepted that clients refuse.
mod mutations;

/// Connections to registries: certificates, proxies, limits.
mod network;
/// The origin double itself, against unmodified clients, and that its faults do what they say.
mod origin_double;

/// What is printed for untrusted input.
#[cfg(unix)]
mod output;

/// Which providers a store has.
mod list;

/// Versions that are named by the digest of their index.
mod pinned;

/// From a release folder into a store.
mod push;

/// Registries of every kind, and their failures: from a release folder into them and out again.
mod registry;

/// Registries that are not ours, as programs: in by us and out by others, and the other way round.
mod registry_real;

/// The registry double itself, against the specification, an independent client and an independent registry.
mod registry_double;

/// What the README shows, and that it is true.
mod readme;
/// The JSON schemas of results and of configuration files.
mod schema;

/// References to documents lead somewhere.
mod references;

/// From an address to a repository.
mod resolve;

/// Their order, and which of them `--changed` leaves out.
mod results;

/// A store, served to clients over HTTP.
#[cfg(unix)]
mod serve;

/// Directories in which others can write.
#[cfg(unix)]
mod shared;

/// From a store into static files.
#[cfg(unix)]
mod site;

/// Hostile layouts.
#[cfg(target_os = "linux")]
mod strangers;

/// The independent reader itself, against every fixture of `testdata/layouts`.
mod tofu_client;

/// What a trust file says.
mod trust;

/// The versions of a provider in a store.
mod versions;

/// What `-v` and `-vv` tell of the way to a registry, and how many requests JSON counts.
mod wire;
