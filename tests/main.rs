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

/// Attestations of what was verified.
#[cfg(unix)]
mod attestation;

/// Bundles: one tar for a disk.
#[cfg(unix)]
mod bundle;

/// Lists without end, with little memory and few requests.
#[cfg(target_os = "linux")]
mod bounds;

/// Killed and interrupted runs, concurrent runs, full and read-only disks: no partial result is ever visible.
#[cfg(unix)]
mod chaos;

/// Unmodified clients and other OCI tools, with the artifacts and mirrors that tfoci writes.
mod clients;

/// The CLI configuration of clients: printed, and checked.
mod cli_config;

/// Completion scripts of shells.
mod completions;

/// Settings: files, variables, and what a stranger may set.
mod config;

/// From one store into another.
mod copy;

/// Which sources of credentials were considered.
mod credentials;

/// The block list of the trust file.
#[cfg(unix)]
mod deny;

/// The pages in `docs`.
#[cfg(unix)]
mod docs;

/// `tfoci doctor`.
mod doctor;

/// Artifacts of tfoci whose evidence was removed.
mod gone;

/// What a store has.
#[cfg(unix)]
mod have;

/// `--help`, and the examples in it.
mod help;

/// Hostile zips, pushed and installed.
mod hostile;

/// Empty stores.
mod empty;

/// `tfoci inspect`: the content of a version, and its authentication.
mod inspect;

/// From a layout into a filesystem mirror.
mod install;

/// The report of an interrupted run.
#[cfg(unix)]
mod interrupted;

/// Output for scripts: JSON, exit codes, and the use of stdout and stderr.
mod json;

/// Every fixture of `testdata/layouts`: accepted and refused as clients do.
mod layouts;

/// Lock files.
mod lock;

/// `tfoci login` and `tfoci logout`: credentials for registries.
#[cfg(unix)]
mod login;
mod logout;

/// JSON documents with duplicate members, which readers interpret in different ways.
mod meanings;

/// What people read.
#[cfg(unix)]
mod transcripts;

/// Manual pages.
mod man;

/// From the origins of providers, and from mirrors of others, into a store.
mod mirror;

/// Layouts altered at random: no panic, and nothing accepted that clients refuse.
mod mutations;

/// Connections to registries: certificates, proxies, limits.
mod network;

/// The origin double itself: unmodified clients use it, and its faults work.
mod origin_double;

/// Output for untrusted input.
#[cfg(unix)]
mod output;

/// The installer, the image, and what releases are made of.
#[cfg(target_os = "linux")]
mod packaging;

/// Which providers a store has.
mod list;

/// Versions that are named by the digest of their index.
mod pinned;

/// Versions that nobody needs go from a store.
mod prune;

/// From a release folder into a store.
mod push;

/// Registries of every kind, and their failures: pushes into them and installations from them.
mod registry;

/// Real registries, which run as programs: tfoci writes and other clients read, and the reverse.
mod registry_real;

/// The registry double itself, against the specification, an independent client and an independent registry.
mod registry_double;

/// The commands and the output in the README.
mod readme;

/// The JSON schemas of results and of configuration files.
mod schema;

/// References to documentation name headings that exist.
mod references;

/// Bad releases, whichever way they come.
#[cfg(unix)]
mod refused;

/// From an address to a repository.
mod resolve;

/// The results on stdout: their order, and `--changed`.
mod results;

/// A store, served to clients over HTTP.
#[cfg(unix)]
mod serve;

/// Directories that other users can write to.
#[cfg(unix)]
mod shared;

/// From a store into static files.
#[cfg(unix)]
mod site;

/// Hostile layouts.
#[cfg(target_os = "linux")]
mod strangers;

/// Templates of repositories, and what stores and clients cannot hold or read.
mod templates;

/// The independent reader itself, against every fixture of `testdata/layouts`.
mod tofu_client;

/// `tfoci trust`: trust files.
mod trust;

/// `tfoci verify`.
mod verify;

/// The versions of a provider in a store.
mod versions;

/// The traces of `-v` and `-vv`, and the number of requests in JSON.
mod wire;
