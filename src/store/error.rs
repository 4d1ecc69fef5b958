//! Errors of stores, and what helps.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::declined::{Breach, Declined, NO_LIST, Requested};
use crate::blob::{self, ReadError};
use crate::credentials::{self, FoundIn};
use crate::digest::Digest;
use crate::disk;
use crate::error::{Category, FEW, Hint, first_line, listed, printable, printable_path, said};
use crate::http::{self, Transient};
use crate::json;
use crate::oci::{self, Part, Refusal, Tag};
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
    /// A tag refers to more documents and blobs than any real provider has.
    #[error(
        "the index leads to too many documents and blobs\n  expected at most {limit}\n  received more"
    )]
    TooManyParts { limit: usize },
    /// The `index.json` of a layout is malformed, or has a duplicate member, so that its readers may understand it differently.
    #[error("{} is not the index of an OCI image layout", printable_path(.path))]
    LayoutIndex {
        path: PathBuf,
        /// The parse error, with its position.
        source: json::Error,
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
    /// The registry does not do what it was asked for.
    #[error("{declined}\n  from {url}\n  answered {status}{}", said(.answer))]
    Declined {
        declined: Declined,
        url: http::Shown,
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
    /// The host has no API of registries.
    #[error("{host} is not an OCI registry ({answered})")]
    NoRegistry {
        host: String,
        /// What shows it.
        answered: String,
    },
    /// The registry does not keep to its protocol.
    #[error(
        "the registry's answer cannot be used\n  from {url}\n  expected {expected}\n  received {received}"
    )]
    Protocol {
        breach: Breach,
        expected: String,
        /// What it answered, safe to print.
        received: String,
        url: http::Shown,
    },
    /// The registry's answer is not the expected JSON, or has a duplicate member, so that its readers may understand it differently.
    #[error("the {what} is not valid JSON of its kind\n  from {url}")]
    Document {
        what: Requested,
        /// The URL of the document.
        url: http::Shown,
        /// The parse error, with its position.
        source: json::Error,
    },
    /// The registry refused the credentials for the list of its repositories. It may refuse it to every user.
    #[error("{0}")]
    ListRefused(Box<Error>),
    /// Neither a directory that is written nor the one above it exists. A path on a disk that is not mounted has this form.
    #[error("cannot create the directory {}\n  expected that the directory above it exists", printable_path(.path))]
    NoParent { path: PathBuf },
    /// A layout without an `index.json` or a valid `oci-layout` file: a part of it may be missing.
    #[error("the layout {} is incomplete\n  expected its index.json, and the file oci-layout of version 1.0.0", printable_path(.path))]
    Incomplete { path: PathBuf },
    /// A file is not a bundle as tfoci writes it.
    #[error("cannot use the bundle{0}")]
    Bundle(BundleFault),
    /// A bundle cannot have this.
    #[error("cannot write the bundle{0}")]
    Unwritable(BundleFault),
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
    #[error("no OCI image layout is in {}", printable_path(.path))]
    NoStore { path: PathBuf },
}

/// What is wrong with a bundle, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}\n  expected {}\n  received {}", of_member(.path.as_deref(), .member), printable(.expected), printable(.received))]
pub struct BundleFault {
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
            Self::Declined { status, .. } | Self::Unauthorized { status, .. } => {
                format!("it answered {status}")
            }
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
            Self::Refusal(_) | Self::Missing { .. } | Self::TooManyParts { .. }
        ) || matches!(self, Self::Blob { source, .. } if source.is_damage())
    }

    /// Whether the store accepts no artifact of this type, regardless of the credentials.
    pub fn is_unsupported_artifact(&self) -> bool {
        self.unwelcome().is_some()
    }

    /// The part whose media types the registry does not accept.
    pub fn unwelcome(&self) -> Option<Part> {
        match self {
            Self::Declined {
                declined: Declined::MediaType(what),
                ..
            } => Some(*what),
            _ => None,
        }
    }

    /// Whether the network, the credentials or this machine caused the error. It then says nothing about the stored data.
    pub fn is_about_access(&self) -> bool {
        match self {
            Self::Declined { declined, .. } => {
                matches!(declined, Declined::Request(_) | Declined::Permission { .. })
            }
            Self::Http(_)
            | Self::Credentials(_)
            | Self::Unauthorized { .. }
            | Self::ListRefused(_)
            | Self::NoRegistry { .. }
            | Self::Protocol {
                breach: Breach::Realm,
                ..
            }
            | Self::Blob {
                source: blob::Error::Http(_),
                ..
            } => true,
            _ => self.category() == Category::Local,
        }
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
            | Self::TooManyParts { .. }
            | Self::TooManyEntries { .. }
            | Self::Bundle(_)
            | Self::Unwritable(_)
            | Self::Incomplete { .. } => Category::Malformed,
            Self::Missing { .. }
            | Self::LeftOut { .. }
            | Self::MissingPart { .. }
            | Self::NoStore { .. }
            | Self::NoParent { .. }
            | Self::NoRegistry { .. } => Category::NotFound,
            Self::IsRepository { .. } | Self::ReadOnly => Category::Usage,
            Self::Http(error) => error.category(),
            Self::Credentials(error) => error.category(),
            Self::ListRefused(error) => error.category(),
            Self::Unauthorized { .. } => Category::Unauthorized,
            Self::Declined {
                declined, status, ..
            } => declined.category(*status),
            Self::Protocol { .. } => Category::Malformed,
        }
    }
}

fn unauthorized(tried: Option<&FoundIn>) -> &'static str {
    match tried {
        Some(_) => "the registry refused the credentials",
        None => "the registry requires credentials",
    }
}

fn sent(found_in: Option<&FoundIn>) -> String {
    match found_in {
        Some(found_in) => found_in.to_string(),
        None => "no credentials, since there are none that can be used".to_owned(),
    }
}

fn by(token_server: Option<&str>) -> String {
    token_server.map_or_else(String::new, |host| format!("\n  token server {host}"))
}

/// Names a bundle and its member, as far as they can be named.
fn of_member(path: Option<&Path>, member: &str) -> String {
    let member = (!member.is_empty()).then(|| format!("\n  member {}", printable(member)));
    let path = path.map(|path| format!(" {}", printable_path(path)));
    format!("{}{}", path.unwrap_or_default(), member.unwrap_or_default())
}

/// What helps if there is no store at a path, or nothing in it.
pub const CHECK_PATH: &str =
    "check the path: `tfoci push`, `mirror` and `copy` create a store there";

impl Hint for Error {
    fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Disk(error) => return error.hint(),
            Self::Template(error) => return error.hint(),
            Self::Http(error) => return error.hint(),
            Self::Credentials(error) => return error.hint(),
            Self::Refusal(error) => return error.hint(),
            Self::Blob { source, .. } if !source.is_damage() => return source.hint(),
            Self::Blob { .. } | Self::Missing { .. } => {
                "`--existing replace` of `tfoci push` or `tfoci copy` writes the version again"
            }
            Self::Declined {
                declined,
                status,
                url,
                ..
            } => return declined.hint(*status, url),
            Self::Moved { .. } => "find out who moved the tag before you use the new reference",
            Self::LayoutIndex { source, .. } | Self::Document { source, .. }
                if source.category() == Category::Untrusted =>
            {
                "find out who wrote it before you replace it: two readers see two packages in it"
            }
            Self::IsRepository { .. } => {
                "to read this one repository, name its provider and add `--exact-repository`"
            }
            Self::NoParent { .. } => "create the directory above it, or mount its disk",
            Self::Incomplete { .. } | Self::LayoutIndex { .. } => {
                "restore the file; without a copy of it, delete the directory and fill it again"
            }
            Self::ReadOnly => {
                "write into a layout or a registry, and then run `tfoci copy --from STORE --to bundle:FILE`"
            }
            Self::LeftOut { .. } => "copy the delta into the store that has the rest",
            Self::Bundle(_) => "carry it over again: `tfoci verify` checks it before it leaves",
            Self::NoStore { .. } => CHECK_PATH,
            Self::Unauthorized { host, .. } => {
                return Some(format!("`tfoci login {host}` stores credentials"));
            }
            Self::ListRefused(_) => NO_LIST,
            Self::NoRegistry { .. } => {
                "name the host and port of a registry; `tfoci mirror` reads network mirrors"
            }
            Self::Protocol {
                breach: Breach::Link,
                ..
            } => http::OUTER_ADDRESS,
            _ => return None,
        };
        Some(text.to_owned())
    }
}

/// Why a blob was not written to a store.
#[derive(Debug, thiserror::Error)]
pub enum PutError<F> {
    /// The store failed or refused the blob.
    #[error(transparent)]
    Store(Error),
    /// The source failed, or gave wrong bytes.
    #[error(transparent)]
    Source(ReadError<F>),
}

impl<F, E: Into<Error>> From<E> for PutError<F> {
    fn from(error: E) -> Self {
        Self::Store(error.into())
    }
}
