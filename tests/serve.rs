//! `serve`: what clients and people are answered, whatever happens to the store, to connections and to the server itself.

/// Mistakes in the command line.
mod arguments;
/// Pages in a browser.
mod browser;
/// Real clients, over HTTPS.
mod clients;
/// Requests that are slow, large, too many or none; and what is written down of requests.
mod connections;
/// Many clients at once.
mod crowd;
/// The end of the process.
mod ends;
/// Pull-through.
mod fill;
/// Pull-through into a cache whose disk is full.
#[cfg(target_os = "linux")]
mod full_disk;
/// Packages over HTTP/2.
mod http2;
/// How much memory it takes.
#[cfg(target_os = "linux")]
mod memory;
/// Packages that the store spoils.
mod package_faults;
/// What people see.
mod pages;
/// What clients of both protocols are answered, from every kind of store.
mod protocols;
/// Links to the storage behind a registry.
mod redirects;
/// Servers that take the place of others, and that share keys.
mod replicas;
/// Stores without host names, and certificates that are replaced.
mod settings;
/// What one client may hold.
mod shares;
/// What is told at the start.
mod start;
/// Stores that fail, go, come back and change.
mod store_faults;
/// Who may ask: tokens, and links that open one file.
mod tokens;
/// Which versions are served.
mod trust;
/// What takes time: limits of the server, retries below, and the age of lists.
mod waiting;

/// An HTTP client of our own.
mod http;
/// The process.
mod server;
/// What is served.
mod stores;
