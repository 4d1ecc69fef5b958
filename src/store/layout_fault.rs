//! Why a directory cannot be used as a store, and what helps.

use crate::error::{Category, Hint};

/// Why a directory cannot be used as a store. The sentence begins with its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutFault {
    /// It is a layout where a directory of layouts is expected.
    #[error("is itself an OCI image layout\n  expected a directory of layouts")]
    Single,
    /// It does not exist, or it is no store.
    #[error("has no OCI image layout")]
    Absent,
    /// Neither it nor the directory above it exists. A path on a disk that is not mounted has this form.
    #[error("cannot be created\n  expected that the directory above it exists")]
    NoParent,
    /// A layout without an `index.json` or a valid `oci-layout` file: a part of it may be missing.
    #[error("is incomplete\n  expected its index.json, and the file oci-layout of version 1.0.0")]
    Incomplete,
    /// It has more entries than any real store, or links to directories above them.
    #[error(
        "has too many entries\n  expected at most 100000 in the three levels HOSTNAME/NAMESPACE/TYPE"
    )]
    TooLarge,
}

/// What helps if there is no store at a path, or nothing in it.
pub const CHECK_PATH: &str =
    "check the path: `tfoci push`, `mirror` and `copy` create a store there";

impl LayoutFault {
    pub(super) fn category(self) -> Category {
        match self {
            Self::Single => Category::Usage,
            Self::Absent | Self::NoParent => Category::NotFound,
            Self::Incomplete | Self::TooLarge => Category::Malformed,
        }
    }
}

impl Hint for LayoutFault {
    fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Single => {
                "to read this one repository, name its provider and add `--exact-repository`"
            }
            Self::Absent => CHECK_PATH,
            Self::NoParent => "create the directory above it, or mount its disk",
            Self::Incomplete => {
                "restore the file; without a copy of it, delete the directory and fill it again"
            }
            Self::TooLarge => return None,
        };
        Some(text.to_owned())
    }
}
