//! Versions at origins and in mirrors.

use std::collections::BTreeSet;

use crate::address::ProviderAddr;
use crate::event::Subject;
use crate::examine::Released;
use crate::hash::PackageHash;
use crate::outcome::{At, Failure, Problem};
use crate::platform::Platforms;
use crate::release::Release;
use crate::source::{self, AvailableVersion, PackageMetadata, Source};
use crate::trust::rule::Unsigned;
use crate::trust::{Rule, Verified};

use super::recorded::{Proven, Recorded, Reported, Unpacked, lines};
use super::release_zips::ReleaseZips;
use super::{Journey, Task};

/// A version of a source, and the rule for its release.
struct Request<'a> {
    provider: &'a ProviderAddr,
    source: &'a Source,
    available: &'a AvailableVersion,
    rule: Rule,
}

type VerifiedRelease = Verified<Release<PackageMetadata>>;

impl Journey<'_> {
    /// Requests and verifies a version of a source, and collects its hashes.
    pub(super) async fn record_released(
        &self,
        task: &Task,
        source: &Source,
        available: &AvailableVersion,
        locked: &BTreeSet<PackageHash>,
    ) -> Result<Recorded, Failure> {
        let (options, provider) = (self.options, &task.provider);
        let subject = Subject::version(provider, available.version.version());
        let at = || At::Source(source.place(provider));
        let fail = |problem: Problem| problem.of(subject.clone(), at());
        let is_by_lock = self.is_by_lock(task, source, locked);
        let request = Request {
            provider,
            source,
            available,
            rule: self
                .rule_for_source(task, source, is_by_lock)
                .map_err(fail)?,
        };
        // An origin cannot be trusted more than its signatures, and a mirror has none.
        let is_trusted = options.trust_store && !source.has_checksum_documents();
        let first = self.first_platforms(source, available, is_trusted);
        let (mut release, h1) = self.verified(&request, &first).await.map_err(fail)?;
        let authentication = release.authentication().clone();
        self.reporter.report(release.event());
        let proven = Proven::of(&release, is_trusted).map_err(fail)?;
        let zips = ReleaseZips::of(&release, proven.claim());
        let version = available.version.version();
        zips.check_any(&task.wanted, version).map_err(fail)?;
        // The policy accepts the release as it is, without a key.
        let lines = match proven {
            Proven::Nothing if source.has_checksum_documents() => {
                lines(&release).unwrap_or_default()
            }
            _ => BTreeSet::new(),
        };
        let (mut hashes, needs_packages) = proven.hashes();
        let (mut installed, mut only) = (Vec::new(), None);
        let mut unpacked = Unpacked::Some;
        if options.wants_h1() || needs_packages {
            if needs_packages && first != options.platforms {
                (release, _) = self
                    .verified(&request, &options.platforms)
                    .await
                    .map_err(fail)?;
            }
            only = needs_packages.then(|| self.hashed(&release)).flatten();
            unpacked = self.unpacked(&release);
            let packages = source::complete(self.wanted_of(release, needs_packages)).await;
            let packages = packages.map_err(|error| fail(error.into()))?;
            installed = self
                .read(packages, &subject, at(), locked, &mut hashes)
                .await?;
        }
        if is_by_lock {
            return Ok(Recorded::by_lock(locked, installed));
        }
        Ok(Recorded {
            authentication,
            hashes,
            reported: Reported { h1, lines },
            installed,
            unpacked,
            only,
            zips: Some(zips),
        })
    }

    /// The platforms whose metadata is requested first.
    fn first_platforms(
        &self,
        source: &Source,
        available: &AvailableVersion,
        is_trusted: bool,
    ) -> Platforms {
        let options = self.options;
        match source.has_checksum_documents() {
            // The metadata of any one platform leads to the checksum document of all.
            true if options.wants_h1() => options.h1.clone(),
            true if !options.are_named => options.platforms.any_of(available.platforms.as_deref()),
            false if is_trusted => Platforms::All,
            _ => options.platforms.clone(),
        }
    }

    /// The rule for a provider at a source. A source without signatures is believed only if the user or the lock file says so.
    pub(super) fn rule_for_source(
        &self,
        task: &Task,
        source: &Source,
        is_by_lock: bool,
    ) -> Result<Rule, Problem> {
        let rule = self.options.trust.rule_at_source(&task.provider)?;
        let is_allowed = self.options.trust_store && !source.has_checksum_documents();
        Ok(match is_allowed && !rule.pinned() || is_by_lock {
            true => Rule {
                unsigned: Unsigned::Allow,
                ..rule
            },
            false => rule,
        })
    }

    /// Whether the lock file alone decides about packages: those of a source without signatures that are installed, if the user says nothing else.
    /// Clients ask for no more.
    fn is_by_lock(&self, task: &Task, source: &Source, locked: &BTreeSet<PackageHash>) -> bool {
        let options = self.options;
        self.installer.is_some()
            && !locked.is_empty()
            && !source.has_checksum_documents()
            && !options.trust_store
            && !options.trust.has_own_rule(&task.provider)
    }

    /// The verified release with the packages for these platforms, and the hashes that the source reports of all.
    async fn verified(
        &self,
        request: &Request<'_>,
        wanted: &Platforms,
    ) -> Result<(VerifiedRelease, BTreeSet<PackageHash>), Problem> {
        let Request {
            provider,
            source,
            available,
            rule,
        } = request;
        let released = Released::request(source, provider, available, wanted).await?;
        let reported = released.reported.clone();
        let verified = released.verify(rule, self.options.trust.now).await?;
        Ok((verified, reported))
    }
}
