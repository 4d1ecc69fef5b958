//! Serves a store to unmodified clients, as a network mirror and as a provider registry.
//!
//! ```text
//! client ── server (TLS) ── connection ── service ──┬── served_store ── cached ── listing ── served ── examine ── store
//!                                                   └── package ── blob ── store
//! ```
//!
//! A request is read by `connection`; `path` tells its route, `access` whether its token or signed link allows it, and `clients` whether its address
//! has sent too many. `service` answers it from the list of the provider. A list is read, verified and rendered once, and kept by `cached`. With
//! `--fill`, `fill` mirrors a version that the list does not have.
//!
//! | path | protocol |
//! | --- | --- |
//! | `/mirror/HOST/NAMESPACE/TYPE/…` | network mirror ([clients: network mirrors](crate::clients#network-mirrors)) |
//! | `/.well-known/terraform.json`, `/v1/providers/NAMESPACE/TYPE/…` | provider registry ([clients: provider registry protocol](crate::clients#provider-registry-protocol)) |
//! | `/signed/EXPIRES.KEY.SIGNATURE/…` | a file of either protocol, authorized by a signed link |
//! | `/healthz`, `/readyz`, `/metrics` | for operators |
//! | `/`, `/providers/HOST/NAMESPACE/TYPE` | for people |
//!
//! The server has no state except caches, so any number of replicas can serve one store. It serves only versions that pass the same
//! verification as in every other command. While the store is unreachable, the server answers with the lists that it has, or with 503. It
//! never answers with 404 then, since clients would silently use another installation method.
//!
//! In this module, "provider registry" is the protocol that the server speaks, and "OCI registry" is a kind of store.

mod access;
mod answer;
mod cached;
mod clients;
mod connection;
mod error;
mod fill;
mod links;
mod listing;
mod metrics;
mod notice;
mod package;
mod path;
mod served;
mod served_store;
mod server;
mod service;
mod settings;
mod watched_files;

pub use cached::Ages;
pub use error::{Error, PolicyError};
pub use listing::ProviderListing;
pub use notice::{Denied, Observer, RequestRecord};
pub use served::ServedVersion;
pub use served_store::MOST_SHOWN;
pub use server::Server;
pub use service::{HomePage, PageRenderer, Visitor};
pub use settings::{AccessFiles, FillSettings, ServerSettings, TlsFiles};
pub use watched_files::{ReadFile, ReadPolicy, TrustFiles};
