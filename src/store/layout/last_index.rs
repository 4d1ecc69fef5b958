//! The `index.json` that was parsed last.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use crate::json;
use crate::oci::Tags;

/// The `index.json` that was parsed last. Every lookup of a tag reads the file again, since another process may have replaced it; parsing it
/// for each of thousands of tags would take minutes.
#[derive(Clone, Debug, Default)]
pub(super) struct LastIndex(Arc<Mutex<Option<Parsed>>>);

#[derive(Debug)]
struct Parsed {
    document: Bytes,
    tags: Arc<Tags>,
}

impl LastIndex {
    /// Parses a document, unless it is the one that was parsed last.
    pub(super) fn read(&self, document: Vec<u8>) -> Result<Arc<Tags>, json::Error> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(parsed) = last.as_ref().filter(|parsed| parsed.document == document) {
            return Ok(Arc::clone(&parsed.tags));
        }
        // Two large documents at once would take too much memory.
        *last = None;
        let document = Bytes::from(document);
        let tags = Arc::new(Tags::read(document.clone())?);
        *last = Some(Parsed {
            document,
            tags: Arc::clone(&tags),
        });
        Ok(tags)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_another_document_is_parsed() {
        let index = LastIndex::default();
        let document = |version: u8| format!("{{\"schemaVersion\":{version},\"manifests\":[]}}");
        let read = |version| index.read(document(version).into_bytes()).unwrap();
        let first = read(2);
        assert!(Arc::ptr_eq(&first, &read(2)));
        assert!(!Arc::ptr_eq(&first, &read(3)));
        assert!(index.read(b"[]".to_vec()).is_err());
        assert!(!Arc::ptr_eq(&first, &read(2)));
    }
}
