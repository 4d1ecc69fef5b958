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
            405 | 415 => Self::Types,
            400 | 406 | 422 if is_about_types() => Self::Types,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(status: u16, code: &str, message: &str) -> Objection {
        let body = serde_json::json!({"errors": [{"code": code, "message": message}]});
        Objection::read(status, body.to_string().as_bytes())
    }

    #[test]
    fn what_registries_say_is_told_apart() {
        use Objection::{Immutable, Other, Precondition, Types};
        let exists = "The image tag '1.0.0' already exists in the 'acme/demo' repository and cannot be overwritten because the repository is immutable.";
        let harbor = "Failed to process request due to 'acme/demo:1.0.0' configured as immutable.";
        for (status, code, message, objection) in [
            (
                400,
                "MANIFEST_INVALID",
                "unknown media type: text/plain",
                Types,
            ),
            (400, "UNKNOWN", "unknown media type: text/plain", Types),
            (
                415,
                "MANIFEST_INVALID",
                "manifest schema unsupported",
                Types,
            ),
            (
                405,
                "UNSUPPORTED",
                "Invalid parameter at 'ImageManifest'",
                Types,
            ),
            (400, "TAG_INVALID", exists, Immutable),
            (
                400,
                "ImageTagAlreadyExistsException",
                "it exists",
                Immutable,
            ),
            (412, "PRECONDITION", harbor, Immutable),
            (403, "DENIED", harbor, Immutable),
            (409, "CONFLICT", harbor, Immutable),
            (
                400,
                "UNKNOWN",
                "repository does not allow updating assets",
                Immutable,
            ),
            (412, "PRECONDITION", "the tag was moved", Precondition),
            (
                400,
                "MANIFEST_BLOB_UNKNOWN",
                "blob unknown to registry",
                Other,
            ),
            (
                404,
                "MANIFEST_BLOB_UNKNOWN",
                "blob unknown to registry",
                Other,
            ),
            (400, "TAG_INVALID", "the tag has a wrong form", Other),
            (400, "", "it went wrong", Other),
            (
                403,
                "DENIED",
                "requested access to the resource is denied",
                Other,
            ),
            (404, "NAME_UNKNOWN", "there is no media type", Other),
            (500, "MANIFEST_INVALID", "unknown media type", Other),
        ] {
            assert_eq!(read(status, code, message), objection, "{status} {code}");
        }
        assert_eq!(Objection::read(400, b"unsupported mediaType\n"), Types);
        assert_eq!(Objection::read(412, b""), Precondition);
    }
}
