//! Configurations that are valid, and with which no client could install.

use tfoci::address::ProviderPattern;

/// Why no client could install with a configuration.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub(in crate::cli) enum Unusable {
    /// A registry to which tfoci speaks plain HTTP.
    #[error(
        "OpenTofu speaks only HTTPS to registries\n  received {registry}, which `--plain-http` names"
    )]
    PlainHttp { registry: String },
    /// A host whose port the URLs of a network mirror cannot have.
    #[error(
        "clients ask no network mirror for a provider whose host has a port\n  received {pattern}"
    )]
    Port { pattern: Box<ProviderPattern> },
}
