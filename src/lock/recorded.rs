//! The hashes of a version that lock files record.

use std::collections::BTreeSet;

use crate::address::Hostname;
use crate::authentication::{Anchor, Authentication, Status};
use crate::blob::BlobSource;
use crate::event::{Event, Subject, Transfer};
use crate::examine::{Platforms, StoredProvider, TrustOptions};
use crate::hash::PackageHash;
use crate::install::InstalledPackage;
use crate::lockfile::Client;
use crate::outcome::{At, Failure, Problem};
use crate::platform::Platform;
use crate::prove::prove;
use crate::release::Release;
use crate::source::{self, PackageMetadata, ReleaseAnswer, Source};
use crate::trust::rule::Unsigned;
use crate::trust::{self, ReleaseId, Rule, Verified};
use crate::version::{SpelledVersion, Version};

use super::method::{Found, Listing, Method, Spelled};
use super::{Journey, Task, Wanted};

/// What is known of a version after its release was verified.
#[derive(Clone, Debug)]
pub(super) struct Recorded {
    pub(super) authentication: Authentication,
    pub(super) place: String,
    /// Hashes that every client records.
    hashes: BTreeSet<PackageHash>,
    /// The `h1` of every platform that the origin reports. No signature covers them.
    reported: BTreeSet<PackageHash>,
    pub(super) installed: Vec<InstalledPackage>,
}

impl Recorded {
    /// The hashes for the lock file of a client.
    ///
    /// Only `tofu` records reported hashes, and only those of its default registry
    /// ([clients: recorded hashes](crate::clients#recorded-hashes)).
    pub(super) fn hashes_for(
        &self,
        client: Client,
        task: &Task,
        trust: &TrustOptions,
    ) -> BTreeSet<PackageHash> {
        let mut hashes = self.hashes.clone();
        let is_default = *task.provider.hostname() == Hostname::default_origin();
        if client == Client::OpenTofu && is_default && !trust.require_pinned {
            hashes.extend(self.reported.iter().cloned());
        }
        hashes
    }
}

impl Journey<'_> {
    /// Verifies a version and collects its hashes.
    pub(super) async fn record(
        &self,
        task: &Task,
        wanted: &Wanted,
        listing: &Listing<'_>,
        version: &Version,
    ) -> Result<Recorded, Failure> {
        let absent = || {
            let problem = Problem::NoVersion {
                constraints: Some(version.to_string()),
                available: Vec::new(),
            };
            listing.failure(&task.provider, problem)
        };
        let Found {
            spelled, method, ..
        } = listing.get(version).ok_or_else(absent)?;
        let locked = wanted
            .locked
            .as_ref()
            .filter(|(locked, _)| locked == version);
        let locked = locked.map(|(_, hashes)| hashes.clone()).unwrap_or_default();
        let at = method.at(&task.provider);
        if let Some(installed) = self
            .installed_already(task, version, &locked)
            .map_err(|problem| problem.of(Subject::version(&task.provider, version), at))?
        {
            return Ok(Recorded {
                place: method.name(&task.provider),
                hashes: locked,
                ..installed
            });
        }
        match (method, spelled) {
            (Method::Store(stored), _) => self.record_stored(stored, version, &locked).await,
            (Method::Source(source), Spelled::At(available)) => {
                let platforms = available.platforms.as_deref();
                let version = &available.version;
                self.record_released(task, source, version, platforms, &locked)
                    .await
            }
            (Method::Source(_), Spelled::AsPrinted) => Err(absent()),
        }
    }

    /// A locked version whose packages are installed with a locked `h1`. Clients use it as it is.
    fn installed_already(
        &self,
        task: &Task,
        version: &Version,
        locked: &BTreeSet<PackageHash>,
    ) -> Result<Option<Recorded>, Problem> {
        let platforms = platforms_of(&self.options.platforms);
        let (Some(installer), Some(platforms)) = (self.installer, platforms) else {
            return Ok(None);
        };
        let provider = &task.provider;
        if !installer.has(provider, version, platforms, locked)? {
            return Ok(None);
        }
        let installed = platforms.iter().map(|platform| InstalledPackage {
            platform: platform.clone(),
            path: installer.path_of(provider, version, platform),
            transfer: Transfer::Present,
            size: 0,
            hashes: Vec::new(),
            h1: None,
            has_two_h1: false,
        });
        Ok(Some(Recorded {
            authentication: Authentication {
                status: Status::Unverified,
                anchor: Some(Anchor::Lock),
                fingerprint: None,
                notes: Vec::new(),
            },
            place: String::new(),
            hashes: BTreeSet::new(),
            reported: BTreeSet::new(),
            installed: installed.collect(),
        }))
    }

    /// A version in a store.
    async fn record_stored(
        &self,
        stored: &StoredProvider,
        version: &Version,
        locked: &BTreeSet<PackageHash>,
    ) -> Result<Recorded, Failure> {
        let options = self.options;
        let at = || At::From(stored.place.clone());
        let subject = Subject::version(&stored.provider, version);
        let fail = |problem: Problem| problem.of(subject.clone(), at());
        let is_pinned = options
            .trust
            .rule_for(&stored.provider)
            .map_err(fail)?
            .pinned();
        // A signature by a pinned key covers every package, so that their manifests need not be read.
        let platforms = match (is_pinned, options.trust_store) {
            (true, _) if !options.h1 => Platforms::Only(Vec::new()),
            (false, true) => Platforms::All,
            _ => options.platforms.clone(),
        };
        let examined = stored.examine(version, &platforms, &options.trust).await?;
        if let Some(message) = examined.warning(&stored.provider) {
            let subject = subject.clone();
            self.reporter.report(Event::Warning { subject, message });
        }
        let release = examined.proof.map_err(fail)?;
        let authentication = release.authentication().clone();
        self.report_verified(&subject, &authentication);
        let mut hashes = BTreeSet::new();
        if is_believed(&authentication) {
            hashes.extend(lines(&release).map_err(fail)?);
        } else if options.trust_store {
            hashes.extend(release.packages.iter().filter_map(|package| package.zh()));
        } else if authentication.status == Status::Unverified {
            return Err(fail(Problem::NoEvidence));
        }
        let is_complete = is_believed(&authentication) || options.trust_store;
        let mut installed = Vec::new();
        if options.h1 || !is_complete {
            let wanted = platforms_of(&options.platforms);
            let release = release.only(|platform| wanted.is_none_or(|all| all.contains(platform)));
            installed = self
                .read(release, &subject, at(), locked, &mut hashes)
                .await?;
        }
        Ok(Recorded {
            authentication,
            place: stored.place.clone(),
            hashes,
            reported: BTreeSet::new(),
            installed,
        })
    }

    /// Installs the packages, or downloads them to hash them, and adds their hashes.
    async fn read<B: BlobSource>(
        &self,
        release: Verified<Release<B>>,
        subject: &Subject,
        at: At,
        locked: &BTreeSet<PackageHash>,
        hashes: &mut BTreeSet<PackageHash>,
    ) -> Result<Vec<InstalledPackage>, Failure> {
        let Some(installer) = self.installer else {
            hashes.extend(self.measure(release, subject, at).await?);
            return Ok(Vec::new());
        };
        let installed = installer.deliver(&release, &at, locked).await?;
        hashes.extend(release.packages.iter().filter_map(|package| package.zh()));
        hashes.extend(installed.packages.iter().filter_map(|one| one.h1.clone()));
        Ok(installed.packages)
    }

    /// A version at an origin or in a mirror.
    async fn record_released(
        &self,
        task: &Task,
        source: &Source,
        version: &SpelledVersion,
        listed: Option<&[Platform]>,
        locked: &BTreeSet<PackageHash>,
    ) -> Result<Recorded, Failure> {
        let (options, provider) = (self.options, &task.provider);
        let subject = Subject::version(provider, version.version());
        let at = || At::Source(source.name(provider));
        let fail = |problem: Problem| problem.of(subject.clone(), at());
        let rule = self.rule_for_source(task, source).map_err(fail)?;
        let signs = source.has_checksum_documents();
        // The metadata of any one platform leads to the checksum document of all.
        let first = match (options.h1 || !signs, options.trust_store && !signs) {
            (_, true) => Platforms::All,
            (true, false) => options.platforms.clone(),
            (false, false) => Platforms::Only(any_of(&options.platforms, listed)),
        };
        let request = async |platforms: &Platforms| {
            let answer = release(source, task, version, platforms).await?;
            let reported = answer.reported.clone();
            let verified = self
                .verified(source, task, answer, platforms, &rule)
                .await?;
            Ok::<_, Problem>((verified, reported))
        };
        let (mut verified, reported) = request(&first).await.map_err(fail)?;
        let authentication = verified.authentication().clone();
        self.report_verified(&subject, &authentication);
        let mut hashes = BTreeSet::new();
        let mut is_complete = true;
        if is_believed(&authentication) {
            hashes.extend(lines(&verified).map_err(fail)?);
        } else if options.trust_store && !signs {
            hashes.extend(verified.packages.iter().filter_map(|package| package.zh()));
        } else {
            is_complete = false;
            if first != options.platforms {
                (verified, _) = request(&options.platforms).await.map_err(fail)?;
            }
        }
        let mut installed = Vec::new();
        if options.h1 || !is_complete {
            let wanted = platforms_of(&options.platforms);
            let verified =
                verified.only(|platform| wanted.is_none_or(|all| all.contains(platform)));
            let packages = source.packages(verified).await;
            let packages = packages.map_err(|error| fail(error.into()))?;
            installed = self
                .read(packages, &subject, at(), locked, &mut hashes)
                .await?;
        }
        Ok(Recorded {
            authentication,
            place: source.name(provider),
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

    async fn verified(
        &self,
        source: &Source,
        task: &Task,
        answer: ReleaseAnswer,
        wanted: &Platforms,
        rule: &Rule,
    ) -> Result<Verified<Release<PackageMetadata>>, Problem> {
        let absent = |platforms| source::Error::NoPlatform {
            place: source.name(&task.provider),
            platforms,
            available: Vec::new(),
        };
        let ReleaseAnswer {
            release,
            absent: missing,
            ..
        } = answer;
        match release {
            Some(release) if missing.is_empty() || *wanted == Platforms::All => {
                Ok(prove(release, rule, self.options.trust.now).await?)
            }
            _ => Err(absent(missing).into()),
        }
    }
}

async fn release(
    source: &Source,
    task: &Task,
    version: &SpelledVersion,
    platforms: &Platforms,
) -> Result<ReleaseAnswer, Problem> {
    let platforms = platforms_of(platforms);
    Ok(source.release(&task.provider, version, platforms).await?)
}

fn platforms_of(platforms: &Platforms) -> Option<&[Platform]> {
    match platforms {
        Platforms::All => None,
        Platforms::Only(platforms) | Platforms::Among(platforms) => Some(platforms),
    }
}

/// One platform of a version, preferably a wanted one.
fn any_of(wanted: &Platforms, listed: Option<&[Platform]>) -> Vec<Platform> {
    let wanted = platforms_of(wanted).unwrap_or_default();
    let listed = listed.unwrap_or_default();
    let preferred = wanted
        .iter()
        .find(|platform| listed.is_empty() || listed.contains(platform));
    let one = preferred.or(listed.first()).cloned();
    vec![one.unwrap_or_else(Platform::current)]
}

/// Whether the signer is known: then every line of the checksum document is recorded.
fn is_believed(authentication: &Authentication) -> bool {
    authentication.status == Status::Signed
        && matches!(authentication.anchor, Some(Anchor::Pinned | Anchor::Origin))
}

/// Every line of the checksum document. Clients record the lines of manifests and other files too.
///
/// # Errors
/// No line is about this version: a store could otherwise give the documents of another version of the same author.
fn lines<L>(release: &Verified<Release<L>>) -> Result<BTreeSet<PackageHash>, Problem> {
    let subject = ReleaseId {
        provider: &release.provider,
        version: &release.version,
    };
    let checksums = release.checksums().ok_or(trust::Error::NoDocument)?;
    if !checksums
        .lines()
        .any(|(name, _)| subject.platform_of(name).is_some())
    {
        return Err(trust::Error::OtherRelease {
            version: release.version.clone(),
        }
        .into());
    }
    let lines = checksums.lines();
    Ok(lines
        .filter_map(|(_, digest)| PackageHash::of_zip(&digest))
        .collect())
}
