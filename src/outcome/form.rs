//! Zips, or what is in them.

/// The form of the packages in a filesystem mirror.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Zip files.
    #[default]
    Packed,
    /// Directories with the content of the zips.
    Unpacked,
}
