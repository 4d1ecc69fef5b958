//! Errors of sources.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

use serde::de::Error as _;

use super::auth::AuthTried;
use crate::address::Hostname;
use crate::archive;
use crate::credentials;
use crate::disk;
use crate::error::{Category, MANY, first_line, flat, listed, printable, printable_path, said};
use crate::http::{self, Shown};
use crate::json;
use crate::platform::Platform;

/// A request to a source that failed.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Error {
    #[error(transparent)]
    Http(#[from] http::Error),
    /// A file or directory on this machine cannot be read or written.
    #[error(transparent)]
    Disk(#[from] disk::Error),
    /// The credentials that were found cannot be used.
    #[error(transparent)]
    Credentials(#[from] credentials::Error),
    /// The host has no provider registry.
    #[error("{host} does not offer a provider registry")]
    NoService { host: Hostname },
    /// The source does not have the provider, or the mirror is elsewhere.
    #[error("there is no such provider\n  from {place}")]
    NoProvider {
        /// The list of its versions, or the directory of its packages.
        place: String,
    },
    /// The source responded with an error status.
    #[error("the request for the {what} failed\n  from {url}\n  answered {status}{}{}", said(&printable(.answer)), shown_tried(.tried))]
    Status {
        what: Document,
        url: Shown,
        status: u16,
        /// The first line of the response body.
        answer: String,
        /// The credentials that were sent, if the source requires some or refused them.
        tried: Option<AuthTried>,
        /// The error of a credential source that failed.
        source: Option<Box<credentials::Error>>,
    },
    /// A document that is not JSON or cannot be parsed, has an invalid value, a list longer than the limit, or a duplicate member, which different
    /// parsers read differently.
    #[error("the {what} cannot be understood\n  from {url}")]
    Json {
        what: Document,
        url: Shown,
        source: json::Error,
    },
    /// A document contradicts the request or another document.
    #[error("the {what} has another {facts}\n  from {url}")]
    Contradiction {
        what: Document,
        url: Shown,
        /// The field in the words of users, what it should say, and what it says, safe to print.
        facts: String,
    },
    /// A package is not a valid zip.
    #[error("the package cannot be used\n  from {place}")]
    Archive {
        platform: Platform,
        /// Its URL or path.
        place: String,
        source: archive::Error,
    },
    /// A filesystem mirror has the version only unpacked, from which the author's zip cannot be restored.
    #[error("the author's zip cannot be made again from what is unpacked\n  received {}", printable_path(.path))]
    Unpacked {
        /// The directory of a version.
        path: PathBuf,
    },
    /// A server waits no longer for a list of versions, or waits for too many.
    #[error("the origin does not list its versions in time")]
    Late,
    /// The source has no package for any requested platform.
    #[error("none of the wanted packages is published{}", wanted(.platforms))]
    NoPlatform {
        /// The requested platforms; empty if every platform was requested.
        platforms: BTreeSet<Platform>,
    },
}

/// A document or package of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Document {
    /// The services of a host ([clients: service discovery](crate::clients#service-discovery)).
    Discovery,
    /// The versions of a provider ([clients: version lists](crate::clients#version-lists)).
    Versions,
    /// The location of a package, its checksums and signing keys ([clients: package metadata](crate::clients#package-metadata)).
    Download(Platform),
    /// The packages of a version in a mirror ([clients: network mirror answers](crate::clients#network-mirror-answers)).
    Archives,
    /// The checksum document.
    Checksums,
    /// The signature of the checksum document.
    Signature,
    /// The zip of one platform.
    Package(Platform),
}

impl fmt::Display for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Discovery => "service discovery document",
            Self::Versions => "list of versions",
            Self::Download(_) => "package metadata",
            Self::Archives => "list of packages",
            Self::Checksums => "checksum document",
            Self::Signature => "signature",
            Self::Package(_) => "package",
        })
    }
}

fn wanted(platforms: &BTreeSet<Platform>) -> String {
    match platforms.is_empty() {
        true => String::new(),
        false => format!("\n  expected {}", listed(platforms, MANY)),
    }
}

fn shown_tried(tried: &Option<AuthTried>) -> String {
    let tried = tried.as_ref().map(|tried| format!("\n  tried {tried}"));
    tried.unwrap_or_default()
}

pub(super) fn is_json(content_type: &str) -> bool {
    let media_type = content_type.split(';').next().unwrap_or_default();
    media_type.trim().eq_ignore_ascii_case("application/json")
}

impl Error {
    /// The platform, if this is a package or the metadata of one.
    pub fn platform(&self) -> Option<&Platform> {
        let what = match self {
            Self::Archive { platform, .. } => return Some(platform),
            Self::Status { what, .. }
            | Self::Json { what, .. }
            | Self::Contradiction { what, .. } => what,
            _ => return None,
        };
        match what {
            Document::Download(platform) | Document::Package(platform) => Some(platform),
            _ => None,
        }
    }

    /// The error for a field of a document with another value, which a stranger wrote.
    pub(super) fn contradiction(
        what: &Document,
        url: &Shown,
        field: &str,
        expected: impl fmt::Display,
        received: &str,
    ) -> Self {
        let received = printable(received);
        Self::Contradiction {
            what: what.clone(),
            url: url.clone(),
            facts: format!("{field} than expected\n  expected {expected}\n  received {received}"),
        }
    }

    /// The error for an invalid value of a document.
    pub(super) fn invalid(what: &Document, url: &Shown, error: impl fmt::Display) -> Self {
        Self::Json {
            what: what.clone(),
            url: url.clone(),
            source: serde_json::Error::custom(flat(&error)).into(),
        }
    }

    /// Whether the same request may succeed later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Http(error) => error.is_transient(),
            _ => false,
        }
    }

    /// The error in one line, for the report of a retry.
    pub(super) fn summary(&self) -> String {
        match self {
            Self::Http(error) => error.summary(),
            error => first_line(error),
        }
    }

    /// The category that decides the exit code.
    pub fn category(&self) -> Category {
        match self {
            Self::Http(error) => error.category(),
            Self::Disk(error) => error.category(),
            Self::Credentials(error) => error.category(),
            Self::NoService { .. } | Self::NoProvider { .. } | Self::NoPlatform { .. } => {
                Category::NotFound
            }
            Self::Status { tried: Some(_), .. } => Category::Unauthorized,
            Self::Status { status: 404, .. } => Category::NotFound,
            Self::Status { .. } | Self::Late => Category::Unreachable,
            Self::Json { source, .. } => source.category(),
            Self::Contradiction { .. } => Category::Untrusted,
            Self::Archive { source, .. } => source.category(),
            Self::Unpacked { .. } => Category::Unsupported,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_types_may_have_parameters() {
        assert!(is_json("application/json; charset=utf-8"));
        assert!(is_json("Application/JSON"));
        assert!(!is_json("text/json"));
    }
}
