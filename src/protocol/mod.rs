//! The JSON documents of the provider protocols, read and written.
//!
//! | protocol | documents |
//! | --- | --- |
//! | [`discovery`] | where a host has its services ([clients: service discovery](crate::clients#service-discovery)) |
//! | [`provider_registry`] | versions of a provider and metadata of a package ([clients: provider registry protocol](crate::clients#provider-registry-protocol)) |
//! | [`network_mirror`] | versions and packages of a copy ([clients: network mirrors](crate::clients#network-mirrors)) |
//!
//! Like clients, the parsers skip unknown members and treat `null` as an absent member. A duplicate of a member that clients read is an
//! error. Requests are made by [`crate::source`].

pub mod discovery;
pub mod network_mirror;
pub mod provider_registry;

/// The most versions that a list can have. Real providers have some hundreds.
const MOST_VERSIONS: usize = 20_000;
/// The most hashes of one package, warnings of a list, and protocols of a version. Real ones have a few.
const MOST_NOTES: usize = 100;
