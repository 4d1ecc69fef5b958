//! The short name of a package.

use tfoci::event::Subject;

/// The label of a package. It omits the host and the namespace, because they rarely differ between packages.
pub(super) fn label(subject: &Subject) -> String {
    let mut label = subject.provider.type_name().to_owned();
    if let Some(version) = &subject.version {
        label += &format!(" {version}");
    }
    if let Some(platform) = &subject.platform {
        label += &format!(" {platform}");
    }
    if let Some(destination) = &subject.destination {
        label += &format!(" to {destination}");
    }
    label
}
