//! Hints about release folders and their files.

use tfoci::archive;
use tfoci::disk;
use tfoci::error::printable;
use tfoci::outcome::{Failure, PackageError, Problem};
use tfoci::source::folder;

/// A hint for `push` alone: its user made the release.
pub(super) fn pushing(failure: &Failure) -> Option<String> {
    let text = match &*failure.problem {
        Problem::Package { source, .. } if matches!(**source, PackageError::Blob(_)) => {
            "the zip has changed since it was verified. Push again once the release process is done"
        }
        Problem::Uncovered { .. } => {
            "nothing of this version was changed. To add a platform, let SHA256SUMS list the published zips too, with their hashes, and sign it. If the other zips were built again, release a new version, since lock files pin zips; or, if no configuration uses this one, `--existing replace`, which removes its other platforms"
        }
        _ => return None,
    };
    Some(text.to_owned())
}

pub(super) fn in_zip(error: &archive::Error) -> Option<String> {
    match error {
        archive::Error::NoExecutable { expected, files } => {
            let is_below = |file: &String| {
                let name = file.rsplit_once('/').map(|(_, name)| name);
                name.is_some_and(|name| name.starts_with(expected))
            };
            Some(match files.iter().any(is_below) {
                true => {
                    "put the provider's executable into the zip itself, not into a directory of it"
                        .to_owned()
                }
                false => format!(
                    "clients run a file whose name is `{expected}`, or begins with it and `_` or `.`, such as `{expected}_v1.0.0`"
                ),
            })
        }
        _ => None,
    }
}

pub(super) fn in_folder(error: &folder::Error, address: &str) -> Option<String> {
    let text = match error {
        folder::Error::Disk(disk::Error::List { .. } | disk::Error::NotDirectory { .. })
        | folder::Error::Empty(_) => {
            "name the folder that the release process writes, such as `dist`"
        }
        folder::Error::SeveralVersions { .. } => {
            return Some(format!("choose one: `--provider {address}@VERSION`"));
        }
        folder::Error::OtherType { .. } => "`--provider` must name the type that is in the folder",
        folder::Error::NoChecksums { .. } => {
            "`sha256sum terraform-provider-*.zip` prints its lines; it is signed with `gpg --detach-sign`"
        }
        folder::Error::ArmouredSignature {
            expected,
            clearsigned: Some(document),
            ..
        } => {
            return Some(format!(
                "it is a signed copy of the document, and no signature of its own: `gpg --detach-sign --output {} {}` makes one",
                printable(expected),
                printable(document)
            ));
        }
        folder::Error::ArmouredSignature { name, expected, .. } => {
            return Some(format!(
                "`gpg --dearmor --output {} {}` makes it; next time, leave out `--armor`",
                printable(expected),
                printable(name)
            ));
        }
        folder::Error::ListedZipMissing { .. } => {
            "to push only some platforms, name them with `--platform`"
        }
        folder::Error::NoPlatform { asked, .. } => {
            return super::meant_platform(std::slice::from_ref(asked));
        }
        folder::Error::SamePlatform { .. } => {
            "remove the one that the checksum document does not list"
        }
        folder::Error::ProviderManifestAltered { .. } => {
            "nothing of this version was written. Build the release again, and sign after the last change"
        }
        folder::Error::ProviderManifest { .. }
        | folder::Error::ProviderManifestVersion { .. }
        | folder::Error::Protocol { .. } => {
            r#"such as `{"version":1,"metadata":{"protocol_versions":["6.0"]}}`"#
        }
        _ => return None,
    };
    Some(text.to_owned())
}
