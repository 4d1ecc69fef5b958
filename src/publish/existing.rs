//! Evidence that a repository already has: its proof, and whether other evidence may replace it.
//!
//! Evidence never becomes weaker: `signed` ranks above `checksum`, which ranks above no evidence. Evidence that cannot be read or does
//! not verify ranks as its parts suggest, so that an attacker gains nothing by damaging a signature.

use std::cmp::Ordering;
use std::time::SystemTime;

use super::{Digest, Edition, Existing, Platform, Problem, RepoMut, Tag, Verified};
use crate::address::ProviderAddr;
use crate::authentication::{Authentication, Status};
use crate::event::Warning;
use crate::fingerprint::Fingerprint;
use crate::oci::Evidence;
use crate::prove::{compare, prove};
use crate::release::{Package, Protocols, Release};
use crate::store::{At, artifact};
use crate::trust::rule::Unsigned;
use crate::trust::{self, Rule, SignatureErrorKind};
use crate::version::Version;

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

    /// Checks a release against the rule.
    ///
    /// # Errors
    /// The release does not verify.
    async fn check<L: Clone + Send + 'static>(
        &self,
        release: Release<L>,
        now: SystemTime,
    ) -> Result<Verified<Release<L>>, Problem> {
        let proof = prove(release, &self.rule, now).await;
        proof.map_err(|source| Problem::Evidence { source })
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
    pub(super) keys: Option<Vec<u8>>,
    /// The plugin protocols that it states.
    protocols: Protocols,
    /// The highest status that it may have; a replacement must have at least this one.
    claim: ClaimedStatus,
    /// The verified evidence, or why it does not verify.
    proof: Result<Verified<Release<()>>, Problem>,
}

/// The status that evidence may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClaimedStatus {
    Known(Status),
    /// Its manifest cannot be read.
    Unknown,
}

/// The release's evidence, which may replace the repository's.
#[derive(Debug)]
pub(super) struct Candidate<'a> {
    /// The status and key of the release.
    pub(super) authentication: &'a Authentication,
    /// Whether it has the key that signed the release.
    pub(super) has_key: bool,
    /// Whether its copy of that key is newer than the repository's: its owner has signed it again.
    pub(super) has_newer_key: bool,
    /// The plugin protocols of the release.
    pub(super) protocols: &'a Protocols,
    /// Whether it proves every zip of the index to write.
    pub(super) covers: Result<(), trust::Error>,
    /// Whether it replaces existing evidence of the same status.
    pub(super) is_preferred: bool,
}

/// The treatment of existing evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Keep,
    /// Keep it, although the release's checksums do not cover the repository's package for this platform.
    KeepUncovered {
        platform: Platform,
    },
    Replace,
    /// Replace the signature by that of another key: readers who pinned the old key will refuse the version.
    ReplaceSigner {
        /// The old key.
        from: String,
        /// The new key.
        to: Fingerprint,
    },
    /// Replace its key by a newer copy of it.
    RenewKey(Fingerprint),
    /// Replace it, although the new evidence proves less.
    Weaken {
        /// The status that it may have had; `None` if unknown.
        from: Option<Status>,
        /// The status of the new evidence.
        to: Status,
    },
}

impl ExistingEvidence {
    /// Reads the evidence of a version, and verifies `packages` with it; `None` if there is none.
    pub(super) async fn read(
        repo: &RepoMut,
        (provider, version): (&ProviderAddr, &Version),
        packages: Vec<Package<()>>,
        evidence_policy: &EvidencePolicy,
        now: SystemTime,
    ) -> Result<Option<Self>, Problem> {
        let tag = Tag::of_evidence(version)?;
        let stored = match repo.evidence(&tag).await {
            Ok(None) => return Ok(None),
            Ok(Some(stored)) => stored,
            Err(error) if error.is_damage() => {
                let Some(at) = repo.digest(&tag).await? else {
                    return Ok(None);
                };
                let claim = match repo.manifest(At::Tag(&tag)).await {
                    Ok(Some(raw)) => {
                        Evidence::read(&raw).map_or(ClaimedStatus::Unknown, ClaimedStatus::of)
                    }
                    _ => ClaimedStatus::Unknown,
                };
                return Ok(Some(Self {
                    at,
                    is_intact: false,
                    keys: None,
                    protocols: Protocols::default(),
                    claim,
                    proof: Err(Problem::Unreadable(error)),
                }));
            }
            // Evidence that cannot be read at the moment may prove more than its replacement.
            Err(error) => return Err(error.into()),
        };
        let claim = ClaimedStatus::of(stored.evidence.clone());
        let keys = stored.evidence.keys.clone();
        let protocols = stored.evidence.protocols.clone();
        let release = artifact::release(provider, version, packages, Some(stored.evidence));
        let proof = evidence_policy.check(release, now).await;
        let claim = match &proof {
            Ok(verified) => ClaimedStatus::Known(verified.authentication().status),
            Err(_) => claim,
        };
        Ok(Some(Self {
            at: stored.raw.expected.digest,
            is_intact: true,
            keys,
            protocols,
            claim,
            proof,
        }))
    }

    /// Compares the existing evidence with the candidate; `zips` are those of the index to write.
    ///
    /// # Errors
    /// It does not prove the zips, and there is no candidate that may replace it.
    pub(super) fn against(
        self,
        candidate: Option<Candidate<'_>>,
        zips: &[(Platform, Digest)],
        existing: Existing,
        evidence_policy: &EvidencePolicy,
    ) -> Result<Decision, Problem> {
        let signer = self.signer();
        let is_richer = candidate
            .as_ref()
            .is_some_and(|one| self.lacks_what_is_in(one));
        let proven = self.proof.and_then(|verified| {
            let covers = verified.covers(zips.iter().map(|(platform, zip)| (platform, zip)));
            covers.map_err(|source| Problem::Uncovered { source })?;
            Ok(verified.authentication().clone())
        });
        let Some(candidate) = candidate else {
            return proven.map(|_| Decision::Keep);
        };
        let replaces = existing == Existing::Replace;
        let may_weaken = replaces && evidence_policy.allows_less;
        let offered = candidate.authentication;
        if let Ok(stored) = &proven {
            // If different keys made two good signatures, the release's counts: it was verified just now.
            let has_same_key = stored.fingerprint == offered.fingerprint;
            let stays = match stored.status.cmp(&offered.status) {
                _ if candidate.covers.is_err() && !replaces => true,
                Ordering::Greater => !may_weaken,
                Ordering::Equal => {
                    has_same_key && !candidate.is_preferred && !is_richer && !replaces
                }
                Ordering::Less => false,
            };
            if stays {
                return Ok(match candidate.covers {
                    Err(trust::Error::Uncovered { platform, .. }) => {
                        Decision::KeepUncovered { platform }
                    }
                    _ => Decision::Keep,
                });
            }
        }
        let weakens = match self.claim {
            ClaimedStatus::Known(status) => status > offered.status,
            ClaimedStatus::Unknown => offered.status != Status::Signed,
        };
        let (from, to) = (self.claim.status(), offered.status);
        if weakens && !may_weaken {
            let (stored, offered) = (from, to);
            return Err(Problem::Weaker { stored, offered });
        }
        let covers = candidate.covers;
        covers.map_err(|source| Problem::Uncovered { source })?;
        Ok(match (weakens, signer, offered.fingerprint.clone()) {
            (true, _, _) => Decision::Weaken { from, to },
            (false, Some(from), Some(to)) if from != to.to_string() => {
                Decision::ReplaceSigner { from, to }
            }
            (false, _, Some(key)) if candidate.has_newer_key => Decision::RenewKey(key),
            (false, _, _) => Decision::Replace,
        })
    }

    /// Compares the copies that an edition and this evidence have of the edition's key, by when its owner last signed it; `None` if one of them is
    /// not known.
    pub(super) fn compare_key<B>(
        &self,
        edition: &Edition<'_, B>,
        now: SystemTime,
    ) -> Option<Ordering> {
        let release = edition.release;
        let key = match &edition.evidence {
            Some(_) => &release.keys.first()?.bytes,
            None => release.certificate()?,
        };
        let fingerprint = release.authentication().fingerprint.as_ref()?;
        compare(key, self.keys.as_ref()?, fingerprint, now)
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
                SignatureErrorKind::NotPinned { received, .. } => {
                    Some(received.fingerprint.to_string())
                }
                SignatureErrorKind::OtherKey { received, .. } => received.first().cloned(),
                _ => None,
            },
            Err(_) => None,
        }
    }

    /// Whether a candidate has the key, a newer copy of it, or the protocols of a manifest, that this evidence lacks.
    fn lacks_what_is_in(&self, candidate: &Candidate<'_>) -> bool {
        // What a manifest states is better than what was assumed without one.
        let is_assumed = self.protocols == Protocols::default();
        let is_same = *candidate.protocols == self.protocols;
        let has_key = self.keys.is_some();
        let loses_key = has_key && !candidate.has_key;
        // Evidence without a key verifies for readers with a key file. Readers who pin a fingerprint need the key itself.
        candidate.has_key && !has_key && (is_same || is_assumed)
            || candidate.has_newer_key
            || is_assumed && !is_same && !loses_key
    }
}

impl ClaimedStatus {
    /// The status that evidence with these parts would have if it verified.
    fn of<D>(evidence: Evidence<D>) -> Self {
        let Evidence {
            checksums,
            signature,
            keys,
            ..
        } = evidence;
        Self::Known(match (checksums, signature, keys) {
            (Some(_), Some(_), Some(_)) => Status::Signed,
            (Some(_), _, _) => Status::Checksum,
            _ => Status::Unverified,
        })
    }

    fn status(self) -> Option<Status> {
        match self {
            Self::Known(status) => Some(status),
            Self::Unknown => None,
        }
    }
}

impl Decision {
    pub(super) fn warning(&self) -> Option<Warning> {
        match self {
            Self::Keep | Self::Replace => None,
            Self::KeepUncovered { platform } => Some(Warning::KeepsChecksums {
                platform: platform.clone(),
            }),
            Self::ReplaceSigner { from, to } => Some(Warning::OtherSigner {
                from: from.clone(),
                to: to.clone(),
            }),
            Self::RenewKey(key) => Some(Warning::NewerKey(key.clone())),
            Self::Weaken { from, to } => Some(Warning::WeakerEvidence {
                from: *from,
                to: *to,
            }),
        }
    }
}
