//! What helps when a store cannot be read or written.

use super::Error;
use super::known::KnownRegistry;
use crate::error::{Category, Hint};
use crate::http;

impl Hint for Error {
    fn hint(&self) -> Option<String> {
        if let Some(text) = self.hint_about_host() {
            return Some(text);
        }
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
            Self::NoRepository { repository, .. } => match repository.host_and_name() {
                (host, name) if KnownRegistry::of(host) == KnownRegistry::Ecr => {
                    return Some(format!(
                        "create it first: `aws ecr create-repository --repository-name {name}`"
                    ));
                }
                _ => "create the repository, or its project, before the first push",
            },
            Self::Unwelcome { .. } => {
                "an update of the registry may know the media types of OpenTofu (GitLab since late 2025)"
            }
            Self::Immutable { .. } => {
                "publish all platforms of a version at once, or let the tags of this repository move"
            }
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
            Self::Incomplete { .. } | Self::LayoutIndex { .. } | Self::Marker { .. } => {
                "restore the file; or delete this directory, and mirror, copy or push its versions again"
            }
            Self::NoDeletion { .. } => {
                "ghcr.io deletes on the page of the package, and docker-registry with REGISTRY_STORAGE_DELETE_ENABLED=true; or copy what stays into a new store"
            }
            Self::ReadOnly => {
                "write into a layout or a registry, and then run `tfoci copy --from STORE --to bundle:FILE`"
            }
            Self::LeftOut { .. } => "copy the delta into the store that has the rest",
            Self::Bundle(refused) if refused.action == "use" => {
                "carry it over again: `tfoci verify` checks it before it leaves"
            }
            Self::NoStore { .. } => {
                "check the path: `tfoci push`, `mirror` and `copy` create a store there"
            }
            _ => return None,
        };
        Some(text.to_owned())
    }
}

impl Error {
    /// A host that refuses, or that is no registry.
    fn hint_about_host(&self) -> Option<String> {
        let text = match self {
            Self::Unauthorized { host, .. } => {
                return Some(format!(
                    "`tfoci login {host}` stores credentials; in CI, REGISTRY_AUTH_FILE names a file of them"
                ));
            }
            Self::Forbidden { host, .. } => {
                return Some(format!(
                    "ask its operator for the permission, or run `tfoci login {host}` as a user who has it"
                ));
            }
            Self::ListRefused(_) | Self::NoCatalog { .. } => {
                "name the providers, such as `acme/demo`: other commands need no list"
            }
            Self::NoRegistry { .. } => {
                "name the host and port of a registry; `tfoci mirror` reads network mirrors"
            }
            Self::Registry { status: 405, .. } => {
                "the registry takes no uploads: it may be a cache of another one"
            }
            Self::Registry {
                wants_tls: true,
                url,
                ..
            } => return Some(http::perhaps_tls(url)),
            Self::RefusedElsewhere { .. } => {
                "ask the registry's operator why that host refuses: no login helps"
            }
            Self::BadLink {
                is_foreign: true, ..
            } => http::OUTER_ADDRESS,
            _ => return None,
        };
        Some(text.to_owned())
    }
}
