//! Writes one provider of a site: its versions, then the list of them ([`found_files`](super::found_files)).

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;

use futures_util::StreamExt as _;

use super::documents;
use super::folder::{self, ProviderFolder};
use super::{OnChange, Refused, Site, SiteChange};
use crate::address::ProviderAddr;
use crate::disk;
use crate::event::{Event, Subject, Warning};
use crate::examine::StoredProvider;
use crate::install::{Installed, Task};
use crate::oci::Refusal;
use crate::outcome::{At, Failure, Problem};
use crate::platform::{Platform, Platforms};
use crate::protocol::network_mirror::Archive;
use crate::store;
use crate::version::Version;

enum VersionResult {
    Written(Box<Installed>),
    /// The version has no package for the wanted platforms, but for these.
    OtherPlatforms {
        platforms: BTreeSet<Platform>,
        /// Whether the site has packages of the version, and the store has none of these. They are to be deleted.
        is_gone: bool,
    },
}

impl Site<'_> {
    /// Writes versions of one provider.
    pub(super) async fn provider(
        &self,
        provider: &ProviderAddr,
        tasks: &[Task],
        on_change: &OnChange<'_>,
    ) {
        // Without the required pin every version fails, so one error for the provider is enough.
        if let Some(task) = tasks.first()
            && let Err(problem) = self.request.trust.rule_for(provider)
        {
            on_change(Err(task.from.failure(None, problem)));
            return self.without_pin(&task.from, on_change).await;
        }
        let mut stored = Some(BTreeSet::new());
        for task in tasks {
            match self.versions(task, on_change).await {
                Ok(versions) => {
                    if let Some(stored) = &mut stored {
                        stored.extend(versions);
                    }
                }
                // The versions of the store are unknown, so nothing is deleted.
                Err(failure) => {
                    stored = None;
                    on_change(Err(failure));
                }
            }
        }
        if let Some(stored) = stored.as_ref().filter(|_| !self.delete) {
            let mut withdrawn = self.published(provider);
            withdrawn.retain(|version| !stored.contains(version));
            self.keep(provider, withdrawn, Refused::Withdrawn, on_change);
        }
        let stored = stored.filter(|_| self.delete);
        self.finish_provider(provider, stored.as_ref(), on_change);
    }

    /// Deletes the published versions of a provider that lacks the required pin, or reports that they stay.
    async fn without_pin(&self, from: &StoredProvider, on_change: &OnChange<'_>) {
        let provider = &from.provider;
        if !self.delete {
            self.keep(
                provider,
                self.published(provider),
                Refused::NoPin,
                on_change,
            );
            return self.finish_provider(provider, None, on_change);
        }
        // While the store cannot be read, nothing is deleted.
        match from.versions().await {
            Ok(_) => self.finish_provider(provider, Some(&BTreeSet::new()), on_change),
            Err(failure) => on_change(Err(failure)),
        }
    }

    /// Writes the selected versions. Returns those that the store has, without those to delete: they did not verify, or the store has lost
    /// every published package of them.
    async fn versions(
        &self,
        Task { from, selection }: &Task,
        on_change: &OnChange<'_>,
    ) -> Result<BTreeSet<Version>, Failure> {
        let available = from.versions().await?;
        if let Some(warning) = from.withdrawn(&available) {
            self.reporter.report(warning);
            return Ok(BTreeSet::new());
        }
        let published = self.published(&from.provider);
        // Those that a user names and that are published were withdrawn, too.
        if self.delete && available.versions.is_empty() && !published.is_empty() {
            return Ok(BTreeSet::new());
        }
        let constraints = &selection.constraints;
        let is_selected = |version: &&Version| constraints.is_any() || constraints.admits(version);
        let selected: Vec<&Version> = available.versions.iter().filter(is_selected).collect();
        if selected.is_empty() {
            return Err(from.no_match(&available, constraints));
        }
        self.reporter.report(Event::VersionsSelected {
            subject: Subject::provider(&from.provider),
            versions: selected
                .iter()
                .map(|version| ((*version).clone(), None))
                .collect(),
        });
        let (mut to_delete, mut others) = (BTreeSet::new(), BTreeSet::new());
        let mut has_package = false;
        let write = async |version| (version, self.version(from, version).await);
        let writing = selected.into_iter().map(write);
        let mut writing = pin!(self.side_by_side.run(false, writing));
        while let Some((version, written)) = writing.next().await {
            match written {
                Ok(VersionResult::Written(installed)) => {
                    has_package = true;
                    on_change(Ok(SiteChange::Written(*installed)));
                }
                Ok(VersionResult::OtherPlatforms { platforms, is_gone }) => {
                    others.extend(platforms);
                    to_delete.extend(is_gone.then(|| version.clone()));
                }
                Err(failure) => {
                    has_package = true;
                    let reason = Refused::by(&failure);
                    on_change(Err(failure));
                    if self.delete && reason == Some(Refused::NotVerified) {
                        to_delete.insert(version.clone());
                    }
                    let stays = !self.delete || reason == Some(Refused::Damaged);
                    if let Some(reason) = reason.filter(|_| stays && published.contains(version)) {
                        self.keep(&from.provider, [version.clone()], reason, on_change);
                    }
                }
            }
        }
        if !has_package {
            on_change(Err(from.failure(None, self.without_package(others))));
        }
        let stored = available.versions.iter();
        let stored = stored.filter(|version| !to_delete.contains(version));
        Ok(stored.cloned().collect())
    }

    /// The problem if no version has a package for the wanted platforms, but for others.
    fn without_package(&self, others: BTreeSet<Platform>) -> Problem {
        let mut wanted = self.request.platforms.named().into_iter().flatten();
        match wanted.next() {
            Some(platform) => Problem::Store(store::Error::Refusal(Refusal::NoPlatform {
                platform: platform.clone(),
                available: others.into_iter().collect(),
            })),
            None => Problem::NoPackages,
        }
    }

    async fn version(
        &self,
        from: &StoredProvider,
        version: &Version,
    ) -> Result<VersionResult, Failure> {
        let (request, reporter) = (self.request, self.reporter);
        let about = |problem| from.failure(Some(version), problem);
        let examined = from
            .examine(version, &Platforms::All, &request.trust)
            .await?;
        let subject = Subject::version(&from.provider, version);
        let stored: BTreeSet<Platform> = examined
            .packages
            .iter()
            .map(|package| package.platform.clone())
            .collect();
        let release = examined.accepted(&from.provider, reporter);
        let release = release.map_err(about)?;
        let release = release.only(|platform| request.platforms.has(platform));
        if release.packages.is_empty() {
            let warning = Warning::NoWantedPackage;
            reporter.report(Event::Warning { subject, warning });
            let is_gone = self.delete
                && self
                    .lose(from, version, &stored)
                    .map_err(|error| about(error.into()))?;
            return Ok(VersionResult::OtherPlatforms {
                platforms: stored,
                is_gone,
            });
        }
        let (at, any) = (At::read(from.place.clone()), BTreeSet::new());
        let installed = self.installer.deliver(&release, &at, &any).await?;
        if !request.dry_run {
            self.write_document(&installed, &stored)
                .map_err(|error| about(error.into()))?;
        }
        Ok(VersionResult::Written(Box::new(installed)))
    }

    /// Writes the document of a version whose packages are written. Packages for other platforms stay listed, except those that the store no
    /// longer has if deletion was requested.
    fn write_document(
        &self,
        installed: &Installed,
        stored: &BTreeSet<Platform>,
    ) -> Result<(), disk::Error> {
        let root = &self.request.into;
        let directory = ProviderFolder::of(root, &installed.provider).open_or_create()?;
        let mut kept = documents::listed(&directory, &installed.version)?.unwrap_or_default();
        if self.delete {
            retain(&mut kept, stored);
        }
        let bytes = documents::archives(&installed.packages, kept);
        let name = documents::document_name(&installed.version);
        folder::write(root, &directory, &name, &bytes)
    }

    /// Removes the packages that the store no longer has from the document of a version that has no wanted package. Returns whether none is left.
    fn lose(
        &self,
        from: &StoredProvider,
        version: &Version,
        stored: &BTreeSet<Platform>,
    ) -> Result<bool, disk::Error> {
        let root = &self.request.into;
        let directory = ProviderFolder::of(root, &from.provider).open()?;
        let Some(directory) = directory else {
            return Ok(false);
        };
        let Some(mut kept) = documents::listed(&directory, version)? else {
            return Ok(false);
        };
        let before = kept.len();
        retain(&mut kept, stored);
        if kept.is_empty() {
            return Ok(true);
        }
        if kept.len() < before && !self.request.dry_run {
            let name = documents::document_name(version);
            folder::write(root, &directory, &name, &documents::archives(&[], kept))?;
        }
        Ok(false)
    }
}

/// Removes the packages of other platforms from those of a document.
fn retain(packages: &mut BTreeMap<String, Option<Archive>>, stored: &BTreeSet<Platform>) {
    let stored: BTreeSet<String> = stored.iter().map(ToString::to_string).collect();
    packages.retain(|platform, _| stored.contains(platform));
}
