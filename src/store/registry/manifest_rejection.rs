//! Why a registry rejects a manifest.
//!
//! The OCI distribution specification has one error code for it, `MANIFEST_INVALID`; registries answer differently:
//!
//! | | media types | immutable tags |
//! | --- | --- | --- |
//! | GitLab | 400 `MANIFEST_INVALID`, "unknown media type" | |
//! | Quay | 415, or 400 `MANIFEST_INVALID` | |
//! | ECR | 405 `UNSUPPORTED` | 400 `TAG_INVALID`, `ImageTagAlreadyExistsException` |
//! | Harbor | | 412 or 403, "configured as immutable" |
//! | Nexus | | 400, "does not allow updating" |

use std::time::Duration;

use super::answer;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ManifestRejection {
    /// The registry does not support its media types.
    MediaType,
    /// The tag exists, and the registry does not allow to change it.
    Immutable,
    /// The tag does not have the `ETag` that the request named.
    Precondition,
    /// A transient failure, with how long the registry asks to wait: the request may or may not have taken effect.
    Unclear(Duration),
    /// It refers to a blob that the repository lacks.
    UnknownBlob,
    /// Any other reason.
    Other,
}

impl ManifestRejection {
    /// Reads the answer to a request that wrote a manifest.
    pub(super) fn read(status: u16, body: &[u8]) -> Self {
        let has = |codes: &[&str]| answer::has_code(body, codes);
        let text = String::from_utf8_lossy(body).to_lowercase();
        let says = |words: &[&str]| words.iter().any(|words| text.contains(words));
        let immutable = [
            "immutab",
            "imagetagalreadyexists",
            "cannot be overwritten",
            "does not allow updating",
        ];
        let is_about_media_types = || {
            has(&["MANIFEST_INVALID", "UNSUPPORTED"])
                || says(&["media type", "mediatype", "artifact type", "artifacttype"])
        };
        match status {
            400 | 403 | 405 | 409 | 412 if says(&immutable) => Self::Immutable,
            412 => Self::Precondition,
            // A missing blob has the same status.
            400 | 404 | 422 if has(&["MANIFEST_BLOB_UNKNOWN", "BLOB_UNKNOWN"]) => Self::UnknownBlob,
            // Quay reports missing blobs under the code that other registries use for media types.
            400 | 404 | 422 if says(&["unknown blob", "blob unknown"]) => Self::UnknownBlob,
            405 | 415 => Self::MediaType,
            400 | 406 | 422 if is_about_media_types() => Self::MediaType,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ManifestRejection::{Immutable, MediaType, Other, Precondition, UnknownBlob};
    use super::*;

    #[track_caller]
    fn assert_read(status: u16, [code, message]: [&str; 2], expected: ManifestRejection) {
        let body = serde_json::json!({"errors": [{"code": code, "message": message}]});
        let read = ManifestRejection::read(status, body.to_string().as_bytes());
        assert_eq!(read, expected, "{status} {code} {message}");
    }

    #[test]
    fn unsupported_media_types() {
        let unknown = "unknown media type: text/plain";
        assert_read(400, ["MANIFEST_INVALID", unknown], MediaType);
        assert_read(400, ["UNKNOWN", unknown], MediaType);
        assert_read(415, ["MANIFEST_INVALID", "schema unsupported"], MediaType);
        assert_read(405, ["UNSUPPORTED", "Invalid parameter"], MediaType);
        assert_eq!(
            ManifestRejection::read(400, b"unsupported mediaType\n"),
            MediaType
        );
    }

    #[test]
    fn immutable_tags() {
        let ecr = "The image tag '1.0.0' already exists in the 'acme/demo' repository and cannot be overwritten because the repository is immutable.";
        let harbor = "Failed to process request due to 'acme/demo:1.0.0' configured as immutable.";
        let nexus = "repository does not allow updating assets";
        assert_read(400, ["TAG_INVALID", ecr], Immutable);
        assert_read(400, ["ImageTagAlreadyExistsException", ""], Immutable);
        assert_read(403, ["DENIED", harbor], Immutable);
        assert_read(409, ["CONFLICT", harbor], Immutable);
        assert_read(412, ["PRECONDITION", harbor], Immutable);
        assert_read(400, ["UNKNOWN", nexus], Immutable);
        assert_read(412, ["PRECONDITION", "the tag was moved"], Precondition);
        assert_eq!(ManifestRejection::read(412, b""), Precondition);
    }

    #[test]
    fn other_reasons() {
        let unknown = "blob unknown to registry";
        assert_read(400, ["MANIFEST_BLOB_UNKNOWN", unknown], UnknownBlob);
        assert_read(404, ["MANIFEST_BLOB_UNKNOWN", unknown], UnknownBlob);
        assert_read(
            400,
            ["MANIFEST_INVALID", "Unknown blob `sha256:0`"],
            UnknownBlob,
        );
        assert_read(400, ["TAG_INVALID", "the tag has a wrong form"], Other);
        assert_read(400, ["", "it went wrong"], Other);
        assert_read(403, ["DENIED", "access is denied"], Other);
        assert_read(404, ["NAME_UNKNOWN", "there is no media type"], Other);
        assert_read(500, ["MANIFEST_INVALID", "unknown media type"], Other);
        assert_eq!(ManifestRejection::read(400, b""), Other);
    }
}
