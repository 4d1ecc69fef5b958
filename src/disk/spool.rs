//! Temporary files, for what has to be whole before it can go on.

use std::io::Write as _;

use tempfile::{NamedTempFile, TempPath};

use super::Error;

/// A file in the system's directory for temporary files, removed when nobody holds it any more.
#[derive(Debug)]
pub struct Spool(NamedTempFile);

impl Spool {
    /// Creates one, readable by this user only.
    ///
    /// # Errors
    /// What the system says.
    pub fn new() -> Result<Self, Error> {
        NamedTempFile::new()
            .map(Self)
            .map_err(|source| Error::at("create a file in", &std::env::temp_dir(), source))
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// What the system says.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let written = self.0.write_all(bytes);
        written.map_err(|source| Error::at("write", self.0.path(), source))
    }

    /// The file, which lives as long as its path.
    pub fn into_path(self) -> TempPath {
        self.0.into_temp_path()
    }
}
