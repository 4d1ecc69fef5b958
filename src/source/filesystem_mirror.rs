//! Filesystem mirrors: other people's copies of packages, in a directory (contract 7).
//!
//! ```text
//! HOST/NAMESPACE/TYPE/terraform-provider-TYPE_VERSION_OS_ARCH.zip    packed
//! HOST/NAMESPACE/TYPE/VERSION/OS_ARCH/                               unpacked
//! ```
//!
//! Only packed mirrors are a source: from a directory the author's zip cannot be made again, and with it its hash would be lost. There are
//! no signatures, so what comes from here is `unverified`, unless a lock file vouches for it.

use std::path::{Path, PathBuf};

use super::error::Error;
use super::{Given, Offer, Offers, Source};
use crate::address::ProviderAddr;
use crate::archive::{Archive, Limits};
use crate::blob::File;
use crate::disk;
use crate::platform::Platform;
use crate::release::{Package, Release};
use crate::trust::PackageName;
use crate::version::{SpelledVersion, Version};

/// A filesystem mirror.
#[derive(Clone, Debug)]
pub struct FilesystemMirror {
    directory: PathBuf,
}

/// A zip of the mirror, as its name describes it.
struct Found {
    name: String,
    version: SpelledVersion,
    platform: Platform,
}

impl FilesystemMirror {
    /// A mirror in a directory. Nothing is opened.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
        }
    }

    /// Where a provider's packages are: hosts are spelled in Unicode by clients, and in ASCII by some other tools.
    fn place(&self, provider: &ProviderAddr) -> Result<(PathBuf, Vec<String>), Error> {
        let host = provider.hostname();
        for host in [host.to_unicode(), host.as_ascii().to_owned()] {
            let place = self
                .directory
                .join(host)
                .join(provider.namespace())
                .join(provider.type_name());
            if let Some(names) = disk::if_exists(disk::names(&place))? {
                return Ok((place, names));
            }
        }
        Err(self.lacks(provider))
    }

    fn lacks(&self, provider: &ProviderAddr) -> Error {
        Error::NoProvider {
            place: self.name(provider),
            provider: provider.clone(),
        }
    }

    fn find(&self, provider: &ProviderAddr) -> Result<(PathBuf, Vec<Found>), Error> {
        let (place, names) = self.place(provider)?;
        let mut found: Vec<Found> = names
            .iter()
            .filter_map(|name| Found::parse(name, provider))
            .collect();
        if found.is_empty() {
            let unpacked = names.iter().find(|name| is_unpacked(&place, name));
            return Err(match unpacked {
                Some(name) => Error::Unpacked {
                    path: place.join(name),
                },
                None => self.lacks(provider),
            });
        }
        found.sort_by(|a, b| {
            (a.version.version(), &a.platform).cmp(&(b.version.version(), &b.platform))
        });
        Ok((place, found))
    }
}

fn is_unpacked(place: &Path, name: &str) -> bool {
    name.parse::<Version>().is_ok() && place.join(name).is_dir()
}

/// Nothing else vouches for what lies there, so it must at least be a zip.
fn check(path: &Path) -> Result<(), Error> {
    let opened = Archive::open(disk::open(path)?, &Limits::default());
    opened.map(drop).map_err(|source| Error::File {
        path: path.to_owned(),
        source,
    })
}

impl Found {
    fn parse(name: &str, provider: &ProviderAddr) -> Option<Self> {
        let PackageName { version, platform } = PackageName::parse(name, provider.type_name())?;
        Some(Self {
            name: name.to_owned(),
            version,
            platform,
        })
    }
}

impl Source for FilesystemMirror {
    type Package = File;

    const BRINGS_PROOF: bool = false;

    async fn offers(&self, provider: &ProviderAddr) -> Result<Offers, Error> {
        let (_, found) = self.find(provider)?;
        let mut offers: Vec<Offer> = Vec::new();
        for Found {
            version, platform, ..
        } in found
        {
            match offers.last_mut() {
                Some(last) if last.version.version() == version.version() => {
                    last.platforms.get_or_insert_default().push(platform);
                }
                _ => offers.push(Offer {
                    version,
                    platforms: Some(vec![platform]),
                }),
            }
        }
        Ok(Offers {
            offers,
            warnings: Vec::new(),
        })
    }

    async fn platforms(
        &self,
        provider: &ProviderAddr,
        version: &SpelledVersion,
    ) -> Result<Vec<Platform>, Error> {
        let (_, found) = self.find(provider)?;
        let of_version = found
            .into_iter()
            .filter(|one| one.version.version() == version.version());
        Ok(of_version.map(|one| one.platform).collect())
    }

    async fn release(
        &self,
        provider: &ProviderAddr,
        version: &SpelledVersion,
        platforms: Option<&[Platform]>,
    ) -> Result<Given<File>, Error> {
        let (place, mut found) = self.find(provider)?;
        found.retain(|one| {
            one.version.version() == version.version()
                && platforms.is_none_or(|wanted| wanted.contains(&one.platform))
        });
        let mut packages = Vec::new();
        for one in found {
            let path = place.join(&one.name);
            check(&path)?;
            let location = File::measured(path).await?;
            packages.push(Package {
                platform: one.platform,
                file_name: one.name,
                expected: location.expected,
                location,
            });
        }
        Ok(Given::of(
            platforms.unwrap_or_default().to_vec(),
            Release::unproven(provider, version.version(), packages),
        ))
    }

    fn name(&self, _: &ProviderAddr) -> String {
        format!("filesystem-mirror:{}", self.directory.display())
    }
}
