//! Site: writes the network mirror protocol as static files, which any web server can serve.
//!
//! ```text
//! DIR/index.html                                   a page for people
//! DIR/HOST/NAMESPACE/TYPE/index.json               the versions
//!                         VERSION.json             the packages of a version, with their hashes
//!                         terraform-provider-TYPE_VERSION_OS_ARCH.zip
//! ```
//!
//! Host names are in punycode, as clients request them ([clients: network mirror requests](crate::clients#network-mirror-requests)). The
//! documents are byte for byte what `tofu providers mirror` writes. Only versions that verify are written.
//!
//! # The order of files
//! Packages come first, then the document of their version, then `index.json`, and each is renamed to its path when it is complete. So at no
//! moment does a document name a file that does not exist. Files are deleted in the opposite order. A file that already has the right content
//! keeps its inode and its times.
//!
//! # A second run
//! Every package of the site is read and hashed again: other programs may write there, and neither a size nor a time proves the content of a
//! file. A run that trusted them would serve a damaged package for ever. This reads the disk, and downloads nothing.
//!
//! # Existing files
//! `index.json` lists every version whose document and packages exist, so versions that the store no longer has remain until they are
//! deleted on request. Directories and files with other names remain in any case. A symbolic link below the directory is an error and not followed.

mod documents;
mod folder;
mod page;
mod provider;

pub use page::{GENERATOR, Listed};

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::{StreamExt as _, stream};

use crate::address::ProviderAddr;
use crate::event::{Reporter, Subject};
use crate::install::{Installed, Installer, Request, Task, by_provider};
use crate::jobs::{PROVIDERS, SideBySide};
use crate::outcome::{Failure, Problem};
use crate::version::Version;

/// What happened to one version, or would happen in a dry run.
#[derive(Clone, Debug)]
pub enum SiteChange {
    /// A version was written, or was complete already.
    Written(Installed),
    /// A version was deleted, or would be in a dry run.
    Deleted(ProviderAddr, Version),
}

/// Receives each change or failure as soon as it is known.
pub type OnChange<'a> = dyn Fn(Result<SiteChange, Failure>) + Send + Sync + 'a;

/// The directory of a site, locked against other writers.
pub struct Site<'a> {
    request: &'a Request,
    /// Whether to delete versions that the store no longer has, that no longer verify, or whose provider has no pin although one is required.
    delete: bool,
    reporter: &'a Arc<dyn Reporter>,
    on_change: &'a OnChange<'a>,
    installer: Installer<'a>,
    side_by_side: SideBySide,
}

impl<'a> Site<'a> {
    /// Creates and locks the directory, and removes the temporary files of an interrupted run. A dry run does neither.
    ///
    /// # Errors
    /// The system reported an error.
    pub async fn open(
        request: &'a Request,
        delete: bool,
        reporter: &'a Arc<dyn Reporter>,
        on_change: &'a OnChange<'a>,
    ) -> Result<Self, Problem> {
        let installer = Installer::new(request, reporter);
        installer.lock().await?;
        Ok(Self {
            request,
            delete,
            reporter,
            on_change,
            installer,
            side_by_side: SideBySide::default(),
        })
    }

    /// Writes versions of several providers concurrently.
    pub async fn write(&self, tasks: Vec<Task>) {
        let providers = stream::iter(by_provider(tasks));
        let writing = providers.for_each_concurrent(PROVIDERS, async |(provider, tasks)| {
            self.provider(&provider, &tasks).await;
        });
        writing.await;
    }

    /// The providers in the site other than these.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn others(&self, listed: &[ProviderAddr]) -> Result<Vec<ProviderAddr>, Failure> {
        let folders = self.folders().map_err(Problem::from)?;
        let others = folders.into_iter();
        Ok(others.filter(|one| !listed.contains(one)).collect())
    }

    /// Deletes all versions of a provider.
    pub fn delete(&self, provider: &ProviderAddr) {
        self.finish_provider(provider, Some(&BTreeSet::new()));
    }

    /// Whether clients of the site see a version of the provider. An error of the directory is reported when its `index.json` is written.
    fn is_published(&self, provider: &ProviderAddr) -> bool {
        let Ok(Some(directory)) = folder::open(&self.request.into, provider) else {
            return false;
        };
        let indexed = documents::indexed(&directory);
        indexed.is_ok_and(|indexed| indexed.is_some_and(|versions| !versions.is_empty()))
    }

    /// Writes the `index.json` of a provider, and deletes versions that are not in `stored`, if it is given.
    fn finish_provider(&self, provider: &ProviderAddr, stored: Option<&BTreeSet<Version>>) {
        let Request { into, dry_run, .. } = self.request;
        match provider::finish(into, provider, stored, *dry_run) {
            Ok(deleted) => {
                for version in deleted {
                    (self.on_change)(Ok(SiteChange::Deleted(provider.clone(), version)));
                }
            }
            Err(error) => {
                let problem = Problem::from(error);
                (self.on_change)(Err(problem.of(Subject::provider(provider), None)));
            }
        }
    }
}
