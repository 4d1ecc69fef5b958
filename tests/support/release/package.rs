//! Packages of releases, and their zips.

use std::io::{Cursor, Write as _};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// The size in bytes from which the zip is made quickly instead of small.
const LARGE: usize = 100_000;

/// The package of a release for one platform.
#[derive(Clone)]
pub struct Package {
    pub platform: String,
    /// The file name, if it is not the usual one.
    pub name: Option<String>,
    pub content: Content,
}

/// The content of its zip.
#[derive(Clone)]
pub enum Content {
    Files(Vec<(String, Vec<u8>)>),
    Zip(Vec<u8>),
}

impl Package {
    /// Its zip.
    pub fn zip(&self) -> Vec<u8> {
        let files = match &self.content {
            Content::Zip(bytes) => return bytes.clone(),
            Content::Files(files) => files,
        };
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in files {
            let mode = if name.starts_with("terraform-provider-") {
                0o755
            } else {
                0o644
            };
            // Large files are there for their size alone.
            let level = (bytes.len() > LARGE).then_some(1);
            let options = SimpleFileOptions::default()
                .unix_permissions(mode)
                .compression_level(level);
            match name.strip_suffix('/') {
                Some(directory) => zip.add_directory(directory, options).unwrap(),
                None => zip.start_file(name, options).unwrap(),
            }
            zip.write_all(bytes).unwrap();
        }
        zip.finish().unwrap().into_inner()
    }
}
