//! What a registry does not do, and what helps.

use std::fmt;

use super::known::KnownRegistry;
use crate::error::Category;
use crate::http;
use crate::oci::{Part, Repository};

/// What a registry does not do.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Declined {
    /// Any other request. Another host may have refused it, to which a redirect or the `Location` of an upload led, and which gets no credentials.
    #[error("the request for the {0} failed")]
    Request(Requested),
    /// It does not accept the media types of a manifest.
    #[error("the registry does not accept the {0}")]
    MediaType(Part),
    /// It does not delete manifests.
    #[error("the registry does not delete manifests")]
    Deletion,
    /// It does not let an existing tag move.
    #[error("the registry does not let the tag move\n  {0}:{1}")]
    TagMove(Repository, String),
    /// It does not list its repositories, or not to this user.
    #[error("this registry does not list its repositories")]
    Catalog,
    /// The repository does not exist, and the registry does not create it on push.
    #[error("the registry has no repository `{}`", .0.host_and_name().1)]
    Repository(Repository),
}

/// Where a registry does not keep to its protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breach {
    /// The URL of the token server, so that tfoci sends it no credentials.
    Realm,
    /// The header that names the next page of a list: it has another form, or leads to another scheme, host or port.
    Link,
    /// Lists and uploads.
    Other,
}

impl Declined {
    pub(super) fn category(&self, status: u16) -> Category {
        match (self, status) {
            (Self::Request(_), 401 | 403) | (Self::Catalog, 401) => Category::Unauthorized,
            (Self::TagMove(..), _) => Category::Conflict,
            (Self::Repository(_), _) => Category::NotFound,
            (Self::Request(_), 404) => Category::NotFound,
            (Self::Request(_), 429 | 500..) => Category::Unreachable,
            _ => Category::Unsupported,
        }
    }
}

/// What a request to a registry is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requested {
    /// The version of the registry's API, which `/v2/` answers.
    Version,
    /// A page of the list of a registry's repositories.
    Repositories,
    /// A page of the list of a repository's tags.
    Tags,
    /// A page of the list of what is attached to a manifest.
    Referrers,
    /// A manifest or an index that is read, written or deleted.
    Manifest,
    /// A blob that is read.
    Blob,
    /// A blob that is written.
    Upload,
}

impl fmt::Display for Requested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Version => "registry's version",
            Self::Repositories => "list of repositories",
            Self::Tags => "list of tags",
            Self::Referrers => "list of referrers",
            Self::Manifest => "manifest",
            Self::Blob => "blob",
            Self::Upload => "upload",
        })
    }
}

impl Declined {
    pub(super) fn hint(&self, status: u16, url: &http::Shown) -> Option<String> {
        let text = match self {
            Self::Repository(repository) => match repository.host_and_name() {
                (host, name) if KnownRegistry::of(host) == KnownRegistry::Ecr => {
                    return Some(format!(
                        "create it first: `aws ecr create-repository --repository-name {name}`"
                    ));
                }
                _ => "create the repository, or its project, before the first push",
            },
            Self::MediaType(_) => {
                "an update of the registry may know the media types of OpenTofu (GitLab since late 2025)"
            }
            Self::TagMove(..) => {
                "publish all platforms of a version at once, or let the tags of this repository move"
            }
            Self::Deletion => "`tfoci help prune` says how ghcr.io and docker-registry delete",
            Self::Catalog => "name the providers, such as `acme/demo`: other commands need no list",
            Self::Request(_) if status == 400 && url.is_plain() => {
                return Some(http::perhaps_tls(url));
            }
            Self::Request(_) if status == 405 => {
                "the registry takes no uploads: it may be a cache of another one"
            }
            Self::Request(_) => return None,
        };
        Some(text.to_owned())
    }
}
