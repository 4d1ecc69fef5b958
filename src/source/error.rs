//! Errors of sources.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

use super::auth::AuthTried;
use crate::address::Hostname;
use crate::archive;
use crate::credentials;
use crate::disk;
use crate::error::{Category, MANY, first_line, listed, printable, printable_path};
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
    /// The source does not have the provider, or the URL of a mirror is wrong.
    #[error("there is no such provider\n  from {url}\n  answered 404")]
    NoProvider {
        /// The list of its versions.
        url: Shown,
    },
    /// A filesystem mirror does not have the provider.
    #[error("the mirror has no such provider\n  expected packages in {}", printable_path(.path))]
    NotMirrored {
        /// The directory where clients look for it first.
        path: PathBuf,
    },
    #[error("`{}` is not a directory\n  expected the directory of a filesystem mirror", printable_path(.path))]
    NoDirectory {
        /// The path of the mirror.
        path: PathBuf,
    },
    /// The source requires or refused credentials.
    #[error(
        "the request for the {what} was refused\n  from {url}\n  answered {status}{}\n  tried {tried}",
        said(.answer)
    )]
    Unauthorized {
        what: Document,
        url: Shown,
        status: u16,
        /// The first line of the response body.
        answer: String,
        /// The credentials that were sent.
        tried: AuthTried,
        /// The error of a credential source that failed.
        source: Option<Box<credentials::Error>>,
    },
    /// The source responded with an error status.
    #[error("the request for the {what} failed\n  from {url}\n  answered {status}{}", said(.answer))]
    Status {
        what: Document,
        url: Shown,
        status: u16,
        /// The first line of the response body.
        answer: String,
    },
    /// The response is not JSON: it has another content type, or none. Servers that do not know JSON send such responses.
    #[error("the {what} is not JSON\n  expected the content type application/json\n  received {}\n  from {url}", .received.as_deref().map_or("none".to_owned(), printable))]
    ContentType {
        what: Document,
        url: Shown,
        /// The content type of the response.
        received: Option<String>,
    },
    /// A document that cannot be parsed, has a list longer than the limit, or a duplicate member, which different parsers read differently.
    #[error("the {what} cannot be understood\n  from {url}")]
    Json {
        what: Document,
        url: Shown,
        source: json::Error,
    },
    /// A document with an invalid version, for which clients refuse the whole list, or an invalid platform.
    #[error("the {what} has an invalid value\n  from {url}")]
    Invalid {
        what: Document,
        url: Shown,
        /// The value, and what is wrong with it.
        source: Box<dyn std::error::Error + Send + Sync>,
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
    #[error("`{text}` is not the URL of a network mirror\n  expected https://HOST/PATH/")]
    MirrorUrl {
        /// The text that was parsed, with secrets removed.
        text: Shown,
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

fn said(answer: &str) -> String {
    match answer {
        "" => String::new(),
        answer => format!(": {}", printable(answer)),
    }
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
            Self::Unauthorized { what, .. }
            | Self::Status { what, .. }
            | Self::ContentType { what, .. }
            | Self::Json { what, .. }
            | Self::Invalid { what, .. }
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
    pub(super) fn invalid(
        what: &Document,
        url: &Shown,
        error: impl std::error::Error + Send + Sync + 'static,
    ) -> Self {
        Self::Invalid {
            what: what.clone(),
            url: url.clone(),
            source: Box::new(error),
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
            Self::NoService { .. }
            | Self::NoProvider { .. }
            | Self::NotMirrored { .. }
            | Self::NoDirectory { .. }
            | Self::NoPlatform { .. } => Category::NotFound,
            Self::Unauthorized { .. } => Category::Unauthorized,
            Self::Status { status: 404, .. } => Category::NotFound,
            Self::Status { .. } | Self::Late => Category::Unreachable,
            Self::ContentType { .. } | Self::Invalid { .. } => Category::Malformed,
            Self::Json { source, .. } => source.category(),
            Self::Contradiction { .. } => Category::Untrusted,
            Self::Archive { source, .. } => source.category(),
            Self::MirrorUrl { .. } => Category::Usage,
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
