//! Zips, or what is in them.

use std::fmt;

/// The form of the packages in a filesystem mirror.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Zip files.
    #[default]
    Packed,
    /// Directories with the content of the zips.
    Unpacked,
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Packed => "a zip",
            Self::Unpacked => "a directory",
        })
    }
}
