//! Serves a store to unmodified clients: as a network mirror and as a provider registry.
//!
//! ```text
//! client ── TLS ── connection ── service ──┬── catalog ── examine ── store
//!                                          └── package ── blob ───── store
//! ```
//!
//! | path | protocol |
//! | --- | --- |
//! | `/mirror/HOST/NAMESPACE/TYPE/…` | network mirror ([clients: network mirrors](crate::clients#network-mirrors)) |
//! | `/.well-known/terraform.json`, `/v1/providers/NAMESPACE/TYPE/…` | provider registry ([clients: registry protocol](crate::clients#registry-protocol)) |
//! | `/signed/EXPIRES.KEY.MAC/…` | a file of either, opened by a link |
//! | `/healthz`, `/readyz`, `/metrics` | for operators |
//! | `/`, `/providers/HOST/NAMESPACE/TYPE` | for people |
//!
//! The server keeps no state but caches, so any number of replicas serve one store. It serves only versions that passed the same
//! verification as in every other journey. If the store cannot be asked, it says so and never that a provider does not exist: clients would
//! then use another method without a word.

mod access;
mod activity;
mod answer;
mod cached;
mod catalog;
mod changes;
mod client_quota;
mod coalesced_writes;
mod connection;
mod connection_tasks;
mod documents;
mod error;
mod fill;
mod frames;
mod links;
mod listing;
mod log_limit;
mod metrics;
mod network_mirror;
mod notice;
mod outcome;
mod package;
mod page;
mod page_handlers;
mod path;
mod provider_registry;
mod rate_limit;
mod server;
mod service;
mod settings;
mod store_health;
mod tag_check;
mod tls;
mod tokens;
mod watched_files;

pub use cached::Ages;
pub use error::Error;
pub use fill::FillSettings;
pub use links::KeyError;
pub use listing::{Documents, Hidden, Listing, Served, ServedPackage};
pub use notice::{Denied, Notice, Observer, RequestRecord};
pub use page::{Home, Page, ProviderPage};
pub use server::Server;
pub use settings::{AccessFiles, ServerSettings, TlsFiles};
pub use tag_check::TagDigests;
pub use tokens::Error as TokensError;
