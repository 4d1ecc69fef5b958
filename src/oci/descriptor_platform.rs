//! The platform of a descriptor.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::json::{self, Object};
use crate::platform::Platform;

/// The `platform` of a descriptor, unnormalised: clients compare it byte for byte.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DescriptorPlatform {
    /// The architecture, by its name in Go.
    pub architecture: String,
    /// The operating system, by its name in Go.
    pub os: String,
    /// A version of the operating system. All clients skip an entry that has one.
    #[serde(rename = "os.version", skip_serializing_if = "Option::is_none")]
    pub os_version: Option<String>,
}

impl DescriptorPlatform {
    /// Whether a client on `platform` selects this entry ([clients: platform selection](crate::clients#platform-selection)).
    pub fn is(&self, platform: &Platform) -> bool {
        self.os_version.is_none()
            && self.os == platform.os()
            && self.architecture == platform.arch()
    }

    /// The platform; `None` if no client can request it.
    pub fn platform(&self) -> Option<Platform> {
        let platform = Platform::new(&self.os, &self.architecture).ok()?;
        self.is(&platform).then_some(platform)
    }
}

impl From<&Platform> for DescriptorPlatform {
    fn from(platform: &Platform) -> Self {
        Self {
            architecture: platform.arch().to_owned(),
            os: platform.os().to_owned(),
            os_version: None,
        }
    }
}

/// A parsed `platform`, and whether a member had its name in an unusual letter case.
pub(super) struct ReadPlatform {
    pub(super) target: DescriptorPlatform,
    pub(super) lenient: bool,
}

impl ReadPlatform {
    pub(super) fn read(mut object: Object<'_>) -> Result<Self, json::Error> {
        object.text("variant")?;
        object.list("os.features", usize::MAX, text)?;
        let target = DescriptorPlatform {
            architecture: object.text("architecture")?,
            os: object.text("os")?,
            os_version: Some(object.text("os.version")?).filter(|text| !text.is_empty()),
        };
        let lenient = object.is_lenient();
        Ok(Self { target, lenient })
    }
}

/// Checks that an item of a list is a text. `null` counts as an empty text.
pub(super) fn text(value: &RawValue) -> Result<(), json::Error> {
    let _: Option<Cow<'_, str>> = serde_json::from_str(value.get())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letter_case_and_os_version_never_match() {
        let linux: Platform = "linux_amd64".parse().unwrap();
        let target = |os: &str, version: Option<&str>| DescriptorPlatform {
            architecture: "amd64".to_owned(),
            os: os.to_owned(),
            os_version: version.map(str::to_owned),
        };
        assert!(target("linux", None).is(&linux));
        assert!(!target("Linux", None).is(&linux));
        assert!(!target("linux", Some("10")).is(&linux));
        assert_eq!(target("linux", Some("10")).platform(), None);
    }
}
