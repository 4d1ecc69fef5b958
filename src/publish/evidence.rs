//! What becomes of the evidence when a release is published.
//!
//! | in the store | outcome |
//! | --- | --- |
//! | none | the release's evidence is written |
//! | it proves every zip of the index by the rule for the provider, no less firmly than the release's, and by the same key | it is kept |
//! | it proves every zip, but only by checksums or by another key, and the release is signed | the release's, if that covers every zip too |
//! | it does not prove every zip, or not by the rule, or cannot be read | the release's, if that does and is not weaker; else refused |
//!
//! Weaker evidence is written only by `--existing replace` where the policy accepts it, and that is said; see [`super::standing`].
//!
//! Some registries take only what they know, and evidence is not among it. That never stops the provider: it is published
//! without, and whoever reads it is told that it is unverified.

use super::standing::{Offer, Standing, Verdict};
use super::{
    BlobSource, Destination, Digest, Evidence, Options, Platform, Problem, RawManifest, Release,
    Tag, Verified, WriteStore,
};
use crate::authentication::Status;
use crate::oci::Part;
use crate::store;

/// What becomes of the evidence.
#[derive(Debug)]
pub(super) struct EvidencePlan {
    /// Its tag.
    pub(super) tag: Tag,
    /// Where it stands now.
    pub(super) was: Option<Digest>,
    /// What to write, if anything.
    pub(super) write: Option<(Evidence<Vec<u8>>, RawManifest)>,
    /// How it compares with what is there.
    pub(super) verdict: Verdict,
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
            verdict: Verdict::Keep,
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

    /// That a registry refused it.
    pub(super) fn refusal(&self) -> Option<String> {
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
    let Options {
        existing,
        demands,
        now,
        ..
    } = options;
    let Destination { store, repository } = destination;
    let subject = (&release.provider, &release.version);
    let standing = match has_evidence {
        false => None,
        true => Standing::read(destination, subject, Vec::new(), demands, *now).await?,
    };
    let was = standing.as_ref().map(|standing| standing.at);
    let keep = EvidencePlan::kept(Tag::of_evidence(&release.version)?, was);
    let covers = || release.covers(zips.iter().map(|(platform, zip)| (platform, zip)));
    // What comes from another store may be bare, and must not stand beside evidence that does not cover it.
    let offer = release.checksums.is_some().then(|| Offer {
        authentication: release.authentication(),
        covers: covers(),
        is_preferred: false,
    });
    let intact = standing.as_ref().filter(|standing| standing.is_intact);
    let intact = intact.map(|standing| standing.at);
    let verdict = match (standing, offer) {
        (Some(standing), offer) => standing.against(offer, zips, *existing, demands)?,
        (None, None) => Verdict::Keep,
        (None, Some(offer)) => {
            let covers = offer.covers;
            covers.map_err(|source| Problem::Uncovered { source })?;
            Verdict::Replace
        }
    };
    if verdict == Verdict::Keep {
        return Ok(keep);
    }
    let evidence = of(release);
    let manifest = evidence.manifest()?;
    // A store that refuses it need not hear of it again; to say so once is enough.
    let may_stay_away = was.is_none() && !store.takes_evidence(repository);
    let is_there = intact == Some(manifest.expected.digest);
    let write = (!is_there && !may_stay_away).then_some((evidence, manifest));
    Ok(EvidencePlan {
        write,
        verdict,
        ..keep
    })
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
