//! Mirror: from the origins of providers into a store.
//!
//! For each provider:
//!
//! 1. The source lists its **versions**, and the store its **tags**, at the same time.
//! 2. Each [`Wish`] **chooses** among the versions.
//! 3. A version that the store has for every platform is **present**: its index says so, and the source is not asked again.
//! 4. Of any other, the source gives the **release**: metadata of the missing packages, and the proof.
//! 5. [`crate::trust`] **verifies** it, before any package flows; only then the source is asked for sizes that it did not say.
//! 6. [`crate::publish`] **copies** what is missing, package by package, without a file in between. Nobody opens them on the
//!    way; what does not even end as a zip does never arrives.
//!
//! While the packages of one version flow, the next one's proof is fetched. What fails for one version fails for that version
//! only.

mod stored;
mod telling;
mod wish;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::{StreamExt as _, future, stream};
use tokio::sync::mpsc;

use crate::address::ProviderAddr;
use crate::error::printable;
use crate::event::{Event, Reporter, Subject};
use crate::hash::PackageHash;
use crate::oci::{RawManifest, Tag};
use crate::outcome::{Change, Failure, Hear, Problem, Published, PublishedPackage};
use crate::platform::Platform;
use crate::publish::{self, Destination, Known, publish};
use crate::release::Release;
use crate::source::{self, Source};
use crate::store::WriteStore;
use crate::trust::rule::Unsigned;
use crate::trust::{self, Rule, Verified};
use crate::version::Version;
use stored::Stored;
use wish::Choice;
pub use wish::Wish;

/// How many providers are worked on at once: most of the time they wait for an answer.
const PROVIDERS: usize = 16;
/// How many versions of a provider wait, prepared, while one of them is copied and one is being prepared.
const AHEAD: usize = 1;

/// How to mirror.
#[derive(Clone, Debug)]
pub struct Options {
    /// How each version is published.
    pub publish: publish::Options,
    /// Whether what is there is compared with what the source has now.
    pub recheck: bool,
}

/// A provider to mirror.
#[derive(Clone, Debug)]
pub struct Task<D> {
    /// The provider.
    pub provider: ProviderAddr,
    /// Which versions of it.
    pub wishes: Vec<Wish>,
    /// Whom to believe.
    pub rule: Rule,
    /// What lock files say the packages of a version may be: nothing else is mirrored of it.
    pub locked: BTreeMap<Version, BTreeSet<PackageHash>>,
    /// The provider's repository.
    pub destination: Destination<D>,
}

/// Mirrors providers, several at once, of each the newest version first, and lets `hear` know what became of each version as soon as it
/// is done.
pub async fn mirror<S: Source, D: WriteStore>(
    tasks: Vec<Task<D>>,
    source: &S,
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
struct Journey<'a, S, D> {
    task: Task<D>,
    source: &'a S,
    options: &'a Options,
    reporter: &'a Arc<dyn Reporter>,
}

/// What is known of a version before its packages flow.
enum Prepared<L> {
    /// The store has all of it.
    Present(Box<Published>),
    /// The packages that the store lacks, and their proof.
    Lacking {
        release: Box<Verified<Release<L>>>,
        /// What the store has of this version besides.
        beside: Vec<PublishedPackage>,
        /// The index that it has.
        index: Option<RawManifest>,
    },
}

impl<S: Source, D: WriteStore> Journey<'_, S, D> {
    async fn provider(&self, hear: &Hear<'_>) {
        let (chosen, tags) = match self.survey().await {
            Ok(found) => found,
            Err(failure) => return hear(Err(failure)),
        };
        let (sender, mut receiver) = mpsc::channel(AHEAD);
        let preparing = async {
            let sender = sender;
            for choice in &chosen {
                let prepared = self.prepare(choice, &tags).await;
                // Nobody stops listening before the last of them.
                let _all_heard = sender.send(prepared).await;
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
    async fn survey(&self) -> Result<(Vec<Choice>, BTreeSet<String>), Failure> {
        let Task {
            provider,
            destination,
            ..
        } = &self.task;
        let place = self.source.name(provider);
        let subject = Subject::provider(provider);
        let offers = async {
            let offers = self.source.offers(provider).await;
            offers.map_err(|error| Problem::from(error).of(subject.clone(), &place))
        };
        let tags = async {
            let tags = destination.store.tags(&destination.repository).await;
            tags.map_err(|error| self.stored(Problem::from(error), subject.clone()))
        };
        let (offers, tags) = future::try_join(offers, tags).await?;
        for message in &offers.warnings {
            self.reporter.report(Event::Warning {
                subject: subject.clone(),
                message: printable(message),
            });
        }
        let chosen = wish::choose(&self.task.wishes, &offers.offers);
        let mut chosen = chosen.map_err(|problem| problem.of(subject.clone(), &place))?;
        self.tell_what_is_absent(&chosen);
        let wanted: BTreeSet<String> = chosen
            .iter()
            .flat_map(|one| &one.absent)
            .map(Platform::to_string)
            .collect();
        chosen.retain(|choice| !choice.is_empty());
        if chosen.is_empty() {
            let platforms = wanted.into_iter().collect();
            let problem = source::Error::NoPlatform {
                place: place.clone(),
                platforms,
            };
            return Err(Problem::from(problem).of(subject, &place));
        }
        Ok((chosen, tags.unwrap_or_default().into_iter().collect()))
    }

    async fn prepare(
        &self,
        Choice {
            offer, platforms, ..
        }: &Choice,
        tags: &BTreeSet<String>,
    ) -> Result<Prepared<S::Package>, Failure> {
        let provider = &self.task.provider;
        let version = offer.version.version();
        let subject = Subject::version(provider, version);
        let stored = self.look(version, tags).await;
        let stored = stored.map_err(|problem| self.stored(problem, subject.clone()))?;
        let place = self.source.name(provider);
        let from_source = |problem: Problem| problem.of(subject.clone(), &place);
        let wanted = match platforms {
            None if stored.is_some() => {
                let platforms = self.source.platforms(provider, &offer.version).await;
                Some(platforms.map_err(|error| from_source(error.into()))?)
            }
            platforms => platforms.clone(),
        };
        let lacking = match (&stored, &wanted) {
            (Some(stored), Some(wanted)) if stored.has_evidence || !self.can_prove() => {
                let lacks = |platform: &&Platform| !stored.platforms.contains(platform);
                let lacking: Vec<Platform> = wanted.iter().filter(lacks).cloned().collect();
                if lacking.is_empty() {
                    let present = self.present(version, stored);
                    self.check_lock(&present, wanted)
                        .map_err(|error| self.stored(error.into(), subject.clone()))?;
                    return Ok(Prepared::Present(Box::new(present)));
                }
                Some(lacking)
            }
            _ => wanted,
        };
        if !S::BRINGS_PROOF {
            // Whether nothing will do as proof is known before anything flows.
            let nothing = Release::unproven(provider, version, Vec::new());
            self.verify(nothing)
                .map_err(|error| from_source(error.into()))?;
        }
        let release = self
            .source
            .release(provider, &offer.version, lacking.as_deref())
            .await
            .map_err(|error| from_source(error.into()))?;
        self.tell_what_is_not_given(&release, lacking.as_deref());
        let verified = self
            .verify(release)
            .map_err(|error| from_source(error.into()))?;
        self.reporter.report(Event::Verified {
            subject: subject.clone(),
            authentication: verified.authentication().clone(),
        });
        let verified = self.source.packages(verified).await;
        let verified = verified.map_err(|error| from_source(error.into()))?;
        let arriving = |platform: &Platform| {
            let mut packages = verified.packages.iter();
            packages.any(|package| package.platform == *platform)
        };
        let there = stored.as_ref().map(|stored| &stored.artifact.index);
        let mut beside = there.map_or_else(Vec::new, PublishedPackage::of_index);
        beside.retain(|package| !arriving(&package.platform));
        Ok(Prepared::Lacking {
            release: Box::new(verified),
            beside,
            index: stored.map(|stored| stored.artifact.raw),
        })
    }

    /// Whether evidence can come from the source into the store.
    fn can_prove(&self) -> bool {
        let Destination { store, repository } = &self.task.destination;
        S::BRINGS_PROOF && store.takes_evidence(repository)
    }

    fn verify(
        &self,
        release: Release<S::Lead>,
    ) -> Result<Verified<Release<S::Lead>>, trust::Error> {
        let (rule, now) = (&self.task.rule, self.options.publish.now);
        let Some(hashes) = self.task.locked.get(&release.version) else {
            return trust::verify(release, rule, now);
        };
        if S::BRINGS_PROOF {
            return trust::verify(release, rule, now)?.locked(hashes);
        }
        // The lock file stands in for what this source cannot have.
        let rule = Rule {
            unsigned: Unsigned::Allow,
            ..rule.clone()
        };
        trust::verify(release, &rule, now)?.locked(hashes)
    }

    fn present(&self, version: &Version, stored: &Stored) -> Published {
        let Destination { store, repository } = &self.task.destination;
        let digest = stored.artifact.raw.expected.digest;
        let reference = Tag::of_version(version)
            .map(|tag| store.reference(repository, &tag, &digest))
            .unwrap_or_default();
        Published {
            provider: self.task.provider.clone(),
            version: version.clone(),
            reference,
            digest,
            status: Change::Present,
            authentication: None,
            packages: PublishedPackage::of_index(&stored.artifact.index),
            bytes: 0,
        }
    }

    /// Holds what the store has to the lock files.
    fn check_lock(&self, present: &Published, wanted: &[Platform]) -> Result<(), trust::Error> {
        let Some(hashes) = self.task.locked.get(&present.version) else {
            return Ok(());
        };
        let packages = present.packages.iter();
        packages
            .filter(|package| wanted.contains(&package.platform))
            .try_for_each(|package| trust::among(hashes, &package.platform, package.zh.clone()))
    }

    async fn carry_out(
        &self,
        prepared: Prepared<S::Package>,
        tags: &BTreeSet<String>,
    ) -> Result<Published, Failure> {
        let Options {
            publish: options, ..
        } = self.options;
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
