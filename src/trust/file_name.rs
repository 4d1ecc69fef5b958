//! Parses the file names of packages: `terraform-provider-TYPE_VERSION_OS_ARCH.zip`.
//!
//! One signature covers the checksum document of a whole release, and its owner signs every release with the same key. Only the file
//! name ties a digest to one version and platform, so a digest under any other name proves nothing about them.

use crate::address::ProviderAddr;
use crate::platform::Platform;
use crate::release::Release;
use crate::version::{SpelledVersion, Version};

/// The provider version to look up in a checksum document.
#[derive(Clone, Copy, Debug)]
pub struct ReleaseId<'a> {
    /// The address of the provider. File names contain only its type.
    pub provider: &'a ProviderAddr,
    /// The version in the file names.
    pub version: &'a Version,
}

impl<'a> ReleaseId<'a> {
    /// The version of a release.
    pub fn of<L>(release: &'a Release<L>) -> Self {
        Self {
            provider: &release.provider,
            version: &release.version,
        }
    }

    /// Whether a file name is for this type and version, and for the given platform.
    ///
    /// Some origins write `_vVERSION_`, and some write a short version such as `0.50` for 0.50.0. Both are accepted.
    pub fn is_named(&self, file_name: &str, platform: &Platform) -> bool {
        self.platform_of(file_name).as_ref() == Some(platform)
    }

    /// The platform in a file name; `None` if the name is not for this type and version.
    pub fn platform_of(&self, file_name: &str) -> Option<Platform> {
        PackageName::parse(file_name, self.provider.type_name())
            .filter(|name| name.version.version() == self.version)
            .map(|name| name.platform)
    }
}

/// The parsed file name of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageName {
    /// The version, as it is spelled in the name.
    pub version: SpelledVersion,
    /// The platform in the file name.
    pub platform: Platform,
}

impl PackageName {
    /// Parses the file name of a package for a provider type; `None` if it does not have that form.
    pub fn parse(file_name: &str, type_name: &str) -> Option<Self> {
        let rest = file_name
            .strip_prefix("terraform-provider-")?
            .strip_prefix(type_name)?
            .strip_prefix('_')?
            .strip_suffix(".zip")?;
        let (rest, arch) = rest.rsplit_once('_')?;
        let (version, os) = rest.rsplit_once('_')?;
        Some(Self {
            version: version.strip_prefix('v').unwrap_or(version).parse().ok()?,
            platform: Platform::new(os, arch).ok()?,
        })
    }

    /// Parses the canonical file name of a package, without a `v` and with the canonical version.
    pub fn canonical(file_name: &str, type_name: &str) -> Option<Self> {
        let name = Self::parse(file_name, type_name)?;
        let end = format!("_{}_{}.zip", name.version.version(), name.platform);
        file_name.ends_with(&end).then_some(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(version: &str, platform: &str, file_name: &str) -> bool {
        ReleaseId {
            provider: &"example.com/acme/demo".parse().expect("an address"),
            version: &version.parse().expect("a version"),
        }
        .is_named(file_name, &platform.parse().expect("a platform"))
    }

    #[test]
    fn spellings_that_occur() {
        for (version, name) in [
            ("1.0.0", "terraform-provider-demo_1.0.0_linux_amd64.zip"),
            ("1.0.0", "terraform-provider-demo_v1.0.0_linux_amd64.zip"),
            ("0.50.0", "terraform-provider-demo_0.50_linux_amd64.zip"),
            (
                "0.25.35-pre+5515443",
                "terraform-provider-demo_0.25.35-pre+5515443_linux_amd64.zip",
            ),
        ] {
            assert!(says(version, "linux_amd64", name), "{name}");
        }
    }

    #[test]
    fn names_that_say_something_else() {
        for name in [
            "terraform-provider-demo_1.0.1_linux_amd64.zip",
            "terraform-provider-demo_1.0.0_linux_arm64.zip",
            "terraform-provider-demo_1.0.0_linux_amd64",
            "terraform-provider-demo_1.0.0+2_linux_amd64.zip",
            "terraform-provider-demo-extra_1.0.0_linux_amd64.zip",
            "terraform-provider-Demo_1.0.0_linux_amd64.zip",
            "terraform-provider-demo__linux_amd64.zip",
            "terraform-provider-demo_linux_amd64.zip",
            "../terraform-provider-demo_1.0.0_linux_amd64.zip",
            "demo.zip",
            "",
        ] {
            assert!(!says("1.0.0", "linux_amd64", name), "{name}");
        }
    }
}
