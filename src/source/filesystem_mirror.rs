//! Filesystem mirrors: copies of packages in a directory
//! ([clients: filesystem mirrors](crate::clients#filesystem-mirrors)).
//!
//! ```text
//! HOST/NAMESPACE/TYPE/terraform-provider-TYPE_VERSION_OS_ARCH.zip    packed
//! HOST/NAMESPACE/TYPE/VERSION/OS_ARCH/                               unpacked
//! ```
//!
//! A release has packed packages only. The author's zip, and with it its hash, cannot be restored from an unpacked directory: that can be
//! installed and locked by its `h1`, but not mirrored. A mirror has no signatures, so its packages are `unverified` unless a lock file contains
//! their hashes.
//!
//! tfoci looks in the directory that `providers mirror` writes. Like clients, it accepts other spellings of the names of zips.

use std::path::{Path, PathBuf};

use super::error::Error;
use super::{AvailableVersion, AvailableVersions, ReleaseAnswer};
use crate::address::{Hostname, ProviderAddr};
use crate::archive::{Archive, Limits};
use crate::blob::File;
use crate::disk;
use crate::error::printable_path;
use crate::platform::{Platform, Platforms};
use crate::release::{Package, Release, canonical_file_name};
use crate::trust::PackageName;
use crate::version::{SpelledVersion, Version};

/// A directory as `tofu providers mirror` writes it, with zips or unpacked packages.
#[derive(Clone, Debug)]
pub struct FilesystemMirror {
    directory: PathBuf,
}

/// The packages of one provider in a mirror.
#[derive(Default)]
struct Contents {
    /// The zips, sorted by version and platform, without duplicates.
    packed: Vec<LocalPackage>,
    /// The directories with the content of a zip, in the same order.
    unpacked: Vec<LocalPackage>,
}

/// A zip, or a directory with the content of one.
#[derive(Clone, Debug)]
pub struct LocalPackage {
    /// The zip or directory.
    pub path: PathBuf,
    /// The version, as the name of the zip or of the directory above spells it.
    pub version: SpelledVersion,
    /// The platform in the name.
    pub platform: Platform,
}

impl FilesystemMirror {
    /// Opens the mirror in a directory. No file is read yet.
    ///
    /// # Errors
    /// The path is not a directory.
    pub fn open(directory: impl Into<PathBuf>) -> Result<Self, Error> {
        let directory = directory.into();
        match directory.read_dir() {
            Ok(_) => Ok(Self { directory }),
            Err(source) => Err(disk::Error::at("read", &directory, source).into()),
        }
    }

    /// Finds the packages of a provider, at least one.
    fn find(&self, provider: &ProviderAddr) -> Result<Contents, Error> {
        let place = self.directory.join(provider.to_string());
        let mut contents = Contents::default();
        for name in disk::if_exists(disk::names(&place))?.unwrap_or_default() {
            contents.add(place.join(&name), &name, provider)?;
        }
        // Like clients, use the first of several zips for one platform.
        for packages in [&mut contents.packed, &mut contents.unpacked] {
            packages.sort_by(|a, b| a.key().cmp(&b.key()));
            packages.dedup_by(|a, b| a.key() == b.key());
        }
        match contents.packed.is_empty() && contents.unpacked.is_empty() {
            true => Err(Error::NoProvider {
                place: printable_path(&place),
            }),
            false => Ok(contents),
        }
    }
}

/// The providers that have a directory in a filesystem mirror, with or without packages; none if the mirror does not exist.
///
/// # Errors
/// A directory cannot be read.
pub fn providers(mirror: &Path) -> Result<Vec<ProviderAddr>, disk::Error> {
    let mut found = Vec::new();
    for host in disk::subdirectories(mirror)? {
        let Ok(hostname) = host.parse::<Hostname>() else {
            continue;
        };
        for namespace in disk::subdirectories(&mirror.join(&host))? {
            for name in disk::subdirectories(&mirror.join(&host).join(&namespace))? {
                found.extend(ProviderAddr::new(hostname.clone(), &namespace, &name));
            }
        }
    }
    Ok(found)
}

impl Contents {
    /// Adds a zip, or the unpacked packages of a version.
    fn add(
        &mut self,
        path: PathBuf,
        name: &str,
        provider: &ProviderAddr,
    ) -> Result<(), disk::Error> {
        if let Some(PackageName { version, platform }) = package_name(name, provider) {
            if !path.is_dir() {
                self.packed.push(LocalPackage {
                    path,
                    version,
                    platform,
                });
            }
        } else if let Ok(version) = name.parse::<SpelledVersion>()
            && path.is_dir()
        {
            for name in disk::subdirectories(&path)? {
                let platform = name.parse().ok();
                self.unpacked.extend(platform.map(|platform| LocalPackage {
                    path: path.join(&name),
                    version: version.clone(),
                    platform,
                }));
            }
        }
        Ok(())
    }
}

impl LocalPackage {
    fn key(&self) -> (&Version, &Platform) {
        (self.version.version(), &self.platform)
    }
}

/// Parses a file name as clients do: in lower case, and ignoring anything after the platform.
pub(crate) fn package_name(name: &str, provider: &ProviderAddr) -> Option<PackageName> {
    let lower = name.to_lowercase();
    let fields: Vec<&str> = lower.strip_suffix(".zip")?.splitn(5, '_').take(4).collect();
    PackageName::parse(&format!("{}.zip", fields.join("_")), provider.type_name())
}

/// Checks that the file is a valid zip, because a mirror has neither digests nor signatures.
fn check(package: &LocalPackage) -> Result<(), Error> {
    let opened = Archive::open(disk::open(&package.path)?, &Limits::default());
    opened.map(drop).map_err(|source| Error::Archive {
        platform: package.platform.clone(),
        place: printable_path(&package.path),
        source,
    })
}

impl FilesystemMirror {
    /// The versions that have zips.
    pub(super) fn available_versions(
        &self,
        provider: &ProviderAddr,
    ) -> Result<AvailableVersions, Error> {
        let mut contents = self.find(provider)?;
        if contents.packed.is_empty()
            && let Some(mut one) = contents.unpacked.pop()
        {
            one.path.pop();
            return Err(Error::Unpacked { path: one.path });
        }
        let mut versions: Vec<AvailableVersion> = Vec::new();
        for LocalPackage {
            version, platform, ..
        } in contents.packed
        {
            match versions.last_mut() {
                Some(last) if last.version.version() == version.version() => {
                    last.platforms.get_or_insert_default().push(platform);
                }
                _ => versions.push(AvailableVersion {
                    version,
                    platforms: Some(vec![platform]),
                }),
            }
        }
        Ok(AvailableVersions {
            versions,
            ..AvailableVersions::default()
        })
    }

    /// All versions, packed or not, in no order.
    pub(crate) fn installable_versions(
        &self,
        provider: &ProviderAddr,
    ) -> Result<Vec<AvailableVersion>, Error> {
        let found = self.find(provider)?;
        let packed = found.packed.into_iter().map(|one| one.version);
        let unpacked = found.unpacked.into_iter().map(|one| one.version);
        let versions = packed.chain(unpacked).map(|version| AvailableVersion {
            version,
            platforms: None,
        });
        Ok(versions.collect())
    }

    /// The unpacked packages of a version for these platforms; none if there is a zip for one of them, or nothing.
    pub(crate) fn unpacked(
        &self,
        provider: &ProviderAddr,
        version: &Version,
        platforms: &Platforms,
    ) -> Result<Vec<LocalPackage>, Error> {
        let mut found = self.find(provider)?;
        let is_wanted =
            |(one, platform): (&Version, &Platform)| one == version && platforms.has(platform);
        found.unpacked.retain(|one| is_wanted(one.key()));
        let is_packed = found.packed.iter().any(|one| is_wanted(one.key()));
        let is_whole = match platforms {
            Platforms::Only(named) => found.unpacked.len() == named.len(),
            _ => true,
        };
        found.unpacked.retain(|_| is_whole && !is_packed);
        Ok(found.unpacked)
    }

    pub(super) async fn release(
        &self,
        provider: &ProviderAddr,
        version: &SpelledVersion,
        platforms: &Platforms,
    ) -> Result<ReleaseAnswer, Error> {
        let mut found = self.find(provider)?.packed;
        found.retain(|one| {
            one.version.version() == version.version() && platforms.has(&one.platform)
        });
        let mut packages = Vec::new();
        for one in found {
            check(&one)?;
            let location = File::measured(one.path).await?;
            packages.push(Package {
                file_name: canonical_file_name(provider, version.version(), &one.platform),
                platform: one.platform,
                expected: location.expected,
                location: location.into(),
            });
        }
        let release = Release::unproven(provider, version.version(), packages);
        Ok(ReleaseAnswer::of(platforms.named(), release))
    }

    pub(super) fn name(&self) -> String {
        format!("filesystem-mirror:{}", printable_path(&self.directory))
    }
}
