//! Mirror: from the origins of providers into a store.
//!
//! For each provider:
//!
//! 1. The source lists its **versions**, and the store its **tags**, at the same time.
//! 2. Each [`VersionFilter`] **chooses** among the versions.
//! 3. A version that the store has for every platform is **present**: its index says so, and the source is not asked again. So is one
//!    that is locked, and that its source has withdrawn since.
//! 4. Of any other, the source gives the **release**: metadata of the missing packages, and the proof.
//! 5. [`crate::trust`] **verifies** it before any package flows. Only then are packages requested whose sizes the source did not say.
//! 6. [`crate::publish`] **copies** what is missing, package by package, without a file in between. Nobody opens them on the
//!    way; what does not even end as a zip does never arrives.
//!
//! While the packages of one version flow, the next one's proof is fetched. What fails for one version fails for that version
//! only, and a filter that nothing matches fails by itself.

mod selection;
mod stored;
mod telling;
mod withdrawn;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::{StreamExt as _, future, stream};
use tokio::sync::mpsc;

use crate::address::ProviderAddr;
use crate::authentication::Note;
use crate::error::printable;
use crate::event::{Event, Reporter, Subject};
use crate::hash::PackageHash;
use crate::oci::RawManifest;
use crate::outcome::{Failure, Hear, Problem, Published, PublishedPackage};
use crate::platform::Platform;
use crate::prove::prove;
use crate::publish::{self, Demands, Destination, Known, publish};
use crate::release::Release;
use crate::source::{self, PackageMeta, Source};
use crate::store::WriteStore;
use crate::store::graph::StoredPackage;
use crate::trust::rule::Unsigned;
use crate::trust::{self, Rule, Verified};
use crate::version::Version;
pub use selection::VersionFilter;
use selection::{Selected, Selection};
use stored::Stored;

/// How many providers are worked on at once: most of the time they wait for an answer.
const PROVIDERS: usize = 16;
/// How many versions of a provider wait, prepared, while one of them is copied and one is being prepared.
const AHEAD: usize = 1;

/// How to mirror.
#[derive(Clone, Debug)]
pub struct Options {
    /// How each version is published. Demands on evidence are those of each task's rule.
    pub publish: publish::Options,
    /// Whether what is there is compared with what the source has now.
    pub recheck: bool,
    /// Whether the signing keys are to be pinned: then only those are accepted that came over a verified connection.
    pub pins_keys: bool,
}

/// A provider to mirror.
#[derive(Clone, Debug)]
pub struct Task<D> {
    /// The provider.
    pub provider: ProviderAddr,
    /// Which versions of it.
    pub filters: Vec<VersionFilter>,
    /// Whom to believe.
    pub rule: Rule,
    /// What lock files say the packages of a version may be: nothing else is mirrored of it.
    pub locked: BTreeMap<Version, BTreeSet<PackageHash>>,
    /// The provider's repository.
    pub destination: Destination<D>,
}

/// Mirrors providers, several at once, of each the newest version first, and lets `hear` know what became of each version as soon as it
/// is done.
pub async fn mirror<D: WriteStore>(
    tasks: Vec<Task<D>>,
    source: &Source,
    options: &Options,
    reporter: &Arc<dyn Reporter>,
    hear: &Hear<'_>,
) {
    let mirroring = stream::iter(tasks).for_each_concurrent(PROVIDERS, async |task| {
        let journey = Journey {
            task,
            source,
            options,
            reporter,
        };
        journey.provider(hear).await;
    });
    mirroring.await;
}

/// One provider on its way.
struct Journey<'a, D> {
    task: Task<D>,
    source: &'a Source,
    options: &'a Options,
    reporter: &'a Arc<dyn Reporter>,
}

/// What is known of a version before its packages flow.
enum Prepared {
    /// The store has all of it.
    Present(Box<Published>),
    /// The packages that the store lacks, and their proof.
    Lacking {
        release: Box<Verified<Release<PackageMeta>>>,
        /// What the store has of this version besides.
        beside: Vec<PublishedPackage>,
        /// The index that it has.
        index: Option<RawManifest>,
    },
}

impl Prepared {
    fn present(published: Published) -> Self {
        Self::Present(Box::new(published))
    }

    /// `read` are the packages of `stored` whose manifests were read.
    fn lacking(
        release: Verified<Release<PackageMeta>>,
        stored: Option<Stored>,
        read: &[StoredPackage],
    ) -> Self {
        let arriving = |platform: &Platform| {
            let mut packages = release.packages.iter();
            packages.any(|package| package.platform == *platform)
        };
        let there = stored.as_ref().map(|stored| &stored.artifact.index);
        let mut beside =
            there.map_or_else(Vec::new, |index| PublishedPackage::of_index(index, read));
        beside.retain(|package| !arriving(&package.platform));
        Self::Lacking {
            release: Box::new(release),
            beside,
            index: stored.map(|stored| stored.artifact.raw),
        }
    }
}

impl<D: WriteStore> Journey<'_, D> {
    async fn provider(&self, hear: &Hear<'_>) {
        let (selection, tags) = match self.survey().await {
            Ok(found) => found,
            Err(failure) => return hear(Err(failure)),
        };
        let selected = self
            .with_packages(selection.selected)
            .unwrap_or_else(|failure| {
                hear(Err(failure));
                Vec::new()
            });
        let (sender, mut receiver) = mpsc::channel(AHEAD);
        let preparing = async {
            let sender = sender;
            // Nobody stops listening before the last of them.
            for selected in &selected {
                let prepared = self.prepare(selected, &tags).await;
                let _all_heard = sender.send(prepared).await;
            }
            for filter in selection.unmatched {
                let there = self.without_match(filter, &tags).await;
                let _all_heard = sender.send(there.map(Prepared::present)).await;
            }
        };
        let copying = async {
            while let Some(prepared) = receiver.recv().await {
                hear(match prepared {
                    Ok(prepared) => self.carry_out(prepared, &tags).await,
                    Err(failure) => Err(failure),
                });
            }
        };
        future::join(preparing, copying).await;
    }

    /// Asks both sides what they have, and chooses.
    async fn survey(&self) -> Result<(Selection, BTreeSet<String>), Failure> {
        let Task {
            provider,
            destination,
            ..
        } = &self.task;
        let subject = Subject::provider(provider);
        let available = async {
            let available = self.source.available_versions(provider).await;
            available.map_err(|error| self.at_source(error, subject.clone()))
        };
        let tags = async {
            let tags = destination.store.tags(&destination.repository).await;
            tags.map_err(|error| self.stored(Problem::from(error), subject.clone()))
        };
        let (available, tags) = future::try_join(available, tags).await?;
        for message in &available.warnings {
            self.reporter.report(Event::Warning {
                subject: subject.clone(),
                message: printable(message),
            });
        }
        let selection = selection::select(&self.task.filters, &available.versions);
        Ok((selection, tags.unwrap_or_default().into_iter().collect()))
    }

    /// Leaves out versions of which the source lists no package that is wanted; it is a failure if those are all.
    fn with_packages(&self, mut selected: Vec<Selected>) -> Result<Vec<Selected>, Failure> {
        for Selected {
            available, absent, ..
        } in &selected
        {
            self.tell_what_is_absent(available.version.version(), absent);
        }
        let absent = selected.iter().flat_map(|one| one.absent.clone());
        let absent: BTreeSet<Platform> = absent.collect();
        let newest = selected.first().and_then(Selected::published);
        let is_some = !selected.is_empty();
        selected.retain(|selected| !selected.is_empty());
        if is_some && selected.is_empty() {
            let subject = Subject::provider(&self.task.provider);
            return Err(self.without_packages(&absent, newest, subject));
        }
        Ok(selected)
    }

    async fn prepare(
        &self,
        Selected {
            available,
            platforms,
            ..
        }: &Selected,
        tags: &BTreeSet<String>,
    ) -> Result<Prepared, Failure> {
        let provider = &self.task.provider;
        let version = available.version.version();
        let subject = Subject::version(provider, version);
        let from_source = |error: source::Error| self.at_source(error, subject.clone());
        let in_store = |problem: Problem| self.stored(problem, subject.clone());
        let stored = self.look(version, tags).await.map_err(in_store)?;
        let wanted = match platforms {
            None if stored.is_some() => {
                let platforms = self.source.platforms(provider, &available.version).await;
                Some(platforms.map_err(from_source)?)
            }
            platforms => platforms.clone(),
        };
        let (mut lacking, mut read) = (wanted.clone(), Vec::new());
        if let (Some(stored), Some(wanted)) = (&stored, &wanted) {
            let held = self.hold_to_lock(version, stored, wanted).await;
            read = held.map_err(in_store)?;
            lacking = Some(self.lacking(stored, wanted));
        }
        if let (Some(stored), Some([])) = (&stored, lacking.as_deref()) {
            return Ok(Prepared::present(self.present(version, stored, &read)));
        }
        if !self.source.brings_proof() && stored.is_none() {
            // That nothing will do as proof is known before anything flows.
            let nothing = self
                .verify(Release::unproven(provider, version, Vec::new()))
                .await;
            nothing.map_err(|error| self.at_source(error, subject.clone()))?;
        }
        let release = self
            .source
            .release(provider, &available.version, lacking.as_deref());
        let source::ReleaseAnswer { release, absent } = release.await.map_err(from_source)?;
        let Some(release) = release else {
            // Of what is wanted, the store may have all that there is.
            let mut wanted = wanted.iter().flatten();
            return match &stored {
                Some(stored) if wanted.any(|one| stored.platforms.contains(one)) => {
                    self.tell_what_is_absent(version, &absent);
                    Ok(Prepared::present(self.present(version, stored, &read)))
                }
                _ => Err(self.without_packages(&absent, None, subject)),
            };
        };
        self.tell_what_is_absent(version, &absent);
        let verified = self.verify(release).await;
        let verified = verified.map_err(|error| self.at_source(error, subject.clone()))?;
        self.reporter.report(Event::Verified {
            subject: subject.clone(),
            authentication: verified.authentication().clone(),
        });
        Ok(Prepared::lacking(verified, stored, &read))
    }

    /// Whether evidence can come from the source into the store.
    fn can_prove(&self) -> bool {
        let Destination { store, repository } = &self.task.destination;
        self.source.brings_proof() && store.takes_evidence(repository)
    }

    async fn verify(
        &self,
        release: Release<PackageMeta>,
    ) -> Result<Verified<Release<PackageMeta>>, trust::Error> {
        let (rule, now) = (&self.task.rule, self.options.publish.now);
        let Some(hashes) = self.task.locked.get(&release.version) else {
            return self.can_be_pinned(prove(release, rule, now).await?);
        };
        // Where keys are named, a signature by them is required, and no lock file stands in for it.
        if self.source.brings_proof() || rule.pinned() {
            let verified = prove(release, rule, now).await?.locked(hashes)?;
            return self.can_be_pinned(verified);
        }
        // The lock file stands in for what this source cannot have.
        let rule = Rule {
            unsigned: Unsigned::Allow,
            ..rule.clone()
        };
        prove(release, &rule, now).await?.locked(hashes)
    }

    /// Passes on a release whose key may be written into the trust file, if that is what is done with keys.
    fn can_be_pinned(
        &self,
        release: Verified<Release<PackageMeta>>,
    ) -> Result<Verified<Release<PackageMeta>>, trust::Error> {
        let notes = &release.authentication().notes;
        if self.options.pins_keys && notes.contains(&Note::UnverifiedTransport) {
            return Err(trust::Error::UnverifiedTransport);
        }
        Ok(release)
    }

    async fn carry_out(
        &self,
        prepared: Prepared,
        tags: &BTreeSet<String>,
    ) -> Result<Published, Failure> {
        let options = &publish::Options {
            demands: Demands {
                always: self.options.recheck,
                ..Demands::of_writing(&self.task.rule)
            },
            ..self.options.publish.clone()
        };
        let (release, beside, index) = match prepared {
            Prepared::Present(published) => {
                if options.dry_run {
                    self.tell_plan(&published);
                }
                return Ok(*published);
            }
            Prepared::Lacking {
                release,
                beside,
                index,
            } => (release, beside, index),
        };
        // Only now: the answers that tell sizes wait, opened, until the packages are copied.
        let subject = Subject::version(&release.provider, &release.version);
        let release = self.source.packages(*release).await;
        let release = release.map_err(|error| self.at_source(error, subject))?;
        let destination = &self.task.destination;
        let known = Some(Known {
            tags,
            index: index.as_ref(),
        });
        let published = publish(&release, destination, known, options, self.reporter).await;
        let mut published = published.map_err(|problem| self.unpublished(problem, &release))?;
        published.packages.extend(beside);
        published
            .packages
            .sort_by(|a, b| a.platform.cmp(&b.platform));
        if options.dry_run {
            self.tell_plan(&published);
        }
        Ok(published)
    }
}
