//! What an error of a store is about: the stored data, the way to it, or the command.

use super::Error;
use crate::blob;
use crate::error::Category;

impl Error {
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
            | Self::Incomplete { .. } => Category::Malformed,
            Self::Missing { .. }
            | Self::NoStore { .. }
            | Self::NoParent { .. }
            | Self::NoRepository { .. }
            | Self::NoRegistry { .. } => Category::NotFound,
            Self::IsRepository { .. } => Category::Usage,
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
            Self::Registry { .. } | Self::Unwelcome { .. } | Self::NoCatalog { .. } => {
                Category::Unsupported
            }
            Self::Realm { .. }
            | Self::BadLink { .. }
            | Self::EndlessPages { .. }
            | Self::LongList { .. }
            | Self::NoLocation { .. }
            | Self::Offset { .. } => Category::Malformed,
            Self::LongChunks { .. } => Category::Unsupported,
        }
    }
}
