//! Answers with blobs, and lists of referrers.

use bytes::Bytes;

use super::answer::Answer;
use super::desk::Desk;
use super::seen::Seen;

impl Desk {
    pub(super) fn serve_blob(&mut self, seen: &Seen, name: &str, digest: &str) -> Answer {
        let Some(bytes) = self.blob(name, digest) else {
            return Answer::error(404, "BLOB_UNKNOWN", "blob unknown to registry");
        };
        if self.quirks.blobs_elsewhere && seen.method == "GET" {
            return self.redirect(&self.doors.elsewhere.clone(), name, digest);
        }
        serve(seen, digest, &bytes)
    }

    /// The answer of the storage. Its URLs are signed, and each is valid for one blob.
    pub(super) fn serve_stored_blob(&mut self, seen: &Seen, name: &str, digest: &str) -> Answer {
        match self.blob(name, digest) {
            Some(bytes) if seen.parameter("signature").is_some() => serve(seen, digest, &bytes),
            _ => Answer::new(403).body("<Error><Code>AccessDenied</Code></Error>"),
        }
    }

    /// Redirects a client to the storage behind another door.
    pub(super) fn redirect(&mut self, door: &str, name: &str, digest: &str) -> Answer {
        let number = self.number();
        let url = format!("{door}/storage/{name}/blobs/{digest}?signature={number}");
        Answer::new(307).header("location", &url)
    }

    fn blob(&self, name: &str, digest: &str) -> Option<Bytes> {
        let repository = self.content.repositories.get(name)?;
        repository.blobs.get(digest).cloned()
    }

    pub(super) fn list_referrers(&self, name: &str, digest: &str) -> Answer {
        if !self.quirks.referrers {
            return Answer::new(404)
                .header("content-type", "text/plain")
                .body("404 page not found\n");
        }
        let repository = self.content.repositories.get(name);
        let manifests = repository.into_iter().flat_map(|found| &found.manifests);
        let entries = manifests.filter_map(|(own, manifest)| {
            let document: serde_json::Value = serde_json::from_slice(&manifest.bytes).ok()?;
            let subject = document["subject"]["digest"].as_str();
            (subject == Some(digest)).then(|| {
                serde_json::json!({
                    "mediaType": manifest.media_type,
                    "digest": own,
                    "size": manifest.bytes.len(),
                    "artifactType": document["artifactType"],
                    "annotations": document["annotations"],
                })
            })
        });
        let index = "application/vnd.oci.image.index.v1+json";
        let entries: Vec<_> = entries.collect();
        let list =
            serde_json::json!({ "schemaVersion": 2, "mediaType": index, "manifests": entries });
        Answer::json(200, &list).header("content-type", index)
    }
}

/// A blob, or the requested range of it.
fn serve(seen: &Seen, digest: &str, bytes: &Bytes) -> Answer {
    Answer::new(200)
        .header("content-type", "application/octet-stream")
        .header("docker-content-digest", digest)
        .body(bytes.clone())
        .ranged(seen)
}
