//! The short name of a package.

use tfoci::event::Subject;

use super::super::finished_line::store;

/// The label of a package. It omits the host and the namespace, because they rarely differ between packages.
pub(super) fn label(subject: &Subject) -> String {
    let mut label = subject.provider.type_name().to_owned();
    if let Some(version) = &subject.version {
        label += &format!(" {version}");
    }
    if let Some(platform) = &subject.platform {
        label += &format!(" {platform}");
    }
    if subject.destination.is_some() {
        label += &format!(" to {}", store(subject));
    }
    label
}
