//! Errors of stores.

use std::path::PathBuf;
use std::time::Duration;

use super::phrases::{by, marker, of_member, received_bytes, repeated, sent, unauthorized, user};
use super::requested::Requested;
use crate::blob::{self, ReadError};
use crate::credentials::{self, FoundIn};
use crate::digest::Digest;
use crate::disk;
use crate::error::{Category, FEW, first_line, listed, printable, printable_path, said};
use crate::http::{self, Transient};
use crate::json;
use crate::oci::{self, Part, Refusal, Repository, Tag};
use crate::template;

/// An operation that a store could not do or refused.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Error {
    /// A local file operation failed.
    #[error(transparent)]
    Disk(#[from] disk::Error),
    /// Nothing is written to repositories by this template.
    #[error(transparent)]
    Template(#[from] template::Error),
    /// The bytes of a blob cannot be read, or do not match its digest.
    #[error("the {what} {digest} cannot be used")]
    Blob {
        /// The part of the artifact.
        what: Part,
        digest: Digest,
        /// Why they cannot be used.
        source: blob::Error,
    },
    /// Clients would refuse the document.
    #[error(transparent)]
    Refusal(#[from] Refusal),
    /// The document cannot be serialized.
    #[error(transparent)]
    Oci(#[from] oci::Error),
    /// A descriptor refers to something that is not there.
    #[error("the {what} {digest} is missing")]
    Missing {
        /// The missing part.
        what: Part,
        digest: Digest,
    },
    /// A tag refers to another index than the one that the user named.
    #[error(
        "the tag `{tag}` refers to another index\n  expected {expected}\n  received {received}"
    )]
    Moved {
        tag: Tag,
        expected: Digest,
        received: Digest,
    },
    /// A document exceeds the size limit for its kind.
    #[error("the {what} is too large\n  expected at most {limit} bytes\n  received {size} bytes")]
    TooLarge {
        what: Part,
        limit: u64,
        /// Its declared size in bytes.
        size: u64,
    },
    /// A tag refers to more documents and blobs than any real provider has.
    #[error(
        "the index leads to too many documents and blobs\n  expected at most {limit}\n  received more"
    )]
    TooManyParts { limit: usize },
    /// The `index.json` of a layout is malformed, or has a duplicate member, so that its readers may understand it differently.
    #[error("{} is not the index of an OCI image layout{}", printable_path(.path), repeated(.source, "layout's index"))]
    LayoutIndex {
        path: PathBuf,
        /// The parse error, with its position.
        source: json::Error,
    },
    /// A directory has an `index.json`, but no valid `oci-layout` file.
    #[error("{} is not the `oci-layout` file of an OCI image layout\n  expected {}\n  received {}", printable_path(.path), String::from_utf8_lossy(oci::tags::LAYOUT), marker(.received.as_deref()))]
    Marker {
        path: PathBuf,
        /// The content of the file; `None` if it does not exist.
        received: Option<Vec<u8>>,
    },
    /// A directory that is itself a layout was given where a directory of layouts is expected.
    #[error("{} is itself an OCI image layout\n  expected a directory of layouts", printable_path(.path))]
    IsRepository { path: PathBuf },
    /// A directory of layouts has more entries than any real one, or links to directories above them.
    #[error("the directory {} has too many entries\n  expected at most {limit} in the three levels HOSTNAME/NAMESPACE/TYPE\n  received more", printable_path(.path))]
    TooManyEntries { path: PathBuf, limit: usize },
    /// An HTTP request failed.
    #[error(transparent)]
    Http(#[from] http::Error),
    /// The configured credentials are unusable.
    #[error(transparent)]
    Credentials(#[from] credentials::Error),
    #[error("the registry answered {status} to a request for the {what}{}\n  from {url}", said(.answer))]
    Registry {
        what: Requested,
        url: http::Shown,
        status: u16,
        /// The error message of the registry.
        answer: String,
        /// Whether the host speaks TLS, and answered a request in plain HTTP.
        wants_tls: bool,
    },
    /// The registry does not accept a manifest because of its media types.
    #[error("the registry does not accept the {what}\n  registry {host}\n  answered {status}{}", said(.answer))]
    Unwelcome {
        /// The part that it does not accept.
        what: Part,
        host: String,
        status: u16,
        /// The error message of the registry.
        answer: String,
    },
    /// The registry does not delete manifests.
    #[error("the registry {host} does not delete manifests{}", said(.answer))]
    NoDeletion {
        host: String,
        /// The error message of the registry.
        answer: String,
    },
    /// The registry does not allow an existing tag to change.
    #[error("the registry does not let the tag move\n  {repository}:{reference}\n  answered {status}{}", said(.answer))]
    Immutable {
        repository: Repository,
        /// The tag or digest that was to be written.
        reference: String,
        status: u16,
        /// The error message of the registry.
        answer: String,
    },
    /// The registry or its token server refused the credentials, or requires some.
    #[error("{}\n  registry {host}{}\n  answered {status}{}\n  tried {}", unauthorized(.tried.as_ref()), by(.token_server.as_deref()), said(.answer), sent(.tried.as_ref()))]
    Unauthorized {
        host: String,
        /// The token server, if it refused the credentials and is another host.
        token_server: Option<String>,
        /// The source of the credentials; `None` if none were found.
        tried: Option<FoundIn>,
        status: u16,
        /// The error message of the registry.
        answer: String,
    },
    /// The registry knows the user, who lacks a permission.
    #[error("{} may not {} {repository}: the registry answered 403{}\n  tried {tried}", user(.username.as_deref()), .what.action(), said(.answer))]
    Forbidden {
        /// The user of the credentials; `None` for a token.
        username: Option<String>,
        what: Requested,
        repository: Repository,
        /// The host of the registry.
        host: String,
        /// The source of the credentials.
        tried: FoundIn,
        /// The error message of the registry.
        answer: String,
    },
    /// The host has no API of registries.
    #[error("{host} is not an OCI registry ({answered})")]
    NoRegistry {
        host: String,
        /// What shows it.
        answered: String,
    },
    /// Another host refused the request: the target of a redirect, or the `Location` of an upload. tfoci sends it no credentials.
    #[error("the registry leads to a host that refuses the request for the {what}\n  registry {registry}\n  from {url}\n  answered {status}{}\n  tried no credentials, since they are for the registry alone", said(.answer))]
    RefusedElsewhere {
        what: Requested,
        registry: String,
        /// The URL at that host.
        url: http::Shown,
        status: u16,
        /// The error message of that host.
        answer: String,
    },
    /// The registry names a token server whose URL is invalid or not https, so that tfoci sends it no credentials.
    #[error("{host} names a token server that cannot be used\n  expected an https URL without a user name\n  received {}", .received.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string))]
    Realm {
        host: String,
        /// The URL in the challenge.
        received: Option<http::Shown>,
    },
    /// The header that names the next page of a list has another form, or names a page with another scheme, host or port.
    #[error(
        "the {what} continues at a page that cannot be read\n  expected a `Link` with <URL> at {origin}\n  received {received}"
    )]
    BadLink {
        what: Requested,
        /// The scheme, host and port of the page before.
        origin: String,
        /// The header or its URL.
        received: http::Shown,
        /// Whether the page has another scheme, host or port.
        is_foreign: bool,
    },
    /// The registry's answer is not the expected JSON, or has a duplicate member, so that its readers may understand it differently.
    #[error("the {what} is not valid JSON of its kind\n  from {url}{}", repeated(.source, &.what.to_string()))]
    Document {
        what: Requested,
        /// The URL of the document.
        url: http::Shown,
        /// The parse error, with its position.
        source: json::Error,
    },
    /// The list of tags or repositories is longer than any real one, or leads back to a page of it.
    #[error(
        "the {what} is too long, or does not end\n  expected at most {limit} items\n  received more\n  from {url}"
    )]
    LongList {
        what: Requested,
        /// The page that exceeds the limit, or repeats.
        url: http::Shown,
        limit: usize,
    },
    /// The registry does not list its repositories, or not to this user.
    #[error("this registry does not list its repositories\n  registry {host}\n  answered {status}{}", said(.answer))]
    NoCatalog {
        host: String,
        status: u16,
        answer: String,
    },
    /// The registry refused the credentials for the list of its repositories. It may refuse it to every user.
    #[error("{0}")]
    ListRefused(Box<Error>),
    /// The registry started an upload without a `Location`.
    #[error("the registry does not say where to upload to\n  from {url}")]
    NoLocation { url: http::Shown },
    /// The repository does not exist, and the registry does not create it on push.
    #[error("the registry has no repository `{}`\n  answered 404{}\n  from {url}", .repository.host_and_name().1, said(.answer))]
    NoRepository {
        repository: Repository,
        url: http::Shown,
        /// The error message of the registry.
        answer: String,
    },
    /// The registry reports an impossible number of uploaded bytes.
    #[error("the registry reports an impossible upload offset\n  expected {least} to {most} bytes\n  received {}\n  from {url}", received_bytes(.received))]
    Offset {
        url: http::Shown,
        /// The least number of bytes that it can have.
        least: u64,
        /// The greatest number of bytes that it can have.
        most: u64,
        /// The number of bytes that it reports.
        received: Option<u64>,
    },
    /// The registry requires larger chunks than tfoci keeps in memory.
    #[error(
        "the registry requires chunks that are too long\n  expected at most {limit} bytes\n  received at least {least} bytes\n  from {url}"
    )]
    LongChunks {
        url: http::Shown,
        limit: u64,
        /// The least chunk size that the registry accepts, in bytes.
        least: u64,
    },
    /// Neither a directory that is written nor the one above it exists. A path on a disk that is not mounted has this form.
    #[error("cannot create the directory {}\n  expected that the directory above it exists", printable_path(.path))]
    NoParent { path: PathBuf },
    /// A layout without an `index.json`, or a link that leads nowhere: a part may be missing, or its disk is not mounted.
    #[error("the layout {} is incomplete\n  expected its index.json", printable_path(.path))]
    Incomplete { path: PathBuf },
    /// A bundle cannot be used or written.
    #[error(transparent)]
    Bundle(Refused),
    /// A delta leaves out a blob, which the target of a copy has.
    #[error("the package {digest} is not in this delta")]
    LeftOut { digest: Digest },
    /// A part of a set is not there.
    #[error("a part of the bundle is missing\n  expected {}\n  left out {}", printable_path(.path), printable(&listed(.versions, FEW)))]
    MissingPart {
        path: PathBuf,
        /// The versions that only this part, or another missing one, has.
        versions: Vec<String>,
    },
    /// Only `copy` writes bundles.
    #[error("a bundle is written by `tfoci copy` only")]
    ReadOnly,
    /// There is no store at the path.
    #[error("{}", if *.is_directory { format!("no OCI image layout is in {}", printable_path(.path)) } else { format!("cannot find the directory {}", printable_path(.path)) })]
    NoStore {
        path: PathBuf,
        /// Whether the path is that of a directory.
        is_directory: bool,
    },
}

/// A file is not a bundle as tfoci writes it, or a bundle cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot {action} the bundle{}\n  expected {}\n  received {}", of_member(.path.as_deref(), .member), printable(.expected), printable(.received))]
pub struct Refused {
    /// `use` or `write`
    pub action: &'static str,
    /// The file; `None` where none can be named.
    pub path: Option<PathBuf>,
    /// The member; empty where none can be named.
    pub member: String,
    /// What a bundle has there.
    pub expected: String,
    /// What is there.
    pub received: String,
}

impl Error {
    /// A blob that could not be read: missing or damaged.
    pub fn reading(what: Part, digest: Digest, error: impl Into<ReadError<Self>>) -> Self {
        match error.into() {
            ReadError::Source(error) => error,
            ReadError::Blob(blob::Error::Disk(error)) if error.is_not_found() => {
                Self::Missing { what, digest }
            }
            ReadError::Blob(blob::Error::Missing) => Self::Missing { what, digest },
            ReadError::Blob(source) => Self::Blob {
                what,
                digest,
                source,
            },
        }
    }

    /// The failure of a request that is sent again. The caller adds the location.
    pub(super) fn transient(&self, retry_after: Duration) -> Transient {
        let reason = match self {
            Self::Http(error) => error.summary(),
            Self::Registry { status, .. }
            | Self::Unauthorized { status, .. }
            | Self::RefusedElsewhere { status, .. } => {
                format!("it answered {status}")
            }
            Self::Forbidden { .. } => "it answered 403".to_owned(),
            other => first_line(other),
        };
        Transient {
            retry_after,
            reason,
        }
    }

    /// Whether the stored data is missing or damaged, as opposed to unreachable. Only then may tfoci write it again.
    pub fn is_damage(&self) -> bool {
        matches!(
            self,
            Self::Refusal(_)
                | Self::Missing { .. }
                | Self::TooLarge { .. }
                | Self::TooManyParts { .. }
        ) || matches!(self, Self::Blob { source, .. } if source.is_damage())
    }

    /// Whether the store accepts no artifact of this type, regardless of the credentials.
    pub fn is_unsupported_artifact(&self) -> bool {
        matches!(self, Self::Unwelcome { .. })
    }

    /// Whether the network, the credentials or this machine caused the error. It then says nothing about the stored data.
    pub fn is_about_access(&self) -> bool {
        let way = matches!(
            self,
            Self::Http(_)
                | Self::Credentials(_)
                | Self::Registry { .. }
                | Self::Unauthorized { .. }
                | Self::ListRefused(_)
                | Self::Forbidden { .. }
                | Self::NoRegistry { .. }
                | Self::RefusedElsewhere { .. }
                | Self::Realm { .. }
                | Self::Blob {
                    source: blob::Error::Http(_),
                    ..
                }
        );
        way || self.category() == Category::Local
    }

    /// The category that decides the exit code.
    pub fn category(&self) -> Category {
        match self {
            Self::Disk(error) => error.category(),
            Self::Template(error) => error.category(),
            Self::Blob { source, .. } => source.category(),
            Self::Refusal(refusal) => refusal.category(),
            Self::LayoutIndex { source, .. } | Self::Document { source, .. } => source.category(),
            Self::Moved { .. } => Category::Untrusted,
            Self::Oci(_)
            | Self::Marker { .. }
            | Self::TooLarge { .. }
            | Self::TooManyParts { .. }
            | Self::TooManyEntries { .. }
            | Self::Bundle(_)
            | Self::Incomplete { .. } => Category::Malformed,
            Self::Missing { .. }
            | Self::LeftOut { .. }
            | Self::MissingPart { .. }
            | Self::NoStore { .. }
            | Self::NoParent { .. }
            | Self::NoRepository { .. }
            | Self::NoRegistry { .. } => Category::NotFound,
            Self::IsRepository { .. } | Self::ReadOnly => Category::Usage,
            Self::Http(error) => error.category(),
            Self::Credentials(error) => error.category(),
            Self::ListRefused(error) => error.category(),
            Self::Unauthorized { .. } | Self::Forbidden { .. } | Self::RefusedElsewhere { .. } => {
                Category::Unauthorized
            }
            Self::Registry { status: 404, .. } => Category::NotFound,
            Self::Registry {
                status: 429 | 500..,
                ..
            } => Category::Unreachable,
            Self::Immutable { .. } => Category::Conflict,
            Self::Registry { .. }
            | Self::Unwelcome { .. }
            | Self::NoDeletion { .. }
            | Self::NoCatalog { .. } => Category::Unsupported,
            Self::Realm { .. }
            | Self::BadLink { .. }
            | Self::LongList { .. }
            | Self::NoLocation { .. }
            | Self::Offset { .. } => Category::Malformed,
            Self::LongChunks { .. } => Category::Unsupported,
        }
    }
}
