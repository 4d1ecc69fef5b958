//! The codes of refusals in `testdata/layouts/EXPECTED.tsv`: `PART-DEFECT`.

use tfoci::error::Category;
use tfoci::json::Fault;
use tfoci::oci::reference::Ignored;
use tfoci::oci::{Part, Refusal};
use tfoci::outcome::Problem;
use tfoci::{blob, store};

/// The code of a problem; `None` if the artifact is not the cause.
pub fn of_problem(problem: &Problem) -> Option<String> {
    match problem {
        Problem::Store(error) | Problem::Unreadable(error) => of_store(error),
        Problem::Taken { source } => Some(of_refusal(source)),
        Problem::NoVersion { .. } => Some("tag-missing".to_owned()),
        _ => None,
    }
}

fn of_store(error: &store::Error) -> Option<String> {
    let (what, defect) = match error {
        store::Error::Refusal(refusal) => return Some(of_refusal(refusal)),
        store::Error::Blob { what, source, .. } => (*what, of_blob(source)?),
        store::Error::Missing { what, .. } => (*what, "missing"),
        _ => return None,
    };
    Some(of_part(what, defect))
}

fn of_blob(error: &blob::Error) -> Option<&'static str> {
    match error {
        blob::Error::Disk(_) | blob::Error::Http(_) => None,
        blob::Error::Missing => Some("missing"),
        blob::Error::Longer { .. } | blob::Error::Shorter { .. } => Some("size-mismatch"),
        blob::Error::Digest { .. } => Some("digest-mismatch"),
        blob::Error::Archive(_) => Some("malformed"),
    }
}

/// The code of a refusal.
pub fn of_refusal(refusal: &Refusal) -> String {
    let code = match refusal {
        Refusal::Wrong {
            what,
            member,
            received,
            ..
        } => return of_wrong(*what, member, received),
        Refusal::Protocols(_) => "evidence-protocols-malformed",
        Refusal::TooLarge { what, .. } => return of_part(*what, "too-large"),
        Refusal::Json { what, source } => {
            let defect = match source.fault {
                _ if source.category() == Category::Untrusted => "member-repeated",
                Fault::TooMany { what: "levels", .. } | Fault::Malformed(_) => "malformed",
                _ => "too-large",
            };
            return of_part(*what, defect);
        }
        Refusal::NoPlatform { .. } => "platform-missing",
        Refusal::NoProviders { .. } => "index-without-packages",
    };
    code.to_owned()
}

/// The code of a member that is absent or has another value.
fn of_wrong(what: Part, member: &str, received: &str) -> String {
    let code = match (what, member, received) {
        (Part::Tag, "artifactType", "application/vnd.opentofu.provider-target") => {
            "tag-is-platform-manifest"
        }
        (Part::Tag, "artifactType", "application/vnd.opentofu.modulepkg") => "tag-is-module",
        (Part::Tag, "artifactType", _) => "tag-artifact-type-unsupported",
        (Part::Tag, _, "application/vnd.oci.image.manifest.v1+json") => "tag-is-image-manifest",
        (Part::Tag, _, "application/vnd.oci.descriptor.v1+json") => "tag-is-descriptor",
        (Part::Tag, ..) => "tag-media-type-unsupported",
        (_, "manifests", _) => "platform-ambiguous",
        (_, "layers", "none") => "layer-missing",
        (_, "layers", "several") => "layer-ambiguous",
        (_, "layers", _) => "layer-media-type-wrong",
        (_, "digest", _) => return of_part(what, "digest-malformed"),
        (_, "size", text) if text.starts_with('-') => return of_part(what, "size-malformed"),
        (_, "size", _) => return of_part(what, "size-too-large"),
        (Part::Entry, "platform", _) => "entry-platform-missing",
        (_, "platform", _) => "layer-platform-wrong",
        (_, "mediaType", "") => return of_part(what, "media-type-missing"),
        (_, "mediaType", _) => return of_part(what, "media-type-wrong"),
        (_, _, "") => return of_part(what, "artifact-type-missing"),
        (..) => return of_part(what, "artifact-type-wrong"),
    };
    code.to_owned()
}

fn of_part(part: Part, defect: &str) -> String {
    let part = match part {
        Part::Entry => "entry".to_owned(),
        Part::Manifest => "manifest".to_owned(),
        Part::Layer => "layer".to_owned(),
        part => part.to_string(),
    };
    format!("{part}-{defect}")
}

/// The code of a tag that is no version.
pub fn of_ignored(reason: &Ignored) -> &'static str {
    match reason {
        Ignored::NotAVersion => "not-a-version",
        Ignored::Evidence => "tag-is-evidence",
        Ignored::NotCanonical { .. } => "tag-not-canonical",
        Ignored::NumberTooLarge => "tag-number-too-large",
        Ignored::TooLong => "tag-too-long",
    }
}
