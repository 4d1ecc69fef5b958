//! `serve`: the answers to clients and people while the store, connections or the server fail.

/// Mistakes in the command line.
mod arguments;
/// Pages in a browser.
mod browser;
/// The quota of one client: half of the connections and packages.
mod client_quota;
/// Real clients, over HTTPS.
mod clients;
/// Requests that are slow, large, too many or invalid, and their log lines.
mod connections;
/// Many clients at once.
mod crowd;
/// The page about deployment.
mod deployment;
/// The author's documents behind the network mirror.
mod documents;
/// The end of the process.
mod ends;
/// Pull-through.
mod fill;
/// Pull-through into a cache whose disk is full.
#[cfg(target_os = "linux")]
mod full_disk;
/// The memory of the process.
#[cfg(target_os = "linux")]
mod memory;
/// The counters of the server.
mod metrics;
/// Packages that the store damages.
mod package_faults;
/// The pages for people.
mod pages;
/// The answers to clients of both protocols, from every kind of store.
mod protocols;
/// Links to the storage behind a registry.
mod redirects;
/// Servers that replace others, and that share keys.
mod replicas;
/// Stores without host names, and certificates that are replaced.
mod settings;
/// Stores that take longer than clients wait.
mod slow_store;
/// The messages at the start.
mod start;
/// Stores that fail, become unreachable, come back and change.
mod store_faults;
/// Authorization: tokens, and signed links to one file.
mod tokens;
/// Which versions are served.
mod trust;
/// Tests that mostly wait: limits of the server, retries, and the age of lists.
mod waiting;

/// An HTTP client for tests.
mod http;
/// The process of a server.
pub mod server;
/// The stores of the tests.
pub mod stores;
