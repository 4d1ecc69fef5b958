//! Uploads of blobs.

use bytes::Bytes;

use super::answer::Answer;
use super::content::{Upload, digest_like};
use super::desk::Desk;
use super::quirks::Patches;
use super::route::Route;
use super::seen::Seen;

impl Desk {
    pub(super) fn begin_upload(&mut self, seen: &Seen, name: &str, body: Bytes) -> Answer {
        if let (Some(digest), Some(from)) = (seen.parameter("mount"), seen.parameter("from")) {
            let source = self.content.repositories.get(from);
            let found = source.and_then(|source| source.blobs.get(digest)).cloned();
            if let Some(bytes) = found.filter(|_| self.quirks.mounts) {
                return self.keep(seen, name, digest, bytes);
            }
        }
        if let Some(digest) = seen.parameter("digest").filter(|_| self.quirks.single_post) {
            return self.keep(seen, name, digest, body);
        }
        let id = format!("upload-{}", self.number());
        let upload = Upload {
            state: self.number(),
            ..Upload::default()
        };
        let uploads = &mut self.content.repository(name).uploads;
        uploads.insert(id.clone(), upload);
        self.accepted(seen, name, &id)
    }

    pub(super) fn patch(&mut self, seen: &Seen, name: &str, id: &str, body: &[u8]) -> Answer {
        if let Some(refusal) = self.refuse_chunk(seen, name, id, body) {
            return refusal;
        }
        let (number, quirks) = (self.number(), self.quirks.clone());
        let Some(upload) = self.upload(name, id) else {
            return unknown_upload();
        };
        if quirks.patches == Patches::LastWins {
            upload.bytes.clear();
        }
        upload.bytes.extend_from_slice(body);
        upload.told += body.len() as u64;
        upload.state = number;
        let least = quirks.smallest_chunk;
        upload.ended = least.is_some_and(|least| (body.len() as u64) < least);
        self.accepted(seen, name, id)
    }

    pub(super) fn finish(&mut self, seen: &Seen, name: &str, id: &str, body: &[u8]) -> Answer {
        if let Some(refusal) = self.refuse_body(seen, name, id) {
            return refusal;
        }
        let Some(digest) = seen.parameter("digest") else {
            return Answer::error(400, "DIGEST_INVALID", "digest missing");
        };
        let Some(upload) = self.content.repository(name).uploads.remove(id) else {
            return unknown_upload();
        };
        let bytes = [&upload.bytes[..], body].concat();
        self.keep(seen, name, digest, bytes.into())
    }

    pub(super) fn upload_status(&mut self, seen: &Seen, name: &str, id: &str) -> Answer {
        if self.upload(name, id).is_none() {
            return unknown_upload();
        }
        let location = self.upload_url(&seen.path, name, id);
        let answer = Answer::new(204).header("location", &location);
        self.told(answer, name, id)
    }

    pub(super) fn cancel_upload(&mut self, name: &str, id: &str) -> Answer {
        match self.content.repository(name).uploads.remove(id) {
            Some(_) => Answer::new(204),
            None => unknown_upload(),
        }
    }

    /// Keeps the bytes that arrived before the connection was cut.
    pub(super) fn keep_upload(&mut self, route: &Route, bytes: &[u8]) {
        if let (true, Route::Upload(name, id)) = (self.quirks.keeps_partial, route)
            && let Some(upload) = self.upload(name, id)
        {
            upload.bytes.extend_from_slice(bytes);
            upload.told += bytes.len() as u64;
        }
    }

    fn upload(&mut self, name: &str, id: &str) -> Option<&mut Upload> {
        self.content.repository(name).uploads.get_mut(id)
    }

    fn refuse_chunk(&mut self, seen: &Seen, name: &str, id: &str, body: &[u8]) -> Option<Answer> {
        if self.quirks.patches == Patches::Refused {
            return Some(Answer::error(405, "UNSUPPORTED", "chunks are unsupported"));
        }
        let largest = self.quirks.largest_patch.unwrap_or(u64::MAX);
        if body.len() as u64 > largest {
            let status = if self.quirks.patches == Patches::LastWins {
                416
            } else {
                413
            };
            let message = "the chunk is too large";
            return Some(Answer::error(status, "SIZE_INVALID", message));
        }
        if self.upload(name, id).is_some_and(|upload| upload.ended) {
            let refusal = Answer::error(416, "SIZE_INVALID", "an earlier chunk was too short");
            return Some(self.told(refusal, name, id));
        }
        self.refuse_body(seen, name, id)
    }

    /// Refuses a body for another state or offset of an upload.
    fn refuse_body(&mut self, seen: &Seen, name: &str, id: &str) -> Option<Answer> {
        let quirks = self.quirks.clone();
        let Some(upload) = self.upload(name, id) else {
            return Some(unknown_upload());
        };
        let state = seen.parameter("_state").and_then(|text| text.parse().ok());
        if quirks.upload_state && state != Some(upload.state) {
            let message = "the state is not the last one";
            return Some(Answer::error(400, "BLOB_UPLOAD_INVALID", message));
        }
        let range = seen.header("content-range");
        let range = range.filter(|_| quirks.checks_ranges)?;
        let from = range.trim_start_matches("bytes ").split('-').next();
        if from.unwrap_or_default().parse() == Ok(upload.told) {
            return None;
        }
        let refusal = Answer::error(416, "BLOB_UPLOAD_INVALID", "the upload goes on elsewhere");
        let refusal = refusal.header("location", &self.upload_url(&seen.path, name, id));
        Some(self.told(refusal, name, id))
    }

    fn accepted(&mut self, seen: &Seen, name: &str, id: &str) -> Answer {
        let location = self.upload_url(&seen.path, name, id);
        let answer = Answer::new(202).header("location", &location);
        let answer = self.told(answer.header("docker-upload-uuid", id), name, id);
        match self.quirks.smallest_chunk {
            Some(least) => answer.header("oci-chunk-min-length", &least.to_string()),
            None => answer,
        }
    }

    /// Adds the offset of an upload to an answer.
    fn told(&mut self, answer: Answer, name: &str, id: &str) -> Answer {
        let told = self.upload(name, id).map_or(0, |upload| upload.told);
        answer.header("range", &format!("0-{}", told.saturating_sub(1)))
    }

    fn upload_url(&mut self, asked: &str, name: &str, id: &str) -> String {
        let mut path = format!("/v2/{name}/blobs/uploads/{id}");
        if self.quirks.upload_state {
            let state = self.upload(name, id).map_or(0, |upload| upload.state);
            path += &format!("?_state={state}");
        }
        match self.quirks.uploads_elsewhere {
            true => format!("{}{path}", self.doors.elsewhere),
            false => self.location(asked, &path),
        }
    }

    /// Stores a blob if it matches its digest.
    fn keep(&mut self, seen: &Seen, name: &str, digest: &str, bytes: Bytes) -> Answer {
        if digest_like(digest, &bytes) != digest {
            return Answer::error(400, "DIGEST_INVALID", "the content has another digest");
        }
        let blobs = &mut self.content.repository(name).blobs;
        blobs.insert(digest.to_owned(), bytes);
        let location = self.location(&seen.path, &format!("/v2/{name}/blobs/{digest}"));
        let answer = Answer::new(201).header("location", &location);
        answer.header("docker-content-digest", digest)
    }
}

fn unknown_upload() -> Answer {
    Answer::error(404, "BLOB_UPLOAD_UNKNOWN", "unknown upload")
}
