//! What a store could not do.

use std::path::PathBuf;

use super::registry::known::KnownRegistry;
use crate::blob;
use crate::credentials;
use crate::digest::Digest;
use crate::disk;
use crate::error::{Category, printable, printable_path};
use crate::http;
use crate::json;
use crate::oci::{self, Part, Refusal};

/// Something that a store could not do, or would not.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// This machine.
    #[error(transparent)]
    Disk(#[from] disk::Error),
    /// Bytes that cannot be had, or are not the right ones.
    #[error("the {what} {digest} cannot be used")]
    Blob {
        /// What the bytes are.
        what: Part,
        /// Their digest.
        digest: Digest,
        /// What is wrong with them.
        source: blob::Error,
    },
    /// Something that clients would refuse.
    #[error(transparent)]
    Refusal(#[from] Refusal),
    /// Something that cannot be written.
    #[error(transparent)]
    Oci(#[from] oci::Error),
    /// A descriptor leads nowhere.
    #[error("the {what} {digest} is missing")]
    Missing {
        /// What is missing.
        what: Part,
        /// Its digest.
        digest: Digest,
    },
    /// A document is larger than anything of its kind.
    #[error("the {what} is too large\n  expected at most {limit} bytes\n  received {size} bytes")]
    TooLarge {
        /// Which document.
        what: Part,
        /// The limit in bytes.
        limit: u64,
        /// Its declared size in bytes.
        size: u64,
    },
    /// A tag leads to more documents and blobs than any provider's does.
    #[error("the index leads to too many documents and blobs\n  expected at most {limit}")]
    TooManyParts {
        /// The most that are read.
        limit: usize,
    },
    /// The `index.json` of a layout cannot be understood.
    #[error("{} is not the index of an OCI image layout", printable_path(.path))]
    LayoutIndex {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        source: json::Error,
    },
    /// The `index.json` of a layout has a member twice, so that its readers do not read it alike.
    #[error("{} repeats a member\n{}", printable_path(.path), .repeated.facts("layout's index"))]
    LayoutRepeated {
        /// The file.
        path: PathBuf,
        /// Which member.
        repeated: json::Error,
    },
    /// The `index.json` of a layout cannot be written, which nothing that was read or built here can cause.
    #[error("{} cannot be written", printable_path(.path))]
    Unwritten {
        /// The file.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
    /// A directory has an `index.json`, and no file `oci-layout` that says what it is.
    #[error("{} is not the mark of an OCI image layout\n  expected {}", printable_path(.path), String::from_utf8_lossy(oci::tags::LAYOUT))]
    Marker {
        /// The file.
        path: PathBuf,
    },
    /// A directory that is itself a repository was given as the root of many.
    #[error("{} is itself an OCI image layout\n  expected a directory of layouts", printable_path(.path))]
    IsRepository {
        /// The directory.
        path: PathBuf,
    },
    /// The network.
    #[error(transparent)]
    Http(#[from] http::Error),
    /// Credentials that were found cannot be used.
    #[error(transparent)]
    Credentials(#[from] credentials::Error),
    /// A registry refuses.
    #[error("the registry answered {status} to a request for the {what}{}\n  from {url}", said(.answer))]
    Registry {
        /// What was asked for.
        what: &'static str,
        /// Where.
        url: http::Shown,
        /// The status of the answer.
        status: u16,
        /// What the registry says about it.
        answer: String,
    },
    /// A registry does not take a manifest because of its media types.
    #[error("the registry does not take the {what}\n  registry {host}\n  answered {status}{}", said(.answer))]
    Unwelcome {
        /// What it does not take.
        what: Part,
        /// The registry.
        host: String,
        /// The status of the answer.
        status: u16,
        /// What the registry says about it.
        answer: String,
    },
    /// A registry does not let go of what a tag stands for.
    #[error("the registry does not move the tag\n  {reference}\n  answered {status}{}", said(.answer))]
    Immutable {
        /// Repository and tag.
        reference: String,
        /// The status of the answer.
        status: u16,
        /// What the registry says about it.
        answer: String,
    },
    /// A registry, or its token server, refuses the credentials, or wants some.
    #[error("{}\n  registry {host}{}\n  answered {status}{}\n  tried {}", unauthorized(.tried.as_deref()), by(.token_server.as_deref()), said(.answer), .tried.as_deref().unwrap_or("no credentials, since none were found"))]
    Unauthorized {
        /// The registry.
        host: String,
        /// The token server, if that refused, and is another host.
        token_server: Option<String>,
        /// Where the credentials came from that were tried.
        tried: Option<String>,
        /// The status of the answer.
        status: u16,
        /// What the registry says about it.
        answer: String,
    },
    /// Another host refuses, to which a registry has led by a redirect, or by the `Location` of an upload. It got no credentials.
    #[error("the registry leads to a host that refuses the request for the {what}\n  registry {registry}\n  from {url}\n  answered {status}{}\n  tried no credentials, since they are for the registry alone", said(.answer))]
    RefusedElsewhere {
        /// What was asked for.
        what: &'static str,
        /// The registry.
        registry: String,
        /// Who refused.
        url: http::Shown,
        /// The status of the answer.
        status: u16,
        /// What that host says about it.
        answer: String,
    },
    /// A registry names a token server that may not see a password.
    #[error("{host} names a token server that cannot be used\n  expected an https URL")]
    Realm {
        /// The registry.
        host: String,
    },
    /// The list of tags goes on somewhere else.
    #[error("the list of tags continues at another host\n  received {url}")]
    ForeignPage {
        /// Where.
        url: http::Shown,
    },
    /// The list of tags never ends.
    #[error("the list of tags does not end\n  at {url}")]
    EndlessPages {
        /// The page that came again, or after which there are too many.
        url: http::Shown,
    },
    /// A registry answered with something that is not the JSON that it should be.
    #[error("the {what} is not valid JSON of its kind\n  from {url}")]
    Document {
        /// What it should be.
        what: &'static str,
        /// Where it came from.
        url: http::Shown,
        /// What is wrong, and where.
        source: json::Error,
    },
    /// A registry's document has a member twice, so that its readers do not read it alike.
    #[error("the {what} repeats a member\n{}\n  from {url}", .repeated.facts(.what))]
    Repeated {
        /// What it should be.
        what: &'static str,
        /// Where it came from.
        url: http::Shown,
        /// Which member.
        repeated: json::Error,
    },
    /// A list of tags is longer than that of any provider.
    #[error("the list of tags is too long\n  expected at most {limit} tags\n  from {url}")]
    ManyTags {
        /// The page with which it became too long.
        url: http::Shown,
        /// The most that is read.
        limit: usize,
    },
    /// A registry accepted an upload and does not say where.
    #[error("the registry does not say where to upload to\n  from {url}")]
    NoLocation {
        /// What was asked.
        url: http::Shown,
    },
    /// A registry does not have a repository, and does not make it when something is pushed.
    #[error("the registry has no repository `{}`\n  answered 404{}\n  from {url}", printable(.name), said(.answer))]
    NoRepository {
        /// The registry, as far as it is known.
        registry: KnownRegistry,
        /// The repository's name in it.
        name: String,
        /// What was asked.
        url: http::Shown,
        /// What the registry says about it.
        answer: String,
    },
    /// A registry says that it has other bytes of an upload than can be.
    #[error("the registry reports an impossible upload offset\n  expected {least} to {most} bytes\n  received {}\n  from {url}", told(.received))]
    Offset {
        /// What was asked.
        url: http::Shown,
        /// How many bytes it must have.
        least: u64,
        /// How many bytes it can have.
        most: u64,
        /// How many it says that it has.
        received: Option<u64>,
    },
    /// A registry wants chunks that are longer than any that is kept in memory.
    #[error(
        "the registry wants too long chunks\n  expected at most {limit} bytes\n  received at least {least} bytes\n  from {url}"
    )]
    LongChunks {
        /// What was asked.
        url: http::Shown,
        /// The limit in bytes.
        limit: u64,
        /// What the registry wants at least, in bytes.
        least: u64,
    },
    /// Nothing is where a store should be read.
    #[error("there is no OCI image layout in {}", printable_path(.path))]
    NoStore {
        /// The directory.
        path: PathBuf,
    },
}

fn said(answer: &str) -> String {
    if answer.is_empty() {
        String::new()
    } else {
        format!(" ({answer})")
    }
}

fn unauthorized(tried: Option<&str>) -> &'static str {
    match tried {
        Some(_) => "the registry refused the credentials",
        None => "the registry requires credentials",
    }
}

fn by(token_server: Option<&str>) -> String {
    token_server.map_or_else(String::new, |host| format!("\n  token server {host}"))
}

fn told(count: &Option<u64>) -> String {
    count.map_or_else(|| "no number".to_owned(), |count| format!("{count} bytes"))
}

impl Error {
    /// Bytes that could not be read: absent, or not the right ones.
    pub fn reading(what: Part, digest: Digest, source: blob::Error) -> Self {
        match source {
            blob::Error::Disk(error) if error.is_not_found() => Self::Missing { what, digest },
            blob::Error::Missing => Self::Missing { what, digest },
            source => Self::Blob {
                what,
                digest,
                source,
            },
        }
    }

    /// What happened, in a line, without where: whoever asks knows that.
    pub(super) fn in_short(&self) -> String {
        match self {
            Self::Http(error) => error.in_short(),
            Self::Registry { status, .. }
            | Self::Unauthorized { status, .. }
            | Self::RefusedElsewhere { status, .. } => {
                format!("it answered {status}")
            }
            other => other
                .to_string()
                .lines()
                .next()
                .unwrap_or_default()
                .to_owned(),
        }
    }

    /// Whether what is in the store is at fault, not the way to it: only then may it be judged, and written anew.
    pub fn is_damage(&self) -> bool {
        matches!(
            self,
            Self::Refusal(_)
                | Self::Missing { .. }
                | Self::TooLarge { .. }
                | Self::TooManyParts { .. }
        ) || matches!(self, Self::Blob { source, .. } if source.fault().is_some())
    }

    /// Whether the store takes no such thing, whoever brings it.
    pub fn is_unwelcome(&self) -> bool {
        matches!(self, Self::Unwelcome { .. })
    }

    /// Whether it is the way to the store that is at fault, or this machine: it says nothing about what is there.
    pub fn is_on_the_way(&self) -> bool {
        let way = matches!(
            self,
            Self::Http(_)
                | Self::Credentials(_)
                | Self::Registry { .. }
                | Self::Unauthorized { .. }
                | Self::RefusedElsewhere { .. }
                | Self::Blob {
                    source: blob::Error::Http(_) | blob::Error::NotGiven { .. },
                    ..
                }
        );
        way || self.category() == Category::Local
    }

    /// A short, stable name for what is wrong with the artifact, `PART-WHAT`; `None` where it is not the artifact's fault.
    pub fn code(&self) -> Option<String> {
        let (what, fault) = match self {
            Self::Refusal(refusal) => return Some(refusal.code()),
            Self::Blob { what, source, .. } => (what, source.fault()?),
            Self::Missing { what, .. } => (what, "missing"),
            Self::TooLarge { what, .. } => (what, "too-large"),
            Self::TooManyParts { .. } => (&Part::Index, "too-large"),
            _ => return None,
        };
        Some(format!("{}-{fault}", what.as_str()))
    }

    /// What kind of problem it is.
    pub fn category(&self) -> Category {
        match self {
            Self::Disk(error) => error.category(),
            Self::Blob { source, .. } => source.category(),
            Self::Refusal(refusal) => refusal.category(),
            Self::LayoutRepeated { .. } | Self::Repeated { .. } => Category::Untrusted,
            Self::Oci(_)
            | Self::LayoutIndex { .. }
            | Self::Unwritten { .. }
            | Self::Marker { .. }
            | Self::TooLarge { .. }
            | Self::TooManyParts { .. } => Category::Malformed,
            Self::Missing { .. } | Self::NoStore { .. } | Self::NoRepository { .. } => {
                Category::NotFound
            }
            Self::IsRepository { .. } => Category::Usage,
            Self::Http(error) => error.category(),
            Self::Credentials(error) => error.category(),
            Self::Unauthorized { .. } | Self::RefusedElsewhere { .. } => Category::Unauthorized,
            Self::Registry { status: 404, .. } => Category::NotFound,
            Self::Registry {
                status: 429 | 500..,
                ..
            } => Category::Unreachable,
            Self::Immutable { .. } => Category::Conflict,
            Self::Registry { .. } | Self::Unwelcome { .. } => Category::Unsupported,
            Self::Realm { .. }
            | Self::ForeignPage { .. }
            | Self::EndlessPages { .. }
            | Self::ManyTags { .. }
            | Self::Document { .. }
            | Self::NoLocation { .. }
            | Self::Offset { .. } => Category::Malformed,
            Self::LongChunks { .. } => Category::Unsupported,
        }
    }
}
