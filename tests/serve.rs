//! `serve`: what clients and people are answered, whatever happens to the store, to connections and to the server itself.

/// Mistakes in the command line.
mod arguments;
/// Pull-through.
mod fill;
/// What clients of both protocols are answered, from every kind of store.
mod protocols;
/// Who may ask: tokens, and links that open one file.
mod tokens;
/// Which versions are served.
mod trust;

/// An HTTP client of our own.
mod http;
/// The process.
mod server;
/// What is served.
mod stores;
