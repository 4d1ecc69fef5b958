//! Evidence that a store has already: what it proves, and whether other evidence may take its place.
//!
//! Evidence never becomes weaker: `signed` is above `checksum`, and that is above none. What cannot be read, or does not verify, counts
//! as what its parts were meant for, so that nobody gains by damaging a signature.

use std::time::SystemTime;

use super::{Digest, Existing, Platform, Problem, RepoMut, Tag, Verified, WriteStore};
use crate::address::ProviderAddr;
use crate::authentication::{Anchor, Authentication, Status};
use crate::oci::Evidence;
use crate::prove::prove;
use crate::release::{Package, Release};
use crate::store::{At, artifact};
use crate::trust::rule::Unsigned;
use crate::trust::{self, Rule};
use crate::version::Version;

/// What evidence must show in the store that is written to.
#[derive(Clone, Debug, Default)]
pub struct EvidencePolicy {
    /// The rule for the provider.
    pub rule: Rule,
    /// Whether less than a pinned key is refused.
    pub require_pinned: bool,
    /// Whether the user's policy accepts releases without a signature: then `--existing replace` may make evidence weaker.
    pub allows_less: bool,
    /// Whether evidence is read even where nothing else of the version changes.
    pub always: bool,
}

impl EvidencePolicy {
    /// The policy of commands that bring releases from their origins. A missing signature is no reason to replace evidence: how firm it
    /// is decides that.
    pub fn of_writing(rule: &Rule) -> Self {
        Self {
            allows_less: rule.unsigned == Unsigned::Allow,
            rule: Rule {
                unsigned: Unsigned::Allow,
                ..rule.clone()
            },
            require_pinned: false,
            always: false,
        }
    }

    /// Checks a release against the rule.
    ///
    /// # Errors
    /// It does not verify, or no pinned key vouches for it although one is required.
    pub async fn check<L>(
        &self,
        release: Release<L>,
        now: SystemTime,
    ) -> Result<Verified<Release<L>>, Problem> {
        let proof = prove(release, &self.rule, now).await;
        let verified = proof.map_err(|source| Problem::Evidence { source })?;
        let authentication = verified.authentication();
        let anchored = matches!(authentication.anchor, Some(Anchor::Pinned | Anchor::Lock));
        if self.require_pinned && !anchored {
            return Err(Problem::NotPinned {
                authentication: authentication.clone(),
            });
        }
        Ok(verified)
    }
}

/// Evidence that a store has.
#[derive(Debug)]
pub(super) struct ExistingEvidence {
    /// What its tag stands for.
    pub(super) at: Digest,
    /// Whether all of it can be read.
    pub(super) is_intact: bool,
    /// The most that it may prove: other evidence must prove as much.
    claim: Claim,
    /// What it proves.
    proof: Result<Verified<Release<()>>, Problem>,
}

/// What evidence may prove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Claim {
    Known(Status),
    /// Its manifest cannot be read.
    Unknown,
}

/// Evidence that may take the place of what is there.
#[derive(Debug)]
pub(super) struct Candidate<'a> {
    /// What it proves.
    pub(super) authentication: &'a Authentication,
    /// Whether it proves every zip of the index to be.
    pub(super) covers: Result<(), trust::Error>,
    /// Whether it is preferred to evidence of the same firmness.
    pub(super) is_preferred: bool,
}

/// What becomes of the evidence that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// It stays.
    Keep,
    /// The other evidence takes its place.
    Replace,
    /// The same, although the other proves less.
    Weaken {
        /// What it may have proved; `None` if nobody can tell.
        from: Option<Status>,
        /// What the other proves.
        to: Status,
    },
}

impl ExistingEvidence {
    /// Reads the evidence of a version, and checks what it proves about `packages`; `None` if there is none.
    pub(super) async fn read<S: WriteStore>(
        repo: &RepoMut<S>,
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
                    Ok(Some(raw)) => Evidence::read(&raw).map_or(Claim::Unknown, Claim::of),
                    _ => Claim::Unknown,
                };
                return Ok(Some(Self {
                    at,
                    is_intact: false,
                    claim,
                    proof: Err(Problem::Unreadable(error)),
                }));
            }
            // What cannot be read just now may prove more than what is to take its place.
            Err(error) => return Err(error.into()),
        };
        let claim = Claim::of(stored.evidence.clone());
        let release = artifact::release(provider, version, packages, Some(stored.evidence));
        let proof = evidence_policy.check(release, now).await;
        let claim = match &proof {
            Ok(verified) => Claim::Known(verified.authentication().status),
            Err(_) => claim,
        };
        Ok(Some(Self {
            at: stored.raw.expected.digest,
            is_intact: true,
            claim,
            proof,
        }))
    }

    /// Compares it with what is offered; `zips` are those of the index to be.
    ///
    /// # Errors
    /// It does not prove the packages, and nothing is offered that may take its place.
    pub(super) fn against(
        self,
        candidate: Option<Candidate<'_>>,
        zips: &[(Platform, Digest)],
        existing: Existing,
        evidence_policy: &EvidencePolicy,
    ) -> Result<Decision, Problem> {
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
            let is_as_firm = stored.status == offered.status;
            // Two good signatures by different keys: the one that was checked just now counts.
            let has_same_key = stored.fingerprint == offered.fingerprint;
            let stays = stored.status > offered.status && !may_weaken
                || is_as_firm && has_same_key && !candidate.is_preferred && !replaces
                || candidate.covers.is_err() && !replaces;
            if stays {
                return Ok(Decision::Keep);
            }
        }
        let weakens = match self.claim {
            Claim::Known(status) => status > offered.status,
            Claim::Unknown => offered.status != Status::Signed,
        };
        let from = self.claim.status();
        if weakens && !may_weaken {
            return Err(match from {
                Some(stored) => Problem::Weaker {
                    stored,
                    offered: offered.status,
                },
                None => Problem::PerhapsWeaker {
                    offered: offered.status,
                },
            });
        }
        let covers = candidate.covers;
        covers.map_err(|source| Problem::Uncovered { source })?;
        Ok(match weakens {
            false => Decision::Replace,
            true => Decision::Weaken {
                from,
                to: offered.status,
            },
        })
    }
}

impl Claim {
    /// What evidence with these parts is meant to prove.
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
    /// What the user should know.
    pub(super) fn warning(self) -> Option<String> {
        let Self::Weaken { from, to } = self else {
            return None;
        };
        let to = to.as_str();
        Some(match from {
            Some(from) => format!(
                "evidence that is `{}` is replaced by `{to}`, as the policy allows",
                from.as_str()
            ),
            None => {
                format!("evidence that cannot be read is replaced by `{to}`, as the policy allows")
            }
        })
    }
}
