//! Writes one provider of a site: its versions, then the list of them. Deletes what the store no longer has.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::pin::pin;

use futures_util::StreamExt as _;

use super::documents::{self, INDEX};
use super::folder;
use super::{Site, SiteChange};
use crate::address::ProviderAddr;
use crate::disk;
use crate::error::Category;
use crate::event::{Event, Subject, Warning};
use crate::examine::StoredProvider;
use crate::install::{Installed, Task};
use crate::outcome::{Failure, Problem};
use crate::platform::Platforms;
use crate::version::Version;

impl Site<'_> {
    /// Writes versions of one provider.
    pub(super) async fn provider(&self, provider: &ProviderAddr, tasks: &[Task]) {
        // Without the required pin every version fails, so one error for the provider is enough.
        if let Some(task) = tasks.first()
            && let Err(problem) = self.request.trust.rule_for(provider)
        {
            (self.on_change)(Err(task.from.failure(None, problem)));
            return self.without_pin(&task.from).await;
        }
        let mut stored = Some(BTreeSet::new());
        for task in tasks {
            match self.versions(task).await {
                Ok(versions) => {
                    if let Some(stored) = &mut stored {
                        stored.extend(versions);
                    }
                }
                // The versions of the store are unknown, so nothing is deleted.
                Err(failure) => {
                    stored = None;
                    (self.on_change)(Err(failure));
                }
            }
        }
        let stored = stored.filter(|_| self.delete);
        self.finish_provider(provider, stored.as_ref());
    }

    /// Deletes the published versions of a provider without the required pin, if that was requested.
    async fn without_pin(&self, from: &StoredProvider) {
        // While the store cannot be read, nothing is deleted.
        if self.delete
            && let Err(failure) = from.versions().await
        {
            return (self.on_change)(Err(failure));
        }
        let none = BTreeSet::new();
        self.finish_provider(&from.provider, self.delete.then_some(&none));
    }

    /// Writes the selected versions. Returns those that the store has, without those to delete: they did not verify, or the store has lost
    /// every published package of them.
    async fn versions(
        &self,
        Task { from, selection }: &Task,
    ) -> Result<BTreeSet<Version>, Failure> {
        let (trust, constraints) = (&self.request.trust, &selection.constraints);
        let available = from.allowed(constraints, trust, self.reporter);
        let Some(available) = available.await? else {
            return Ok(BTreeSet::new());
        };
        // Those that a user names and that are published were withdrawn, too.
        if self.delete && available.versions.is_empty() && self.is_published(&from.provider) {
            return Ok(BTreeSet::new());
        }
        let is_selected = |version: &&Version| constraints.selects(version);
        let selected: Vec<&Version> = available.versions.iter().filter(is_selected).collect();
        if selected.is_empty() {
            return Err(from.no_match(&available, constraints));
        }
        let versions = selected.iter().map(|version| ((*version).clone(), None));
        self.reporter.report(Event::VersionsSelected {
            subject: Subject::provider(&from.provider),
            versions: versions.collect(),
        });
        let (mut to_delete, mut has_package) = (BTreeSet::new(), false);
        let write = async |version| (version, self.version(from, version).await);
        let writing = selected.into_iter().map(write);
        let mut writing = pin!(self.side_by_side.run(false, writing));
        while let Some((version, written)) = writing.next().await {
            match written {
                Ok((Some(installed), _)) => {
                    has_package = true;
                    (self.on_change)(Ok(SiteChange::Written(installed)));
                }
                Ok((None, true)) => _ = to_delete.insert(version.clone()),
                Ok((None, false)) => {}
                Err(failure) => {
                    has_package = true;
                    // What the store has lost says nothing about what is published.
                    if failure.category() == Category::Untrusted && !failure.problem.is_loss() {
                        to_delete.insert(version.clone());
                    }
                    (self.on_change)(Err(failure));
                }
            }
        }
        if !has_package {
            (self.on_change)(Err(from.failure(None, Problem::NoPackages)));
        }
        let stored = available.versions.iter();
        let stored = stored.filter(|version| !to_delete.contains(version));
        Ok(stored.cloned().collect())
    }

    /// Writes one version; `None` if it has no package for the wanted platforms. Also returns whether the store has none of the packages that the
    /// site has, so that they are to be deleted.
    async fn version(
        &self,
        from: &StoredProvider,
        version: &Version,
    ) -> Result<(Option<Installed>, bool), Failure> {
        let (request, reporter) = (self.request, self.reporter);
        let about = |problem| from.failure(Some(version), problem);
        let examined = from.examine(version, &Platforms::All, &request.trust);
        let examined = examined.await?;
        let packages = examined.packages.iter();
        let stored: BTreeSet<String> = packages.map(|one| one.platform.to_string()).collect();
        let release = examined.accepted(&from.provider, reporter);
        let release = release.map_err(about)?;
        let release = release.only(|platform| request.platforms.has(platform));
        let installed = if release.packages.is_empty() {
            let subject = Subject::version(&from.provider, version);
            let text = "it has no package for the wanted platforms".to_owned();
            reporter.warn(subject, Warning::Other(text));
            None
        } else {
            let (at, any) = (&from.place, BTreeSet::new());
            Some(self.installer.deliver(&release, at, &any).await?)
        };
        let is_gone = self.write_document(&from.provider, version, installed.as_ref(), &stored);
        Ok((installed, is_gone.map_err(|error| about(error.into()))?))
    }

    /// Writes the document of a version after its packages. Packages for other platforms stay listed, except those that the store no longer has if
    /// deletion was requested. Returns whether none is left.
    fn write_document(
        &self,
        provider: &ProviderAddr,
        version: &Version,
        installed: Option<&Installed>,
        stored: &BTreeSet<String>,
    ) -> Result<bool, disk::Error> {
        let root = &self.request.into;
        let Some(directory) = folder::open(root, provider)? else {
            return Ok(false);
        };
        let mut kept = documents::listed(&directory, version)?;
        let before = kept.len();
        if self.delete {
            kept.retain(|platform, _| stored.contains(platform));
        }
        if installed.is_none() && (kept.is_empty() || kept.len() == before) {
            return Ok(before > 0 && kept.is_empty());
        }
        if !self.request.dry_run {
            let packages = installed.map(|installed| &*installed.packages);
            let bytes = documents::archives(packages.unwrap_or_default(), kept);
            let name = documents::document_name(version);
            folder::write(root, &directory, &name, &bytes)?;
        }
        Ok(false)
    }
}

/// Writes `index.json` of every version in the directory. If `stored` is given, deletes the other versions, and the packages that no document
/// names. Returns the deleted versions.
///
/// # Errors
/// The system reported an error, or a file is a symbolic link.
pub(super) fn finish(
    root: &Path,
    provider: &ProviderAddr,
    stored: Option<&BTreeSet<Version>>,
    dry_run: bool,
) -> Result<Vec<Version>, disk::Error> {
    let Some(directory) = folder::open(root, provider)? else {
        return Ok(Vec::new());
    };
    // The names of each version's files, the document first; and the names of the packages that its document lists.
    let mut found = BTreeMap::<Version, (Vec<String>, BTreeSet<String>)>::new();
    for name in directory.names()? {
        if let Some(version) = documents::version_of(&name, provider.type_name()) {
            found.entry(version).or_default().0.push(name);
        }
    }
    for (version, (_, named)) in &mut found {
        let listed = documents::listed(&directory, version)?.into_values();
        named.extend(listed.flatten().map(|archive| archive.url));
    }
    let is_kept = |version: &Version| stored.is_none_or(|stored| stored.contains(version));
    let versions = found.keys();
    let deleted: Vec<Version> = versions.filter(|one| !is_kept(one)).cloned().collect();
    if dry_run {
        return Ok(deleted);
    }
    let listed = found.iter();
    let listed = listed.filter(|(version, (_, named))| is_kept(version) && !named.is_empty());
    let mut listed = listed.map(|(version, _)| version).peekable();
    if listed.peek().is_some() {
        folder::write(root, &directory, INDEX, &documents::index(listed))?;
    } else if documents::indexed(&directory)?.is_some() {
        directory.remove(INDEX)?;
    }
    for (version, (names, named)) in found.iter().filter(|_| stored.is_some()) {
        // A version that failed for another reason than its verification keeps its files.
        let is_left = |name: &String| {
            is_kept(version)
                && (named.is_empty() || named.contains(name) || name.ends_with(".json"))
        };
        for name in names.iter().filter(|name| !is_left(name)) {
            directory.remove(name)?;
        }
    }
    Ok(deleted)
}
