//! Packages that are delivered before the version is published.
//!
//! The index of a version contains the size of each package, so a publication can only be planned when all sizes are known. A source that
//! learns a size only by downloading the package delivers it first. The tags do not move.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::transfer::packages;
use super::{
    BlobSource, Error, Jobs, Platform, Release, RepoMut, Reporter, Tag, Transfer, Verified,
};

/// The outcome of packages that were delivered before.
#[derive(Clone, Debug, Default)]
pub struct Delivered(pub(super) BTreeMap<Platform, Transfer>);

impl Delivered {
    /// Delivers all packages of a release, and reports each. If the repository loses a package before the version is published, it is delivered
    /// again then.
    ///
    /// # Errors
    /// The store fails, or the bytes of a package are not those that were verified.
    pub async fn deliver<B: BlobSource>(
        &mut self,
        release: &Verified<Release<B>>,
        to: &RepoMut,
        jobs: &Jobs,
        reporter: &Arc<dyn Reporter>,
    ) -> Result<(), Error<B::Failure>> {
        // As in `publish`: a version that cannot be written as a tag must not create anything.
        Tag::of_evidence(&release.version)?;
        let _lock = to.lock(false, &**reporter).await?;
        let work = release.packages.iter().map(|package| (package, true, None));
        let transfers = packages(release, work, to, jobs, reporter).await?;
        let platforms = release.packages.iter();
        let platforms = platforms.map(|package| package.platform.clone());
        self.0.extend(platforms.zip(transfers));
        Ok(())
    }
}
