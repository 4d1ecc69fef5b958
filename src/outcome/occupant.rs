//! What is at the path of a package.

use std::fmt;
use std::path::PathBuf;

use super::Form;
use crate::digest::Digest;
use crate::disk::contents;
use crate::error::printable_path;
use crate::hash::PackageHash;

/// What is at the path of a package.
#[derive(Debug)]
pub enum Occupant {
    /// A package in this form.
    Form(Form),
    /// A packed package with other bytes, by their digest.
    Zip(Digest),
    /// An unpacked package with other files, by their `h1`.
    Directory(PackageHash),
    /// The package, which another user may change.
    Exposed {
        /// The package, or the file or directory within it.
        path: PathBuf,
        /// Why another user may change it.
        exposure: &'static str,
    },
    /// A directory without hash.
    Unreadable(contents::Error),
}

impl fmt::Display for Occupant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form(form) => form.fmt(f),
            Self::Zip(digest) => PackageHash::of_zip(digest).fmt(f),
            Self::Directory(h1) => h1.fmt(f),
            Self::Exposed { path, exposure } => {
                let path = printable_path(path);
                write!(f, "the same, but `{path}` is {exposure}")
            }
            Self::Unreadable(error) => error.fmt(f),
        }
    }
}
