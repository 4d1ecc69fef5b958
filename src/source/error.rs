//! What a source could not give.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::auth::AuthTried;
use crate::address::ProviderAddr;
use crate::archive;
use crate::credentials;
use crate::disk;
use crate::error::{Category, printable, printable_path};
use crate::http::{self, Shown};
use crate::json;
use crate::platform::{self, Platform};
use crate::version::{self, Version};

/// Why a source does not give what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The network.
    #[error(transparent)]
    Http(#[from] http::Error),
    /// This machine.
    #[error(transparent)]
    Disk(#[from] disk::Error),
    /// Credentials that were found cannot be used.
    #[error(transparent)]
    Credentials(#[from] credentials::Error),
    /// The host publishes no providers.
    #[error("{host} does not offer a provider registry{}{}", if *.configured { "\n  by its `host` block in the CLI configuration" } else { "" }, other_protocol(.others))]
    NoService {
        /// The host.
        host: String,
        /// Whether the CLI configuration says so, and not the host.
        configured: bool,
        /// Versions of the provider registry protocol that it has in place of the one that is known.
        others: Vec<String>,
    },
    /// The source does not have the provider.
    #[error("nothing is published")]
    NoProvider {
        /// Where it was looked for.
        place: String,
        /// The provider.
        provider: ProviderAddr,
    },
    /// A network mirror does not have the provider, or is elsewhere: both are the same answer.
    #[error("the mirror has nothing\n  from {url}\n  answered 404")]
    NotServed {
        /// Where it was looked for.
        url: Shown,
    },
    /// A filesystem mirror does not have the provider.
    #[error("the mirror has nothing\n  expected packages in {}", printable_path(.path))]
    NotMirrored {
        /// Where clients would look for it first.
        path: PathBuf,
    },
    /// There is no filesystem mirror.
    #[error("`{}` is not a directory\n  expected the directory of a filesystem mirror\n  received {}", printable_path(.path), if *.is_there { "a file" } else { "nothing of that name" })]
    NoDirectory {
        /// What was named.
        path: PathBuf,
        /// Whether something else is there.
        is_there: bool,
    },
    /// The source requires or refused credentials.
    #[error(
        "the request for the {what} was refused\n  from {url}\n  answered {status}\n  tried {tried}"
    )]
    Unauthorized {
        /// What was asked for.
        what: Document,
        /// Where.
        url: Shown,
        /// The status of the answer.
        status: u16,
        /// The credentials that were sent.
        tried: AuthTried,
        /// Why a source of tokens failed.
        source: Option<Box<credentials::Error>>,
    },
    /// The source fails.
    #[error("the request for the {what} failed\n  from {url}\n  answered {status}{}{}", said(.answer), asked_for(*.retry_after))]
    Status {
        /// What was asked for.
        what: Document,
        /// Where.
        url: Shown,
        /// The status of the answer.
        status: u16,
        /// What the source says about it, in one line.
        answer: String,
        /// How long it wants to be left alone.
        retry_after: Option<Duration>,
    },
    /// Something else came.
    #[error("the {what} is not JSON\n  expected the content type application/json\n  received {}\n  from {url}", content_type(.received.as_deref()))]
    ContentType {
        /// What was asked for.
        what: Document,
        /// Where.
        url: Shown,
        /// The content type that came.
        received: Option<String>,
    },
    /// A document that cannot be understood.
    #[error("the {what} cannot be understood{}\n  from {url}", other_type(.received))]
    Json {
        /// What was asked for.
        what: Document,
        /// Where.
        url: Shown,
        /// The content type that came in place of that of JSON, or `none`.
        received: Option<String>,
        /// Why.
        source: json::Error,
    },
    /// A document in which an object has a member twice, so that its readers do not read it alike.
    #[error("the {what} repeats a member\n{}\n  from {url}", .repeated.facts(&.what.to_string()))]
    Repeated {
        /// What was asked for.
        what: Document,
        /// Where.
        url: Shown,
        /// Which member.
        repeated: json::Error,
    },
    /// A document that lists more than any provider has.
    #[error("the {what} lists too much\n{}\n  from {url}", .counted.facts(&.what.to_string()))]
    TooMany {
        /// What was asked for.
        what: Document,
        /// Where.
        url: Shown,
        /// How many of what are read.
        counted: json::Error,
    },
    /// A list of versions with something else in it. Clients refuse the whole list.
    #[error("the list of versions has an invalid version\n  from {url}")]
    Version {
        /// Where.
        url: Shown,
        /// Which.
        source: version::Error,
    },
    /// A platform that is none.
    #[error("the {what} has an invalid platform\n  from {url}")]
    Platform {
        /// Where it stands.
        what: Document,
        /// Where.
        url: Shown,
        /// Which.
        source: platform::Error,
    },
    /// A document says something else than what it was asked for, or than another.
    #[error("the {what} has another {field} than expected\n  expected {}\n  received {}\n  from {url}", printable(.expected), printable(.received))]
    Contradiction {
        /// The document.
        what: Document,
        /// What in it.
        field: &'static str,
        /// Where.
        url: Shown,
        /// What should be there.
        expected: String,
        /// What is there.
        received: String,
    },
    /// A package that cannot be read.
    #[error("the {what} cannot be used\n  from {url}")]
    Archive {
        /// The package.
        what: Document,
        /// Where.
        url: Shown,
        /// Why.
        source: archive::Error,
    },
    /// A mirror of directories.
    #[error("the author's zip cannot be made again from what is unpacked\n  received {}", printable_path(.path))]
    Unpacked {
        /// The directory of a version.
        path: PathBuf,
    },
    /// A link in a mirror, where there should be a directory.
    #[error("a directory of the mirror is a link, and clients follow none there\n  received {}", printable_path(.path))]
    Linked {
        /// The link.
        path: PathBuf,
    },
    /// Text that is no URL of a mirror.
    #[error("`{text}` is not the URL of a network mirror\n  expected https://HOST/PATH/")]
    MirrorUrl {
        /// What was given.
        text: Shown,
    },
    /// A host with a port, which no network mirror can serve.
    #[error("network mirrors cannot serve a host with a port")]
    MirrorPort,
    /// A file of a mirror that is no package.
    #[error("the file {} cannot be used", printable_path(.path))]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: archive::Error,
    },
    /// The source has nothing for any platform that was asked for.
    #[error("none of the wanted packages is published{}{}", wanted(.platforms), published(.available))]
    NoPlatform {
        /// Where it was looked for.
        place: String,
        /// The platforms; none if any would do.
        platforms: Vec<String>,
        /// For which platforms there are packages, by version; empty where that was not asked for.
        available: Vec<(Version, Vec<Platform>)>,
    },
}

/// What a source is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Document {
    /// What services a host has ([clients: service discovery](crate::clients#service-discovery)).
    Discovery,
    /// The versions of a provider ([clients: version lists](crate::clients#version-lists)).
    Versions,
    /// Where a package is, and what proves it ([clients: package metadata](crate::clients#package-metadata)).
    Download(Platform),
    /// The packages of a version in a mirror ([clients: network mirror answers](crate::clients#network-mirror-answers)).
    Archives,
    /// The checksum document.
    Checksums,
    /// The signature over it.
    Signature,
    /// The package.
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

fn other_protocol(others: &[String]) -> String {
    match others {
        [] => String::new(),
        others => format!(
            "\n  expected providers.v1\n  received {}",
            printable(&others.join(", "))
        ),
    }
}

fn wanted(platforms: &[String]) -> String {
    match platforms {
        [] => String::new(),
        platforms => format!("\n  expected {}", platforms.join(", ")),
    }
}

fn published(available: &[(Version, Vec<Platform>)]) -> String {
    let version = |(version, platforms): &(Version, Vec<Platform>)| {
        let platforms: Vec<String> = platforms.iter().map(Platform::to_string).collect();
        let platforms = match platforms.as_slice() {
            [] => "none".to_owned(),
            platforms => platforms.join(", "),
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

fn asked_for(retry_after: Option<Duration>) -> String {
    retry_after
        .map(|retry_after| format!("\n  asks for a pause of {} s", retry_after.as_secs()))
        .unwrap_or_default()
}

fn other_type(received: &Option<String>) -> String {
    received.as_ref().map_or_else(String::new, |received| {
        format!(
            "\n  expected the content type application/json\n  received {}",
            printable(received)
        )
    })
}

fn content_type(received: Option<&str>) -> String {
    received.map_or_else(|| "none".to_owned(), printable)
}

impl Error {
    /// The platform that it is about, where it is about one package.
    pub fn platform(&self) -> Option<&Platform> {
        let what = match self {
            Self::Unauthorized { what, .. }
            | Self::Status { what, .. }
            | Self::ContentType { what, .. }
            | Self::Json { what, .. }
            | Self::Repeated { what, .. }
            | Self::TooMany { what, .. }
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

    /// Whether the same request may get through a moment later.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Http(error) => error.is_passing(),
            _ => false,
        }
    }

    /// The error in one line, to report a retry.
    pub(super) fn in_short(&self) -> String {
        match self {
            Self::Http(error) => error.in_short(),
            error => error
                .to_string()
                .lines()
                .next()
                .unwrap_or_default()
                .to_owned(),
        }
    }

    /// What kind of problem it is.
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
            Self::Status { .. } => Category::Unreachable,
            Self::ContentType { .. }
            | Self::Json { .. }
            | Self::TooMany { .. }
            | Self::Version { .. }
            | Self::Platform { .. } => Category::Malformed,
            Self::Contradiction { .. } | Self::Repeated { .. } => Category::Untrusted,
            Self::Archive { source, .. } | Self::File { source, .. } => source.category(),
            Self::MirrorUrl { .. } => Category::Usage,
            Self::MirrorPort | Self::Unpacked { .. } | Self::Linked { .. } => Category::Unsupported,
        }
    }
}
