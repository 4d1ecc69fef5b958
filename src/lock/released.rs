//! Versions at origins and in mirrors.

use std::collections::BTreeSet;

use crate::address::ProviderAddr;
use crate::event::Subject;
use crate::examine::Platforms;
use crate::hash::PackageHash;
use crate::outcome::{At, Failure, Problem};
use crate::platform::Platform;
use crate::prove::prove;
use crate::release::Release;
use crate::source::{self, AvailableVersion, PackageMetadata, ReleaseAnswer, Source};
use crate::trust::rule::Unsigned;
use crate::trust::{Rule, Verified};
use crate::version::SpelledVersion;

use super::recorded::{Proven, Recorded};
use super::{Journey, Task};

/// A version of a source, and the rule for its release.
struct Request<'a> {
    provider: &'a ProviderAddr,
    source: &'a Source,
    version: &'a SpelledVersion,
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
        let (options, provider, version) = (self.options, &task.provider, &available.version);
        let subject = Subject::version(provider, version.version());
        let at = || At::Source(source.name(provider));
        let fail = |problem: Problem| problem.of(subject.clone(), at());
        let request = Request {
            provider,
            source,
            version,
            rule: self.rule_for_source(task, source).map_err(fail)?,
        };
        // An origin cannot be trusted more than its signatures, and a mirror has none.
        let is_trusted = options.trust_store && !source.has_checksum_documents();
        let first = match source.has_checksum_documents() {
            // The metadata of any one platform leads to the checksum document of all.
            true if !options.h1 => {
                Platforms::Only(any_of(&options.platforms, available.platforms.as_deref()))
            }
            false if is_trusted => Platforms::All,
            _ => options.platforms.clone(),
        };
        let (mut release, reported) = self.verified(&request, &first).await.map_err(fail)?;
        let authentication = release.authentication().clone();
        self.report_verified(&subject, &authentication);
        let proven = Proven::of(&release, is_trusted).map_err(fail)?;
        let (mut hashes, needs_packages) = proven.hashes();
        let mut installed = Vec::new();
        if options.h1 || needs_packages {
            if needs_packages && first != options.platforms {
                (release, _) = self
                    .verified(&request, &options.platforms)
                    .await
                    .map_err(fail)?;
            }
            let packages = source.packages(self.wanted_of(release)).await;
            let packages = packages.map_err(|error| fail(error.into()))?;
            installed = self
                .read(packages, &subject, at(), locked, &mut hashes)
                .await?;
        }
        Ok(Recorded {
            authentication,
            hashes,
            reported,
            installed,
        })
    }

    /// The rule for a provider at a source. A source without signatures is believed only if the user says so.
    fn rule_for_source(&self, task: &Task, source: &Source) -> Result<Rule, Problem> {
        let trust = &self.options.trust;
        let rule = trust.policy.rule_for(&task.provider).unwrap_or_default();
        if trust.require_pinned && !rule.pinned() {
            return Err(Problem::NoPin);
        }
        let is_allowed = self.options.trust_store && !source.has_checksum_documents();
        Ok(match is_allowed && !rule.pinned() {
            true => Rule {
                unsigned: Unsigned::Allow,
                ..rule
            },
            false => rule,
        })
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
            version,
            rule,
        } = request;
        let answer = source.release(provider, version, wanted.named()).await?;
        let ReleaseAnswer {
            release,
            absent,
            reported,
        } = answer;
        match release {
            Some(release) if absent.is_empty() || *wanted == Platforms::All => {
                let verified = prove(release, rule, self.options.trust.now).await?;
                Ok((verified, reported))
            }
            _ => Err(source::Error::NoPlatform {
                place: source.name(provider),
                platforms: absent,
                available: Vec::new(),
            }
            .into()),
        }
    }
}

/// One platform of a version, preferably a wanted one.
fn any_of(wanted: &Platforms, listed: Option<&[Platform]>) -> Vec<Platform> {
    let wanted = wanted.named().unwrap_or_default();
    let listed = listed.unwrap_or_default();
    let is_listed = |platform: &&Platform| listed.is_empty() || listed.contains(platform);
    let one = wanted.iter().find(is_listed).or(listed.first());
    vec![one.cloned().unwrap_or_else(Platform::current)]
}
