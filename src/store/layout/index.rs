//! Reads the `index.json` of a layout, and creates the file `oci-layout` beside it.
//!
//! A layout without `index.json` may have lost it. A writer that took it for a new one would make all its versions vanish, and later delete
//! their packages. Therefore the first write creates its files in this order: packages and their manifests, an `index.json` without tags,
//! `oci-layout`, the indexes of versions, the real `index.json`. So neither an `oci-layout` alone nor the index of a version without the two files
//! ever comes from an interrupted write of tfoci: the layout was copied in part, or its files were deleted.

use std::path::Path;
use std::sync::{Arc, Mutex};

use bytes::Bytes;

use super::Layout;
use crate::disk::{self, FileState, if_exists, staged};
use crate::error::printable_path;
use crate::jobs::locked;
use crate::json::{self, Object};
use crate::oci::tags::{self, LAYOUT};
use crate::oci::{INDEX, Repository, Tags};
use crate::store::{Error, LayoutFault};

/// The largest `index.json` that is read, in bytes: enough for about twenty thousand tags.
const LARGEST_INDEX: u64 = 8 << 20;
/// The largest `oci-layout` file that is read, in bytes. It only contains the version of the format.
const LARGEST_MARKER: u64 = 4 << 10;
/// The most blobs of a layout without `index.json` that are looked at, and the largest one in bytes. A version has an index of some kilobytes, and
/// some packages.
const MOST_LOOKED_AT: usize = 10_000;
const LARGEST_LOOKED_AT: u64 = 256 << 10;
/// An `index.json` without tags.
const NO_TAGS: &[u8] = br#"{"schemaVersion":2,"manifests":[]}"#;

impl Layout {
    /// The tags of a repository; `None` if it has no layout, or one whose first write was interrupted.
    pub(super) fn index(&self, repository: &Repository) -> Result<Option<Arc<Tags>>, Error> {
        let directory = self.directory(repository);
        let path = directory.join("index.json");
        // Before reading: a change while it is read then leads to another state.
        let state = FileState::at(&path);
        let known = self.last_index.unchanged(state.as_ref());
        let read = match &known {
            Some(_) => Some(Vec::new()),
            None => read_index(&path)?,
        };
        let mark = if_exists(disk::read_unlinked(
            &directory.join("oci-layout"),
            LARGEST_MARKER,
        ))?;
        let incomplete = || Error::Layout {
            path: directory.clone(),
            fault: LayoutFault::Incomplete,
        };
        let bytes = match (read, &mark) {
            (Some(bytes), _) => bytes,
            (None, None) if has_version(&directory) => return Err(incomplete()),
            (None, None) => return Ok(None),
            // Another process may have written both files just now.
            (None, Some(_)) => read_index(&path)?.ok_or_else(incomplete)?,
        };
        // Clients refuse a directory without a valid `oci-layout` file.
        if !mark.as_deref().is_some_and(tags::is_layout) {
            return match mark.is_none() && bytes == NO_TAGS {
                true => Ok(None),
                false => Err(incomplete()),
            };
        }
        if known.is_some() {
            return Ok(known);
        }
        let read = self.last_index.read(bytes, state).map(Some);
        read.map_err(|source| Error::Unread {
            what: "index of the OCI image layout".to_owned(),
            from: printable_path(&path),
            source,
        })
    }
}

fn read_index(path: &Path) -> Result<Option<Vec<u8>>, disk::Error> {
    if_exists(disk::read_unlinked(path, LARGEST_INDEX))
}

/// Whether the blobs of a layout without `index.json` have the index of a version.
fn has_version(directory: &Path) -> bool {
    let blobs = directory.join("blobs").join("sha256");
    let entries = std::fs::read_dir(blobs).into_iter().flatten().flatten();
    entries.take(MOST_LOOKED_AT).any(|entry| {
        let is_small = entry
            .metadata()
            .is_ok_and(|found| found.len() <= LARGEST_LOOKED_AT);
        let read = || disk::read_unlinked(&entry.path(), LARGEST_LOOKED_AT);
        is_small && read().is_ok_and(|bytes| is_index(&bytes))
    })
}

/// Whether bytes are an index. Packages are zips, and checksum documents begin with a digit.
fn is_index(bytes: &[u8]) -> bool {
    // What is attached to an index names its type, too.
    let media_type = Object::parse(bytes).and_then(|mut manifest| manifest.text("mediaType"));
    media_type.is_ok_and(|media_type| media_type == INDEX)
}

/// Creates the file `oci-layout` unless it exists, after an `index.json` without tags. Only called where [`Layout::index`] succeeded, so no tag
/// is lost.
pub(super) fn create_marker(directory: &Path) -> Result<(), disk::Error> {
    let marker = directory.join("oci-layout");
    if !marker.exists() {
        staged::replace(&directory.join("index.json"), NO_TAGS)?;
        staged::replace(&marker, LAYOUT)?;
    }
    Ok(())
}

/// The `index.json` that was parsed last. Every lookup of a tag asks the system whether the file is still the same, since another process may
/// have replaced it. Reading it for each of thousands of tags would take half a minute, and parsing it minutes.
#[derive(Clone, Debug, Default)]
pub(super) struct LastIndex(Arc<Mutex<Option<Parsed>>>);

#[derive(Debug)]
struct Parsed {
    document: Bytes,
    /// The state of the file from before it was read, if no later change can have the same.
    state: Option<FileState>,
    tags: Arc<Tags>,
}

impl LastIndex {
    /// The tags, if the file has not changed since it was read.
    pub(super) fn unchanged(&self, state: Option<&FileState>) -> Option<Arc<Tags>> {
        let last = locked(&self.0);
        let parsed = last.as_ref()?;
        (state? == parsed.state.as_ref()?).then(|| Arc::clone(&parsed.tags))
    }

    /// Remembers a document that was just written.
    pub(super) fn written(&self, document: Vec<u8>, tags: Tags) {
        *locked(&self.0) = Some(Parsed {
            document: document.into(),
            state: None,
            tags: Arc::new(tags),
        });
    }

    /// Parses a document, unless it is the one that was parsed last.
    pub(super) fn read(
        &self,
        document: Vec<u8>,
        state: Option<FileState>,
    ) -> Result<Arc<Tags>, json::Error> {
        let state = state.filter(FileState::is_settled);
        let mut last = locked(&self.0);
        if let Some(parsed) = last.as_mut().filter(|parsed| parsed.document == document) {
            parsed.state = state;
            return Ok(Arc::clone(&parsed.tags));
        }
        // Two large documents at once would take too much memory.
        *last = None;
        let document = Bytes::from(document);
        let tags = Arc::new(Tags::read(document.clone())?);
        *last = Some(Parsed {
            document,
            state,
            tags: Arc::clone(&tags),
        });
        Ok(tags)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn only_another_document_is_parsed() {
        let index = LastIndex::default();
        let document = |version: u8| format!("{{\"schemaVersion\":{version},\"manifests\":[]}}");
        let read = |version| index.read(document(version).into_bytes(), None).unwrap();
        let first = read(2);
        assert!(Arc::ptr_eq(&first, &read(2)));
        assert!(!Arc::ptr_eq(&first, &read(3)));
        assert!(index.read(b"[]".to_vec(), None).is_err());
        assert!(!Arc::ptr_eq(&first, &read(2)));
    }

    #[cfg(unix)]
    #[test]
    fn an_unchanged_file_is_not_read_again() {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR"));
        // Files that were there before this test was built, and one that might change within a tick.
        let old = |name: &str| FileState::at(&directory.join(name)).unwrap();
        let new = tempfile::NamedTempFile::new().unwrap();
        let new = FileState::at(new.path()).unwrap();
        let document = b"{\"schemaVersion\":2,\"manifests\":[]}";
        let index = LastIndex::default();
        let first = index
            .read(document.to_vec(), Some(old("Cargo.toml")))
            .unwrap();
        let found = index.unchanged(Some(&old("Cargo.toml"))).unwrap();
        assert!(Arc::ptr_eq(&first, &found));
        assert!(index.unchanged(Some(&old("README.md"))).is_none());
        assert!(index.unchanged(None).is_none());
        index.read(document.to_vec(), Some(new.clone())).unwrap();
        assert!(index.unchanged(Some(&new)).is_none());
    }
}
