//! Errors of sources.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::auth::AuthTried;
use crate::address::Hostname;
use crate::archive;
use crate::credentials;
use crate::disk;
use crate::error::{Category, MANY, first_line, listed, printable, printable_path};
use crate::http::{self, Shown};
use crate::json::{self, Fault};
use crate::platform::{self, Platform};
use crate::version::{self, Version};

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
    #[error("{host} does not offer a provider registry{}{}", if *.configured { "\n  by its `host` block in the CLI configuration" } else { "" }, absent(.answer))]
    NoService {
        host: Hostname,
        /// Whether the services come from the CLI configuration and not from the host.
        configured: bool,
        answer: String,
    },
    /// The source does not have the provider.
    #[error("the origin has no such provider\n  from {url}\n  answered 404{}", said(.answer))]
    NoProvider {
        /// The list of its versions.
        url: Shown,
        answer: String,
    },
    /// A network mirror responded with 404: it does not have the provider, or the URL is wrong.
    #[error("the mirror has no such provider\n  from {url}\n  answered 404{}", said(.answer))]
    NotServed { url: Shown, answer: String },
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
    #[error("the request for the {what} failed\n  from {url}\n  answered {status}{}{}", said(.answer), asked_for(*.retry_after))]
    Status {
        what: Document,
        url: Shown,
        status: u16,
        /// The first line of the response body.
        answer: String,
        /// The server's `Retry-After`.
        retry_after: Option<Duration>,
    },
    /// The response is not JSON: it has another content type, or none. Servers that do not know JSON send such responses.
    #[error("the {what} is not JSON\n  expected the content type application/json\n  received {}\n  from {url}", content_type(.received.as_deref()))]
    ContentType {
        what: Document,
        url: Shown,
        /// The content type of the response.
        received: Option<String>,
    },
    /// A document that cannot be parsed, has a list longer than the limit, or a duplicate member, which different parsers read differently.
    #[error("the {what} cannot be understood{}\n  from {url}", misunderstood(.what, .received.as_deref(), .source))]
    Json {
        what: Document,
        url: Shown,
        /// The content type of the response.
        received: Option<String>,
        source: json::Error,
    },
    /// A list of versions with an invalid version. Clients refuse the whole list.
    #[error("the list of versions has an invalid version\n  from {url}")]
    Version {
        url: Shown,
        /// The invalid value, and what is wrong with it.
        source: version::Error,
    },
    /// A document with an invalid platform.
    #[error("the {what} has an invalid platform\n  from {url}")]
    Platform {
        /// The document with the platform.
        what: Document,
        url: Shown,
        /// The invalid value, and what is wrong with it.
        source: platform::Error,
    },
    /// A document contradicts the request or another document.
    #[error("the {what} has {contradiction}\n  from {url}")]
    Contradiction {
        what: Document,
        url: Shown,
        contradiction: Box<Contradiction>,
    },
    /// A downloaded package is not a valid zip.
    #[error("the {what} cannot be used\n  from {url}")]
    Archive {
        what: Document,
        url: Shown,
        source: archive::Error,
    },
    /// A filesystem mirror has the version only unpacked, from which the author's zip cannot be restored.
    #[error("the author's zip cannot be made again from what is unpacked\n  received {}", printable_path(.path))]
    Unpacked {
        /// The directory of a version.
        path: PathBuf,
    },
    /// A mirror has a symbolic link where clients expect a directory. Clients do not follow it.
    #[error("a directory of the mirror is a link, and clients follow none there\n  received {}", printable_path(.path))]
    Linked { path: PathBuf },
    #[error("`{text}` is not the URL of a network mirror\n  expected https://HOST/PATH/")]
    MirrorUrl {
        /// The text that was parsed, with secrets removed.
        text: Shown,
    },
    /// The provider's host has a port, which the network mirror protocol does not support.
    #[error("network mirrors cannot serve a host with a port")]
    MirrorPort,
    /// A file of a mirror is not a valid zip.
    #[error("the file {} cannot be used", printable_path(.path))]
    File {
        path: PathBuf,
        source: archive::Error,
    },
    /// A server waits no longer for a list of versions.
    #[error("the origin has not listed its versions within {} seconds", .limit.as_secs())]
    Late { limit: Duration },
    /// A server asks an origin for no more lists at once.
    #[error("too many requests wait for this origin")]
    Busy,
    /// The source has no package for any requested platform.
    #[error("none of the wanted packages is published{}{}", wanted(.platforms), published(.available))]
    NoPlatform {
        /// The requested platforms; empty if every platform was requested.
        platforms: BTreeSet<Platform>,
        /// The platforms of each version that the source has; empty if they are not known.
        available: Vec<(Version, Vec<Platform>)>,
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

fn published(available: &[(Version, Vec<Platform>)]) -> String {
    let version = |(version, platforms): &(Version, Vec<Platform>)| {
        let platforms = match platforms.as_slice() {
            [] => "none".to_owned(),
            platforms => listed(platforms, MANY),
        };
        format!("\n  has {platforms} of {version}")
    };
    available.iter().map(version).collect()
}

fn said(answer: &str) -> String {
    match answer {
        "" => String::new(),
        answer => format!(": {}", printable(answer)),
    }
}

/// What a source says with a 404 that is not an error by itself.
fn absent(answer: &str) -> String {
    match answer {
        "" => String::new(),
        answer => format!("\n  answered 404{}", said(answer)),
    }
}

fn asked_for(retry_after: Option<Duration>) -> String {
    retry_after
        .map(|retry_after| format!("\n  asks for a pause of {} s", retry_after.as_secs()))
        .unwrap_or_default()
}

/// What is wrong with a document, or its content type, if that explains that the document is no JSON.
fn misunderstood(what: &Document, received: Option<&str>, error: &json::Error) -> String {
    match (&error.fault, received) {
        (Fault::Malformed(_), Some(received)) if is_json(received) => String::new(),
        (Fault::Malformed(_), received) => {
            format!("\n  received the content type {}", content_type(received))
        }
        _ => format!("\n{}", error.facts(&what.to_string())),
    }
}

pub(super) fn is_json(content_type: &str) -> bool {
    let media_type = content_type.split(';').next().unwrap_or_default();
    media_type.trim().eq_ignore_ascii_case("application/json")
}

fn content_type(received: Option<&str>) -> String {
    received.map_or_else(|| "none".to_owned(), printable)
}

/// A field of a document that is not what the request or another document lets expect.
#[derive(Debug, thiserror::Error)]
#[error("another {field} than expected\n  expected {expected}\n  received {received}")]
pub struct Contradiction {
    /// What the field says, in the words of users.
    pub field: &'static str,
    /// What it should say.
    pub expected: String,
    /// What it says, safe to print.
    pub received: String,
}

impl Contradiction {
    /// A field with another value, which a stranger wrote.
    pub(super) fn new(field: &'static str, expected: impl fmt::Display, received: &str) -> Self {
        Self {
            field,
            expected: expected.to_string(),
            received: printable(received),
        }
    }

    /// The error of a document with this field.
    pub(super) fn of(self, what: Document, url: impl Into<Shown>) -> Error {
        Error::Contradiction {
            what,
            url: url.into(),
            contradiction: Box::new(self),
        }
    }

    /// Another text than a URL from which a package or document can be requested.
    pub(super) fn url(field: &'static str, received: &str) -> Self {
        Self::new(field, "an https URL", &Shown::from(received).to_string())
    }
}

impl Error {
    /// The platform, if this is a package or the metadata of one.
    pub fn platform(&self) -> Option<&Platform> {
        let what = match self {
            Self::Unauthorized { what, .. }
            | Self::Status { what, .. }
            | Self::ContentType { what, .. }
            | Self::Json { what, .. }
            | Self::Platform { what, .. }
            | Self::Contradiction { what, .. }
            | Self::Archive { what, .. } => what,
            _ => return None,
        };
        match what {
            Document::Download(platform) | Document::Package(platform) => Some(platform),
            _ => None,
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
            | Self::NotServed { .. }
            | Self::NotMirrored { .. }
            | Self::NoDirectory { .. }
            | Self::NoPlatform { .. } => Category::NotFound,
            Self::Unauthorized { .. } => Category::Unauthorized,
            Self::Status { status: 404, .. } => Category::NotFound,
            Self::Status { .. } | Self::Late { .. } | Self::Busy => Category::Unreachable,
            Self::ContentType { .. } | Self::Version { .. } | Self::Platform { .. } => {
                Category::Malformed
            }
            Self::Json { source, .. } => source.category(),
            Self::Contradiction { .. } => Category::Untrusted,
            Self::Archive { source, .. } | Self::File { source, .. } => source.category(),
            Self::MirrorUrl { .. } => Category::Usage,
            Self::MirrorPort | Self::Unpacked { .. } | Self::Linked { .. } => Category::Unsupported,
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
