//! Examines a version of a source: an origin or a mirror.

use std::collections::BTreeSet;
use std::time::SystemTime;

use super::TrustOptions;
use crate::address::ProviderAddr;
use crate::hash::PackageHash;
use crate::outcome::Problem;
use crate::platform::Platforms;
use crate::prove::prove;
use crate::release::Release;
use crate::source::{self, AvailableVersion, ReleaseAnswer, Source, SourcePackage};
use crate::store::Repo;
use crate::trust::{Rule, Verified};

/// A release of a source, before it is verified.
pub struct Released {
    /// The packages of the requested platforms only.
    pub release: Release<SourcePackage>,
    /// The `h1` of packages of any platform, as the source reports them. No signature covers them.
    pub reported: BTreeSet<PackageHash>,
}

impl Released {
    /// Requests a version with its packages for these platforms. `is_pinned` is as in [`Source::release`].
    ///
    /// # Errors
    /// The source fails, or it has no package for one of the platforms.
    pub async fn request(
        source: &Source,
        provider: &ProviderAddr,
        available: &AvailableVersion,
        platforms: &Platforms,
        is_pinned: bool,
    ) -> Result<Self, Problem> {
        let answer = source.release(provider, &available.version, platforms, is_pinned);
        let ReleaseAnswer {
            release,
            absent,
            reported,
        } = answer.await?;
        match release {
            Some(release) if absent.is_empty() || !matches!(platforms, Platforms::Only(_)) => {
                Ok(Self { release, reported })
            }
            _ => Err(source::Error::NoPlatform {
                platforms: absent,
                available: Vec::new(),
            }
            .into()),
        }
    }

    /// Verifies the release.
    ///
    /// # Errors
    /// The rule refuses it.
    pub async fn verify(
        self,
        rule: &Rule,
        now: SystemTime,
    ) -> Result<Verified<Release<SourcePackage>>, Problem> {
        Ok(prove(self.release, rule, now).await?)
    }
}

impl TrustOptions {
    /// The rule for a provider at a source: the user's, or the default one, which requires a signature.
    ///
    /// # Errors
    /// The user requires a pinned key, and the rule has none.
    pub fn rule_at_source(&self, provider: &ProviderAddr) -> Result<Rule, Problem> {
        let rule = self.policy.rule_for(provider).unwrap_or_default();
        match self.require_pinned && !rule.pinned() {
            true => Err(Problem::NoPin {
                allows_unsigned: rule.allows_unsigned(),
            }),
            false => Ok(rule),
        }
    }
}

/// Why a repository has no list of tags.
pub(super) fn absent(repo: &Repo) -> Problem {
    repo.incomplete().map_or(Problem::NoProvider, Problem::from)
}
