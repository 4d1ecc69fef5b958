//! The `index.json` that was parsed last.

use std::sync::{Arc, Mutex};

use bytes::Bytes;

use crate::disk::FileState;
use crate::jobs::locked;
use crate::json;
use crate::oci::Tags;

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
