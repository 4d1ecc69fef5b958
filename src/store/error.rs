//! Errors of stores, and what helps.

use std::path::PathBuf;
use std::time::Duration;

use super::bundle_error::BundleError;
use super::declined::{Breach, Declined};
use super::layout_fault::LayoutFault;
use crate::blob::{self, ReadError};
use crate::credentials::{self, FoundIn};
use crate::digest::Digest;
use crate::disk;
use crate::error::{Category, Hint, first_line, printable_path, said};
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
    /// A list of a registry or the `index.json` of a layout is not the expected JSON, or has a duplicate member, so that its readers may understand
    /// it differently.
    #[error("the {what} is not valid JSON of its kind\n  from {from}")]
    Unread {
        /// The name of the document.
        what: String,
        /// Its URL or path, safe to print.
        from: String,
        /// The parse error, with its position.
        source: json::Error,
    },
    /// A directory cannot be used as a store.
    #[error("{} {fault}", printable_path(.path))]
    Layout { path: PathBuf, fault: LayoutFault },
    /// A bundle cannot be used or written.
    #[error(transparent)]
    Bundle(#[from] BundleError),
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
    #[error("{}\n  registry {host}{}\n  answered {status}{}\n  tried {}", unauthorized(.tried.as_ref(), *.status), by(.token_server.as_deref()), said(.answer), sent(.tried.as_ref()))]
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

    /// A tag refers to more documents and blobs than any real provider has.
    pub(crate) fn too_many_parts(limit: usize) -> Self {
        Refusal::unread(Part::Index, json::Error::too_many("parts", limit)).into()
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
        match self {
            Self::Refusal(_) | Self::Missing { .. } => true,
            Self::Blob { source, .. } => source.is_damage(),
            _ => false,
        }
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
            Self::Declined { declined, .. } => matches!(declined, Declined::Request(_)),
            Self::Http(_)
            | Self::Credentials(_)
            | Self::Unauthorized { .. }
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
            Self::Unread { source, .. } => source.category(),
            Self::Layout { fault, .. } => fault.category(),
            Self::Bundle(error) => error.category(),
            Self::Moved { .. } => Category::Untrusted,
            Self::Oci(_) | Self::Protocol { .. } => Category::Malformed,
            Self::Missing { .. } | Self::NoRegistry { .. } => Category::NotFound,
            Self::Http(error) => error.category(),
            Self::Credentials(error) => error.category(),
            Self::Unauthorized { .. } => Category::Unauthorized,
            Self::Declined {
                declined, status, ..
            } => declined.category(*status),
        }
    }
}

fn unauthorized(tried: Option<&FoundIn>, status: u16) -> &'static str {
    match tried {
        Some(_) if status == 403 => "the credentials are not enough for this",
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

impl Hint for Error {
    fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Disk(error) => return error.hint(),
            Self::Template(error) => return error.hint(),
            Self::Http(error) => return error.hint(),
            Self::Credentials(error) => return error.hint(),
            Self::Refusal(error) => return error.hint(),
            Self::Bundle(error) => return error.hint(),
            Self::Layout { fault, .. } => return fault.hint(),
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
            Self::Unread { source, .. } if source.category() == Category::Untrusted => {
                "find out who wrote it before you replace it: two readers see two packages in it"
            }
            Self::Unauthorized { host, .. } => {
                return Some(format!("`tfoci login {host}` stores credentials"));
            }
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
