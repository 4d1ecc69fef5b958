//! What becomes of the evidence when a release is published.
//!
//! | in the store | outcome |
//! | --- | --- |
//! | none, or it proves nothing | the release's evidence is written |
//! | it proves every zip of the index, no less firmly than the release's | it is kept |
//! | it proves every zip, but only by checksums, and the release is signed | the release's, if that covers every zip too |
//! | it does not cover every zip | the release's, if that does and is not less; else the release was made again: refused |

use super::{
    BlobSource, Destination, Digest, Evidence, Platform, Problem, RawManifest, Release,
    StoredEvidence, Tag, Verified, WriteStore, graph,
};
use crate::authentication::Status;
use crate::release::Package;
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
}

/// Compares the release's evidence with the store's.
pub(super) async fn plan<S: WriteStore, B: BlobSource>(
    release: &Verified<Release<B>>,
    destination: &Destination<S>,
    zips: &[(Platform, Digest)],
    replaces: bool,
) -> Result<EvidencePlan, Problem> {
    let Destination { store, repository } = destination;
    let tag = Tag::of_evidence(&release.version)?;
    // Evidence that cannot be read proves nothing; where its tag stands matters all the same.
    let was = store
        .manifest(repository, super::At::Tag(&tag))
        .await
        .ok()
        .flatten()
        .map(|raw| raw.expected.digest);
    let stored = graph::evidence(store, repository, &tag)
        .await
        .ok()
        .flatten()
        .and_then(|stored| prove(release, stored));
    let covered = zips.iter().map(|(platform, zip)| (platform, zip));
    let ours = || release.covers(covered.clone());
    let keep = EvidencePlan {
        tag: tag.clone(),
        was,
        write: None,
    };
    if release.checksums.is_none() {
        return Ok(keep);
    }
    let offered = release.authentication().status;
    let proves_nothing = stored.is_none();
    if let Some(stored) = stored.filter(|_| !replaces) {
        let covers = stored.covers(covered.clone());
        let firmness = stored.authentication().status;
        if covers.is_ok() && (firmness >= offered || ours().is_err()) {
            return Ok(keep);
        }
        if firmness > offered {
            let source = covers.err().unwrap_or(trust::Error::NoSignature);
            return Err(Problem::Uncovered { source });
        }
    }
    ours().map_err(|source| Problem::Uncovered { source })?;
    let evidence = of(release);
    let manifest = evidence.manifest()?;
    // The manifest may be there while a document below it is lost.
    let differs = proves_nothing || was != Some(manifest.expected.digest);
    let write = differs.then_some((evidence, manifest));
    Ok(EvidencePlan { tag, was, write })
}

/// What the stored evidence proves by itself, if anything.
fn prove<L>(release: &Release<L>, stored: StoredEvidence) -> Option<Verified<Release<()>>> {
    let packages: Vec<Package<()>> = Vec::new();
    let release = graph::release(
        &release.provider,
        &release.version,
        packages,
        Some(stored.evidence),
    );
    trust::verify(release, &Rule::reading(), std::time::SystemTime::now()).ok()
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
