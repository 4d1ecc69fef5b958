//! Downloads packages to hash them.

use std::collections::BTreeSet;

use crate::event::Transfer;
use crate::hash::PackageHash;
use crate::install::{Download, each_package};
use crate::outcome::{At, Failure, Problem};
use crate::publish::PackageBlob;
use crate::release::Release;
use crate::trust::Verified;

use super::Journey;

impl Journey<'_> {
    /// Downloads the packages of a release. Returns the `zh` of each, and with [`super::Options::h1`] the `h1` of its unpacked directory.
    pub(super) async fn measure<B: PackageBlob>(
        &self,
        release: &Verified<Release<B>>,
        at: &At,
    ) -> Result<BTreeSet<PackageHash>, Failure> {
        let options = self.options;
        let measured = each_package(release, &options.jobs, at, self.reporter, |download| {
            let wants_h1 = options.h1.has(&download.package.platform);
            async move {
                let hashes = hashes(&download, wants_h1).await?;
                Ok::<_, Problem>((hashes, Transfer::Copied))
            }
        });
        Ok(measured.await?.into_iter().flatten().collect())
    }
}

/// The `zh` of a package, and the `h1` if it is wanted.
async fn hashes<B: PackageBlob>(
    download: &Download<B>,
    wants_h1: bool,
) -> Result<Vec<PackageHash>, Problem> {
    let mut hashes = Vec::from_iter(download.package.zh());
    match wants_h1 {
        true => hashes.push(download.inspected().await?.hashes.directory),
        false => download.to(|_| Ok(())).await?,
    }
    Ok(hashes)
}
