//! What the origin has, compared with the store.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Code, Finding, Journey};
use crate::event::Subject;
use crate::examine::Examined;
use crate::mirror::age::Dating;
use crate::mirror::selection::Selected;
use crate::outcome::Problem;
use crate::platform::{Platform, Platforms};
use crate::prove::prove;
use crate::release::Release;
use crate::source::{AvailableVersion, AvailableVersions, Source, SourcePackage};
use crate::store::StoreBlob;
use crate::trust::Verified;
use crate::version::Version;

impl Journey<'_> {
    /// The versions of the origin; `None` if nothing is compared with it.
    pub(super) async fn at_origin(&self) -> Result<Option<AvailableVersions>, Box<Finding>> {
        let Some(source) = &self.options.origin else {
            return Ok(None);
        };
        let provider = &self.task.from.provider;
        let available = source.available_versions(provider);
        let available = available.await.map(Some);
        available.map_err(|error| Box::new(Finding::of(Code::OriginUnreadable, &error)))
    }

    /// Compares a version with the release at the origin: the list of its platforms, and its checksum document, which names every package.
    pub(super) async fn compare(
        &self,
        stored: &Examined<StoreBlob>,
        available: &AvailableVersions,
        of_keys: &mut Vec<Finding>,
    ) -> Vec<Finding> {
        let version = &stored.version;
        let mut offered = available.versions.iter();
        let offered = offered.find(|one| one.version.version() == version);
        let (Some(source), Some(offered)) = (&self.options.origin, offered) else {
            let message = "the origin does not list this version any more";
            return vec![Finding::new(Code::VersionWithdrawn, message)];
        };
        let has =
            |platform: &&Platform| stored.packages.iter().any(|one| one.platform == **platform);
        let absent = offered.platforms.iter().flatten().filter(|one| !has(one));
        let of = |code, platform: &Platform, message: String| Finding {
            platform: Some(platform.clone()),
            ..Finding::new(code, message)
        };
        let mut findings: Vec<_> = absent
            .map(|platform| {
                let message = "the origin has a package for this platform, and the store does not";
                of(Code::PlatformNotMirrored, platform, message.to_owned())
            })
            .collect();
        let Some(first) = stored.packages.first() else {
            return findings;
        };
        match self.released(source, offered, &first.platform).await {
            Ok(release) => findings.extend(self.changed(stored, &release, of_keys)),
            Err(problem) => findings.push(Finding::of(Code::OriginUnreadable, &problem)),
        }
        findings
    }

    /// The packages that are others in the origin's release, and a key that has not signed the stored one.
    fn changed(
        &self,
        stored: &Examined<StoreBlob>,
        release: &Verified<Release<SourcePackage>>,
        of_keys: &mut Vec<Finding>,
    ) -> Vec<Finding> {
        let proof = stored.proof.as_ref().ok();
        if let (Some(ours), Some(theirs)) = (proof.and_then(Verified::signer), release.signer())
            && ours.fingerprint != theirs.fingerprint
        {
            let (ours, new) = (&ours.fingerprint, &theirs.fingerprint);
            let message = format!(
                "the origin has a release signed by {new} ({theirs}), and the store one by {ours}"
            );
            of_keys.push(Finding::new(Code::KeyNew, message));
        }
        let Some(checksums) = release.checksums() else {
            return Vec::new();
        };
        let others = stored.packages.iter().filter_map(|package| {
            let named = package.at(&self.task.from.provider, &stored.version, ());
            let theirs = checksums.lookup(&named.file_name);
            if theirs == Some(named.expected.digest) {
                return None;
            }
            let theirs =
                theirs.map_or_else(|| "none of this name".to_owned(), |one| one.to_string());
            let message = format!(
                "the origin has another package: expected {} (in the store), received {theirs}",
                named.expected.digest
            );
            Some(Finding {
                platform: Some(package.platform.clone()),
                ..Finding::new(Code::ReleaseChanged, message)
            })
        });
        others.collect()
    }

    /// The verified release of the origin with the package of one platform.
    async fn released(
        &self,
        source: &Source,
        offered: &AvailableVersion,
        platform: &Platform,
    ) -> Result<Verified<Release<SourcePackage>>, Problem> {
        let provider = &self.task.from.provider;
        let rule = self.trust.rule_at_source(provider)?;
        let platforms = Platforms::Only(vec![platform.clone()]);
        let release = source.whole_release(provider, offered, &platforms, rule.pinned());
        let (release, _) = release.await?;
        Ok(prove(release, &rule, self.trust.now).await?)
    }

    /// The wanted versions of the origin that the store does not have.
    pub(super) async fn not_mirrored(
        &self,
        stored: &[Version],
        available: &AvailableVersions,
    ) -> Vec<Finding> {
        let provider = &self.task.from.provider;
        let Some(source) = &self.options.origin else {
            return Vec::new();
        };
        let rule = self.trust.rule_at_source(provider).unwrap_or_default();
        let dating = Dating {
            provider,
            source,
            rule: &rule,
            now: self.trust.now,
            dates: Arc::default(),
        };
        let is_there = |version: &Version| stored.contains(version);
        let wanted = dating.select(&self.task.wanted, &available.versions, is_there);
        let wanted = wanted.await.0.selected;
        let missing: BTreeSet<_> = wanted.iter().map(Selected::version).collect();
        let missing = missing.into_iter().filter(|one| !is_there(one));
        let missing = missing.map(|version| {
            let message = "only the origin has this version";
            let subject = Subject::version(provider, version);
            Finding::new(Code::VersionNotMirrored, message).about(&subject)
        });
        missing.collect()
    }

    /// Whether a finding about a platform that only the origin has is about a wanted one: one that a filter names, or that other stored versions have.
    pub(super) fn is_wanted(&self, finding: &Finding, stored: &BTreeSet<Platform>) -> bool {
        let platform = finding.platform.as_ref();
        let platform = platform.filter(|_| finding.code == Code::PlatformNotMirrored);
        platform.is_none_or(|platform| {
            let mut named = self
                .task
                .wanted
                .iter()
                .filter_map(|filter| filter.platforms.named());
            stored.contains(platform) || named.any(|named| named.contains(platform))
        })
    }
}
