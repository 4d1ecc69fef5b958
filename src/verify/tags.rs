//! The tags of a repository, as clients read them ([clients: tags](crate::clients#tags)).

use super::Journey;
use crate::constraint::VersionConstraints;
use crate::examine::Versions;
use crate::finding::{Code, Finding};
use crate::oci::reference::{Ignored, version_of};
use crate::platform::Platform;
use crate::version::Version;

impl Journey<'_> {
    /// The findings about the names of tags. `newest` is the version that clients select.
    pub(super) fn tags(&self, listed: &Versions, newest: Option<&Version>) -> Vec<Finding> {
        let from = &self.task.from;
        let of_names = listed.ignored.iter().filter_map(|(name, reason)| {
            let (code, version, message) = match reason {
                Ignored::NotAVersion => return None,
                Ignored::Evidence => {
                    let version = version_of(name.strip_prefix("evidence-")?).ok()?;
                    if listed.versions.contains(&version) {
                        return None;
                    }
                    let message = "the store has the evidence of this version, and not the version";
                    (Code::EvidenceOrphan, Some(version), message.to_owned())
                }
                Ignored::NotCanonical { version, canonical } => {
                    // The tag does no harm if the canonical one exists.
                    if listed.versions.contains(version) {
                        return None;
                    }
                    let (code, what) = match newest == Some(version) {
                        true => (Code::NewestRefused, " as the newest"),
                        false => (Code::TagNotCanonical, ""),
                    };
                    let message = format!("clients list {version}{what}, and then ask for the tag `{canonical}`, which does not exist");
                    (code, Some(version.clone()), message)
                }
                Ignored::NumberTooLarge => {
                    let message = "a number of this tag exceeds 64 bits: clients crash when they list the versions";
                    (Code::TagCrashesClients, None, message.to_owned())
                }
                Ignored::TooLong => {
                    let message = format!("the version is {reason}, so tfoci passes over it");
                    (Code::TagTooLong, None, message)
                }
            };
            // Evidence of a version that nobody asks for.
            let is_other = version.as_ref().is_some_and(|one| !self.admits(one));
            let finding = Finding::new(code, message).at(format!("{}:{name}", from.repo));
            (!is_other).then_some(Finding { version, ..finding })
        });
        let of_platforms = listed.versions.iter().filter(|one| names_platform(one));
        let of_platforms = of_platforms.map(|version| {
            let message = format!("clients take this tag of a platform for the version {version}");
            let tag = version.to_string().replace('+', "_");
            Finding {
                version: Some(version.clone()),
                ..Finding::new(Code::TagOfPlatform, message).at(format!("{}:{tag}", from.repo))
            }
        });
        of_names.chain(of_platforms).collect()
    }
}

/// The newest version that clients see: they choose it, whether they can fetch it or not.
pub(super) fn newest(listed: &Versions) -> Option<&Version> {
    let others = listed
        .ignored
        .iter()
        .filter_map(|(_, reason)| match reason {
            Ignored::NotCanonical { version, .. } => Some(version),
            _ => None,
        });
    VersionConstraints::any().newest(listed.versions.iter().chain(others))
}

/// Whether a version is the tag of a platform, such as `1.0.0-linux-amd64`, which some tools leave behind.
pub(super) fn names_platform(version: &Version) -> bool {
    let text = version.to_string();
    let Some((_, rest)) = text.split_once(['-', '+']) else {
        return false;
    };
    let platform = rest.split_once(['-', '+', '_', '.']);
    let platform = platform.and_then(|(os, arch)| Platform::new(os, arch).ok());
    platform.is_some_and(|platform| platform.is_of_go())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_of_platforms_are_told_from_prereleases() {
        for (version, expected) in [
            ("1.0.0-linux-amd64", true),
            ("1.0.0-linux+amd64", true),
            ("1.0.0+darwin.arm64", true),
            ("1.0.0-rc.1", false),
            ("1.0.0-linux", false),
            ("1.0.0+build-1", false),
            ("1.0.0", false),
        ] {
            assert_eq!(
                names_platform(&version.parse().unwrap()),
                expected,
                "{version}"
            );
        }
    }
}
