//! What becomes of the evidence when a release is published.
//!
//! | in the store | outcome |
//! | --- | --- |
//! | none, or it proves nothing | the release's evidence is written |
//! | it proves every zip of the index, no less firmly than the release's | it is kept |
//! | it proves every zip, but only by checksums, and the release is signed | the release's, if that covers every zip too |
//! | it does not cover every zip | the release's, if that does and is not less; else it proves too little, or was made again: refused |
//!
//! Some registries take only what they know, and evidence is not among it. That never stops the provider: it is published
//! without, and whoever reads it is told that it is unverified.

use super::{
    BlobSource, Destination, Digest, Evidence, Existing, Options, Platform, Problem, RawManifest,
    Release, StoredEvidence, SystemTime, Tag, Verified, WriteStore, graph,
};
use crate::authentication::Status;
use crate::oci::Part;
use crate::release::Package;
use crate::store;
use crate::trust::{self, Rule};

/// What becomes of the evidence.
#[derive(Debug)]
pub(super) struct EvidencePlan {
    /// Its tag.
    pub(super) tag: Tag,
    /// Where it stands now.
    pub(super) was: Option<Digest>,
    /// What to write, if anything.
    pub(super) write: Option<(Evidence<Vec<u8>>, RawManifest)>,
    /// Why it is not written although it was to be.
    pub(super) refused: Option<store::Error>,
}

impl EvidencePlan {
    /// What is there stays.
    pub(super) fn kept(tag: Tag, was: Option<Digest>) -> Self {
        Self {
            tag,
            was,
            write: None,
            refused: None,
        }
    }

    /// Goes without evidence if it is the kind of thing that the store does not take. Where there is other evidence, that would
    /// be left to prove something else.
    pub(super) fn refuse(&mut self, error: store::Error) -> Result<(), store::Error> {
        let is_unwelcome = matches!(
            error,
            store::Error::Unwelcome {
                what: Part::Evidence,
                ..
            }
        );
        if !is_unwelcome || self.was.is_some() {
            return Err(error);
        }
        self.write = None;
        self.refused = Some(error);
        Ok(())
    }

    /// What the user should know.
    pub(super) fn warning(&self) -> Option<String> {
        let store::Error::Unwelcome {
            host,
            status,
            answer,
            ..
        } = self.refused.as_ref()?
        else {
            return None;
        };
        let said = match answer.as_str() {
            "" => String::new(),
            answer => format!(" ({answer})"),
        };
        Some(format!(
            "{host} does not take the evidence, and answered {status}{said}: readers will see `unverified`, unless they have the \
             hashes of the zips pinned"
        ))
    }
}

/// Compares the release's evidence with the store's, where its tag says that there is some.
pub(super) async fn plan<S: WriteStore, B: BlobSource>(
    release: &Verified<Release<B>>,
    destination: &Destination<S>,
    zips: &[(Platform, Digest)],
    has_evidence: bool,
    options: &Options,
) -> Result<EvidencePlan, Problem> {
    let Destination { store, repository } = destination;
    let tag = Tag::of_evidence(&release.version)?;
    let (was, readable) = match has_evidence {
        false => (None, None),
        // Evidence that cannot be read proves nothing; where its tag stands matters all the same.
        true => {
            let stored = match graph::evidence(store, repository, &tag).await {
                Ok(stored) => stored,
                Err(error) if error.is_damage() => None,
                // What cannot be read just now may prove more than this release does.
                Err(error) => return Err(error.into()),
            };
            let was = match &stored {
                Some(stored) => Some(stored.raw.expected.digest),
                None => store.digest(repository, &tag).await?,
            };
            (was, stored)
        }
    };
    let intact = readable.as_ref().map(|stored| stored.raw.expected.digest);
    let stored = readable.and_then(|stored| prove(release, stored, options.now));
    let covered = zips.iter().map(|(platform, zip)| (platform, zip));
    let ours = || release.covers(covered.clone());
    let keep = EvidencePlan::kept(tag, was);
    if release.checksums.is_none() {
        // What comes from another store may be bare, and must not stand beside evidence that does not cover it.
        let covers = stored.map(|stored| stored.covers(covered));
        return match covers.transpose() {
            Ok(_) => Ok(keep),
            Err(source) => Err(Problem::Uncovered { source }),
        };
    }
    let offered = release.authentication().status;
    if let Some(stored) = stored.filter(|_| options.existing != Existing::Replace) {
        let covers = stored.covers(covered.clone());
        let firmness = stored.authentication().status;
        if covers.is_ok() && (firmness >= offered || ours().is_err()) {
            return Ok(keep);
        }
        if firmness > offered {
            return Err(Problem::Weaker {
                stored: firmness,
                offered,
            });
        }
    }
    ours().map_err(|source| Problem::Uncovered { source })?;
    let evidence = of(release);
    let manifest = evidence.manifest()?;
    // A store that refuses it need not hear of it again; to say so once is enough.
    let may_stay_away = was.is_none() && !store.takes_evidence(repository);
    let is_there = intact == Some(manifest.expected.digest);
    let write = (!is_there && !may_stay_away).then_some((evidence, manifest));
    Ok(EvidencePlan { write, ..keep })
}

/// What the stored evidence proves by itself, if anything.
fn prove<L>(
    release: &Release<L>,
    stored: StoredEvidence,
    now: SystemTime,
) -> Option<Verified<Release<()>>> {
    let packages: Vec<Package<()>> = Vec::new();
    let release = graph::release(
        &release.provider,
        &release.version,
        packages,
        Some(stored.evidence),
    );
    trust::verify(release, &Rule::reading(), now).ok()
}

/// The evidence of a release.
fn of<L>(release: &Verified<Release<L>>) -> Evidence<Vec<u8>> {
    let signed = release.authentication().status == Status::Signed;
    let first = release.signatures.first().filter(|_| !signed);
    Evidence {
        checksums: release
            .checksums
            .as_ref()
            .map(|document| document.bytes.clone()),
        signature: release
            .signature()
            .or(first)
            .map(|document| document.bytes.clone()),
        keys: release.certificate().map(<[u8]>::to_vec),
        protocols: release.protocols.clone(),
    }
}
