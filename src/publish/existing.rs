//! Evidence that a repository already has: its proof, and whether other evidence may replace it.
//!
//! Evidence never becomes weaker: `signed` ranks above `checksum`, which ranks above no evidence. Evidence that cannot be read or does
//! not verify ranks as its parts suggest, so that an attacker gains nothing by damaging a signature.

use std::cmp::Ordering;

use super::{Digest, Journey, Platform, Problem, Tag, Verified};
use crate::authentication::Status;
use crate::event::Warning;
use crate::oci::Evidence;
use crate::prove::{compare, prove};
use crate::release::{Package, Protocols, Release};
use crate::store::{At, artifact};
use crate::trust::rule::Unsigned;
use crate::trust::{self, Rule, SignatureErrorKind};

/// What stored evidence must prove.
#[derive(Clone, Debug)]
pub struct EvidencePolicy {
    /// The rule for the provider.
    pub rule: Rule,
    /// Whether the user's policy accepts releases without a signature. Then `--existing replace` may make evidence weaker.
    pub allows_less: bool,
    /// Whether evidence is read even if nothing else of the version changes.
    pub always: bool,
}

impl EvidencePolicy {
    /// The policy of commands that publish releases from their origins. It accepts stored evidence without a signature: whether that is
    /// replaced depends on its status.
    pub fn of_writing(rule: &Rule) -> Self {
        Self {
            allows_less: rule.unsigned == Unsigned::Allow,
            rule: Rule {
                unsigned: Unsigned::Allow,
                ..rule.clone()
            },
            always: false,
        }
    }
}

/// The evidence of a version in the repository.
#[derive(Debug)]
pub(super) struct ExistingEvidence {
    /// The digest that its tag refers to.
    pub(super) at: Digest,
    /// Whether its manifest and all documents can be read.
    pub(super) is_intact: bool,
    /// The keys that it has: normally the one that signed it.
    keys: Option<Vec<u8>>,
    /// The plugin protocols that it states.
    protocols: Protocols,
    /// The highest status that it may have, which a replacement must have too; `None` if its manifest cannot be read.
    claim: Option<Status>,
    /// The verified evidence, or why it does not verify.
    proof: Result<Verified<Release<()>>, Problem>,
}

impl ExistingEvidence {
    /// Reads the evidence of a version, and verifies `packages` with it; `None` if there is none.
    pub(super) async fn read<B>(
        journey: &Journey<'_, B>,
        packages: Vec<Package<()>>,
    ) -> Result<Option<Self>, Problem> {
        let Journey {
            to: repo, options, ..
        } = journey;
        let release = journey.edition.release;
        let tag = Tag::of_evidence(&release.version)?;
        let stored = match repo.evidence(&tag).await {
            Ok(None) => return Ok(None),
            Ok(Some(stored)) => stored,
            Err(error) if error.is_damage() => {
                let Some(at) = repo.digest(&tag).await? else {
                    return Ok(None);
                };
                let raw = repo.manifest(At::Tag(&tag)).await.ok().flatten();
                let parts = raw.and_then(|raw| Evidence::read(&raw).ok());
                return Ok(Some(Self {
                    at,
                    is_intact: false,
                    keys: None,
                    protocols: Protocols::default(),
                    claim: parts.as_ref().map(claimed),
                    proof: Err(Problem::Unreadable(error)),
                }));
            }
            // Evidence that cannot be read at the moment may prove more than its replacement.
            Err(error) => return Err(error.into()),
        };
        let claim = claimed(&stored.evidence);
        let keys = stored.evidence.keys.clone();
        let protocols = stored.evidence.protocols.clone();
        let (provider, version) = (&release.provider, &release.version);
        let release = artifact::release(provider, version, packages, Some(stored.evidence));
        let proof = prove(release, &options.evidence_policy.rule, options.now).await;
        Ok(Some(Self {
            at: stored.raw.expected.digest,
            is_intact: true,
            keys,
            protocols,
            claim: Some(match &proof {
                Ok(verified) => verified.authentication().status,
                Err(_) => claim,
            }),
            proof: proof.map_err(|source| Problem::Evidence { source }),
        }))
    }

    /// Whether the evidence of an edition replaces this one, and what to tell the user about it. `zips` are the zips of the index to write.
    ///
    /// | this one | the edition's | kept |
    /// | --- | --- | --- |
    /// | proves every zip | is none | always |
    /// | proves every zip | does not prove every zip | unless the version is replaced, which is an error |
    /// | proves every zip | proves less | unless the version is replaced, and the policy accepts less |
    /// | proves every zip | proves as much | if the edition has the same key, and nothing more |
    /// | proves every zip | proves more | never |
    /// | does not | proves every zip, and no less than this one claims or the policy accepts | never |
    /// | does not | anything else | an error |
    ///
    /// # Errors
    /// It does not prove the zips, and there is no evidence that may replace it.
    pub(super) fn against<B>(
        self,
        journey: &Journey<'_, B>,
        is_preferred: bool,
        zips: &[(Platform, Digest)],
    ) -> Result<(bool, Option<Warning>), Problem> {
        let (release, replaces) = (journey.edition.release, journey.replaces());
        let zips = zips.iter().map(|(platform, zip)| (platform, zip));
        let signer = self.signer();
        let has_newer_key = self.has_older_key_than(journey);
        let is_richer = has_newer_key || self.lacks_what_is_in(release);
        let proven = self.proof.and_then(|verified| {
            let covers = verified.covers(zips.clone());
            covers.map_err(|source| Problem::Uncovered { source })?;
            Ok(verified.authentication().clone())
        });
        if release.checksums.is_none() {
            return proven.map(|_| (false, None));
        }
        let offered = release.authentication();
        let covers = release.covers(zips.clone());
        let may_weaken = replaces && journey.options.evidence_policy.allows_less;
        if let Ok(stored) = &proven {
            // If different keys made two good signatures, the release's counts: it was verified just now.
            let has_same_key = stored.fingerprint == offered.fingerprint;
            let is_kept = match offered.status.cmp(&stored.status) {
                _ if covers.is_err() && !replaces => true,
                Ordering::Less => !may_weaken,
                Ordering::Equal => has_same_key && !is_preferred && !is_richer && !replaces,
                Ordering::Greater => false,
            };
            if is_kept {
                let platform = match covers {
                    Err(trust::Error::Uncovered { platform, .. }) => Some(platform),
                    _ => None,
                };
                let warning = platform.map(|platform| {
                    format!("the checksums in the store stay: those of this release do not cover its package for {platform}")
                });
                return Ok((false, warning.map(Warning::Other)));
            }
        }
        let (from, to) = (self.claim, offered.status);
        let weakens = from.map_or(to != Status::Signed, |from| from > to);
        if weakens && !may_weaken {
            let (stored, offered) = (from, to);
            return Err(Problem::Weaker { stored, offered });
        }
        covers.map_err(|source| Problem::Uncovered { source })?;
        let warning = match (signer, offered.fingerprint.clone()) {
            _ if weakens => Some(format!(
                "stronger evidence is replaced by `{to}`, as the policy allows"
            )),
            (Some(from), Some(to)) if from != to.to_string() => Some(format!(
                "the signature by {from} is replaced by one by {to}: readers who pinned the old key refuse this version"
            )),
            (_, Some(key)) if has_newer_key => Some(format!(
                "the stored copy of the key {key} is replaced by a newer one"
            )),
            _ => None,
        };
        Ok((true, warning.map(Warning::Other)))
    }

    /// Whether an edition has a copy of its key that the owner signed later than the copy of this evidence.
    fn has_older_key_than<B>(&self, journey: &Journey<'_, B>) -> bool {
        let release = journey.edition.release;
        let key = match &journey.edition.evidence {
            Some(_) => release.keys.first().map(|ring| &*ring.bytes),
            None => release.certificate(),
        };
        let fingerprint = release.authentication().fingerprint.as_ref();
        let (Some(key), Some(own), Some(fingerprint)) = (key, &self.keys, fingerprint) else {
            return false;
        };
        compare(key, own, fingerprint, journey.options.now) == Some(Ordering::Greater)
    }

    /// The key that signed it, even if the rule does not accept that key; `None` if it is not known.
    fn signer(&self) -> Option<String> {
        match &self.proof {
            Ok(verified) => {
                let fingerprint = verified.authentication().fingerprint.clone();
                fingerprint.map(|key| key.to_string())
            }
            Err(Problem::Evidence {
                source: trust::Error::Refused(error),
            }) => match &error.reason {
                SignatureErrorKind::NotPinned { received, .. } => Some(received.to_string()),
                SignatureErrorKind::OtherKey { received, .. } => received.first().cloned(),
                _ => None,
            },
            Err(_) => None,
        }
    }

    /// Whether a release has the key or the protocols of a manifest, and this evidence does not.
    fn lacks_what_is_in<B>(&self, release: &Verified<Release<B>>) -> bool {
        // What a manifest states is better than what was assumed without one.
        let is_assumed = self.protocols == Protocols::default();
        let is_same = release.protocols == self.protocols;
        let (has_key, offers_key) = (self.keys.is_some(), release.certificate().is_some());
        // Evidence without a key verifies for readers with a key file. Readers who pin a fingerprint need the key itself.
        offers_key && !has_key && (is_same || is_assumed)
            || is_assumed && !is_same && (offers_key || !has_key)
    }
}

/// The status that evidence with these parts would have if it verified.
fn claimed<D>(evidence: &Evidence<D>) -> Status {
    match (&evidence.checksums, &evidence.signature, &evidence.keys) {
        (Some(_), Some(_), Some(_)) => Status::Signed,
        (Some(_), _, _) => Status::Checksum,
        _ => Status::Unverified,
    }
}
