//! Hints about stores that cannot be read or written.

use tfoci::blob;
use tfoci::credentials;
use tfoci::oci::{self, Part};
use tfoci::store;
use tfoci::store::known::LevelsError;
use tfoci::template::Error as TemplateError;

use super::reach;

/// Explains the risk of a JSON object with a duplicate member.
const TWO_MEANINGS: &str = "such a document can show one package to a tool that verifies it and another to the client that installs it. Find out who wrote it before you replace it";

pub(super) fn store(error: &store::Error) -> Option<String> {
    let text = match error {
        store::Error::Http(error)
        | store::Error::Blob {
            source: blob::Error::Http(error),
            ..
        } => return reach::host(error),
        store::Error::Credentials(error) => return reach::credentials(error),
        // `tfoci login` must not recommend itself.
        store::Error::Unauthorized { tried, .. }
            if tried.as_deref() == Some(credentials::TYPED) =>
        {
            return None;
        }
        store::Error::Unauthorized { host, tried, .. } => {
            return Some(reach::unauthorized(host, tried.is_some()));
        }
        store::Error::RefusedElsewhere { registry, .. } => {
            return Some(format!(
                "no login helps: the credentials for {registry} go to no other host. Ask the registry's operator why that host refuses"
            ));
        }
        store::Error::IsRepository { .. } => {
            "for the provider that is in it, add `--exact-repository`"
        }
        store::Error::NoStore { .. } => {
            "`tfoci push` creates a store; a directory that is one layout by itself needs `--exact-repository`"
        }
        store::Error::Unwelcome { .. } => {
            "nothing of this version was changed. Some registries take only media types that they know: an update may know those of OpenTofu (GitLab since late 2025), or the registry's operator can add them"
        }
        store::Error::Immutable { .. } => {
            "the version is as it was. Push all platforms of a version at once, or have the registry's operator let the tags of this repository move"
        }
        store::Error::Blob { .. } if error.is_about_access() => return None,
        // A blob that is not in the store yet is not damaged content of the store.
        store::Error::Blob {
            what: Part::Blob, ..
        } => {
            "the zip has changed since it was verified. Push again once the release process is done"
        }
        store::Error::Blob { .. } | store::Error::Missing { .. } => {
            "the store is damaged. Pushing the release again with `--existing replace` repairs it"
        }
        store::Error::Refusal(oci::Refusal::Repeated { .. })
        | store::Error::LayoutRepeated { .. }
        | store::Error::Repeated { .. } => TWO_MEANINGS,
        store::Error::Refusal(oci::Refusal::NoPlatform { available, .. })
            if !available.is_empty() =>
        {
            "choose one of these with `--platform`, or push the one that is missing"
        }
        _ => return None,
    };
    Some(text.to_owned())
}

pub(super) fn levels(levels: &LevelsError) -> String {
    match levels.is_exact {
        true => {
            "join what tells providers apart with dashes, such as `{namespace}-{type}`".to_owned()
        }
        false => "add the levels that are missing".to_owned(),
    }
}

/// Shells replace an unquoted `${…}` by nothing. A template without placeholders is often meant as a directory.
pub(super) fn template(error: &TemplateError) -> Option<String> {
    use tfoci::oci::repository_name::RepositoryErrorKind;
    let text = match error.mistake_in_name()? {
        RepositoryErrorKind::EmptyComponent | RepositoryErrorKind::Separator { .. } => {
            "put the template in single quotes: between double quotes a shell replaces `${…}` by nothing. `{namespace}` needs no quotes"
        }
        RepositoryErrorKind::NoName => {
            "a directory is written `oci-layout:DIR`, a registry `REGISTRY/REPOSITORY`"
        }
        _ => return None,
    };
    Some(text.to_owned())
}
