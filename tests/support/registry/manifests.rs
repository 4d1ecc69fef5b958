//! Manifests and tags.

use bytes::Bytes;
use serde_json::Value;

use super::answer::Answer;
use super::content::{Manifest, Repository, digest_like, parts};
use super::desk::Desk;
use super::quirks::Pages;
use super::seen::Seen;

impl Desk {
    pub(super) fn serve_manifest(&mut self, seen: &Seen, name: &str, reference: &str) -> Answer {
        let Some(repository) = self.content.repositories.get(name) else {
            return self.unknown_name(name);
        };
        let found = repository.resolve(reference).and_then(|digest| {
            let manifest = repository.manifests.get(&digest)?;
            Some((digest, manifest))
        });
        let Some((digest, manifest)) = found else {
            let code = match self.quirks.unknown {
                "NAME_UNKNOWN" => "MANIFEST_UNKNOWN",
                other => other,
            };
            return Answer::error(404, code, "manifest unknown");
        };
        let accepts = |(name, text): &(String, String)| {
            name == "accept" && text.contains(&manifest.media_type)
        };
        if self.quirks.needs_accept && !seen.headers.iter().any(accepts) {
            let message = "OCI index found, but accept header does not support OCI indexes";
            return Answer::error(404, "MANIFEST_UNKNOWN", message);
        }
        Answer::new(200)
            .header("content-type", &manifest.media_type)
            .header("docker-content-digest", &digest)
            .body(manifest.bytes.clone())
    }

    pub(super) fn put_manifest(
        &mut self,
        seen: &Seen,
        name: &str,
        reference: &str,
        bytes: Bytes,
    ) -> Answer {
        let media_type = seen.header("content-type").unwrap_or_default();
        let by_digest = reference.contains(':');
        let digest = digest_like(if by_digest { reference } else { "" }, &bytes);
        if let Some(refusal) = self.refuse_manifest(name, media_type, &bytes) {
            return refusal;
        }
        if by_digest && digest != reference {
            return Answer::error(400, "DIGEST_INVALID", "the content has another digest");
        }
        let immutable = self.quirks.immutable;
        let repository = self.content.repository(name);
        let stands = repository.resolve(reference);
        if immutable && !by_digest && stands.is_some() {
            let message = format!(
                "The image tag '{reference}' already exists in the '{name}' repository and cannot be overwritten because the repository is immutable."
            );
            return Answer::error(400, "TAG_INVALID", &message);
        }
        let manifest = Manifest {
            media_type: media_type.to_owned(),
            bytes,
        };
        repository.manifests.insert(digest.clone(), manifest);
        if !by_digest {
            repository.tag(reference, &digest);
        }
        let answer = Answer::new(201).header("docker-content-digest", &digest);
        if by_digest && !self.quirks.manifest_location {
            return answer;
        }
        let path = format!("/v2/{name}/manifests/{digest}");
        answer.header("location", &self.location(&seen.path, &path))
    }

    /// Deletes a manifest and its tags, as distribution does.
    pub(super) fn delete_manifest(&mut self, name: &str, digest: &str) -> Answer {
        let repository = self.content.repository(name);
        repository.tags.retain(|(_, tagged)| tagged != digest);
        match repository.manifests.remove(digest) {
            Some(_) => Answer::new(202),
            None => Answer::error(404, "MANIFEST_UNKNOWN", "manifest unknown"),
        }
    }

    /// Refuses a malformed manifest, or one that this kind of registry does not accept.
    fn refuse_manifest(&self, name: &str, media_type: &str, bytes: &[u8]) -> Option<Answer> {
        let invalid = |message: &str| Some(Answer::error(400, "MANIFEST_INVALID", message));
        let Ok(document) = serde_json::from_slice::<Value>(bytes) else {
            return invalid("manifest invalid");
        };
        let own = document["mediaType"].as_str();
        if own.is_some_and(|own| own != media_type) || media_type.contains(';') {
            return invalid("the media type is not that of the request");
        }
        if !self.quirks.subjects && document.get("subject").is_some() {
            let message = "Invalid parameter at 'ImageManifest'";
            return Some(Answer::error(405, "UNSUPPORTED", message));
        }
        if let Some(unknown) = self.unknown_type(&document) {
            return invalid(&format!("unknown media type: {unknown}"));
        }
        let (blobs, children) = parts(&document);
        let empty = Repository::default();
        let repository = self.content.repositories.get(name).unwrap_or(&empty);
        let has_blob = |digest: &String| repository.blobs.contains_key(digest);
        let has_child = |digest: &String| repository.manifests.contains_key(digest);
        let has_all = blobs.iter().all(has_blob) && children.iter().all(has_child);
        let (status, message) = (self.quirks.missing_part, "blob unknown to registry");
        (!has_all).then(|| Answer::error(status, "MANIFEST_BLOB_UNKNOWN", message))
    }

    /// The first media type that is not on this registry's list, if it has one.
    fn unknown_type(&self, document: &Value) -> Option<String> {
        let known = self.quirks.types?;
        let list = |name: &str| document[name].as_array().cloned().unwrap_or_default();
        let parts = [list("layers"), list("manifests")].concat();
        let mut used = vec![&document["artifactType"], &document["config"]["mediaType"]];
        used.extend(parts.iter().map(|part| &part["mediaType"]));
        let mut used = used.into_iter().filter_map(Value::as_str);
        used.find(|used| !known.contains(used)).map(str::to_owned)
    }

    pub(super) fn list_tags(&mut self, seen: &Seen, name: &str) -> Answer {
        let old = self.quirks.pages == Pages::AllAtOnce;
        let Some(repository) = self.content.repositories.get(name) else {
            return self.unknown_name(name);
        };
        if repository.manifests.is_empty() || (old && !repository.was_tagged) {
            return self.unknown_name(name);
        }
        let tags = repository.tags.iter().rev();
        let mut tags: Vec<String> = tags.map(|(tag, _)| tag.clone()).collect();
        if old {
            let tags = (!tags.is_empty()).then_some(tags);
            return Answer::json(200, &serde_json::json!({ "name": name, "tags": tags }));
        }
        tags.sort();
        let page = seen.parameter("n").and_then(|n| n.parse().ok());
        let page = page.unwrap_or(usize::MAX).min(self.quirks.page);
        let token = seen.parameter("next_page");
        let token = token.map(|token| token.chars().rev().collect::<String>());
        let last = seen.parameter("last").map(str::to_owned);
        let last = last.filter(|_| self.quirks.pages != Pages::Token);
        let after = token.or(last).unwrap_or_default();
        let rest: Vec<String> = tags.into_iter().filter(|tag| *tag > after).collect();
        let more = rest.len() > page;
        let tags: Vec<String> = rest.into_iter().take(page).collect();
        let answer = Answer::json(200, &serde_json::json!({ "name": name, "tags": tags }));
        match tags.last().filter(|_| more) {
            Some(last) => answer.header("link", &self.next_page(name, last, page)),
            None => answer,
        }
    }

    pub(super) fn list_repositories(&mut self, seen: &Seen) -> Answer {
        let Some(page) = self.quirks.catalog else {
            return Answer::new(404);
        };
        let after = seen.parameter("last").unwrap_or_default();
        let names = self.content.repositories.keys();
        let rest: Vec<&String> = names.filter(|name| name.as_str() > after).collect();
        let names = &rest[..page.min(rest.len())];
        let answer = Answer::json(200, &serde_json::json!({ "repositories": names }));
        match names.last().filter(|_| rest.len() > page) {
            Some(last) => {
                answer.header("link", &format!("</v2/_catalog?last={last}>; rel=\"next\""))
            }
            None => answer,
        }
    }

    fn next_page(&self, name: &str, last: &str, n: usize) -> String {
        let path = format!("/v2/{name}/tags/list");
        let url = match self.quirks.pages {
            // An opaque token, so that clients cannot build the next one.
            Pages::Token => {
                let token: String = last.chars().rev().collect();
                format!("{path}?n={n}&next_page={token}")
            }
            Pages::Absolute => format!("{}{path}?n={n}&last={last}", self.doors.front),
            Pages::Path | Pages::AllAtOnce => format!("{path}?last={last}&n={n}"),
        };
        format!("<{url}>; rel=\"next\"")
    }
}
