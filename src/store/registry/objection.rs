//! Why a registry does not take a manifest.
//!
//! The specification has one code for it, and hardly two registries say it alike:
//!
//! | | media types | tags that stay where they are |
//! | --- | --- | --- |
//! | GitLab | 400 `MANIFEST_INVALID`, "unknown media type" | |
//! | Quay | 415, or 400 `MANIFEST_INVALID` | |
//! | ECR | 405 `UNSUPPORTED` | 400 `TAG_INVALID`, `ImageTagAlreadyExistsException` |
//! | Harbor | | 412 or 403, "configured as immutable" |
//! | Nexus | | 400, "does not allow updating" |

use super::wire::ErrorList;

/// What a registry has against a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Objection {
    /// Its media types are not among those that the registry takes.
    Types,
    /// The tag stands already, and stays where it is.
    Immutable,
    /// The tag does not stand where the request said.
    Precondition,
    /// Something else.
    Other,
}

impl Objection {
    /// Reads a refusal.
    pub(super) fn read(status: u16, body: &[u8]) -> Self {
        let list: ErrorList = serde_json::from_slice(body).unwrap_or_default();
        let has = |codes: &[&str]| {
            let mut errors = list.errors.iter();
            errors.any(|error| codes.contains(&error.code.as_str()))
        };
        let text = String::from_utf8_lossy(body).to_lowercase();
        let says = |words: &[&str]| words.iter().any(|words| text.contains(words));
        let stays = [
            "immutab",
            "imagetagalreadyexists",
            "cannot be overwritten",
            "does not allow updating",
        ];
        let is_about_types = || {
            has(&["MANIFEST_INVALID", "UNSUPPORTED"])
                || says(&["media type", "mediatype", "artifact type", "artifacttype"])
        };
        match status {
            400 | 403 | 405 | 409 | 412 if says(&stays) => Self::Immutable,
            412 => Self::Precondition,
            // A part that is not there is told by the same status.
            400 | 404 | 422 if has(&["MANIFEST_BLOB_UNKNOWN", "BLOB_UNKNOWN"]) => Self::Other,
            // Quay says so under the code that others have for types.
            400 | 404 | 422 if says(&["unknown blob", "blob unknown"]) => Self::Other,
            405 | 415 => Self::Types,
            400 | 406 | 422 if is_about_types() => Self::Types,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Objection::{Immutable, Other, Precondition, Types};
    use super::*;

    #[track_caller]
    fn assert_read(status: u16, [code, message]: [&str; 2], expected: Objection) {
        let body = serde_json::json!({"errors": [{"code": code, "message": message}]});
        let read = Objection::read(status, body.to_string().as_bytes());
        assert_eq!(read, expected, "{status} {code} {message}");
    }

    #[test]
    fn types_that_are_not_taken() {
        let unknown = "unknown media type: text/plain";
        assert_read(400, ["MANIFEST_INVALID", unknown], Types);
        assert_read(400, ["UNKNOWN", unknown], Types);
        assert_read(415, ["MANIFEST_INVALID", "schema unsupported"], Types);
        assert_read(405, ["UNSUPPORTED", "Invalid parameter"], Types);
        assert_eq!(Objection::read(400, b"unsupported mediaType\n"), Types);
    }

    #[test]
    fn tags_that_do_not_move() {
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
        assert_eq!(Objection::read(412, b""), Precondition);
    }

    #[test]
    fn everything_else() {
        let unknown = "blob unknown to registry";
        assert_read(400, ["MANIFEST_BLOB_UNKNOWN", unknown], Other);
        assert_read(404, ["MANIFEST_BLOB_UNKNOWN", unknown], Other);
        assert_read(400, ["MANIFEST_INVALID", "Unknown blob `sha256:0`"], Other);
        assert_read(400, ["TAG_INVALID", "the tag has a wrong form"], Other);
        assert_read(400, ["", "it went wrong"], Other);
        assert_read(403, ["DENIED", "access is denied"], Other);
        assert_read(404, ["NAME_UNKNOWN", "there is no media type"], Other);
        assert_read(500, ["MANIFEST_INVALID", "unknown media type"], Other);
        assert_eq!(Objection::read(400, b""), Other);
    }
}
