//! Attests a version that this run verified.
//!
//! The attestation is attached to the index before the tag of the version moves to it, so that readers that require one never see a version without.

use super::{
    Digest, Journey, Options, Problem, Publication, RawManifest, Release, RepoMut, Tag, Verified,
    attach,
};
use crate::attestation::Claim;
use crate::blob::{BlobSource as _, Memory, ReadError};
use crate::error::printable;
use crate::event::Warning;
use crate::oci::attestation::build;
use crate::oci::{ATTESTATION, Descriptor, EMPTY_BYTES, Index, Part, referrers};
use crate::store::{self, Declined, Lookup, PutError, Repo};
use crate::trust::{Checksums, ReleaseId};

impl<B> Journey<'_, B> {
    /// Attests an index that the repository has or is about to have, if the user wants it and its attestation is not there. Returns whether it
    /// was not there, and warns if there can be none.
    pub(super) async fn attest(&self, publication: &Publication<B>) -> Result<bool, Problem> {
        let Some(attesting) = &self.options.attesting else {
            return Ok(false);
        };
        let (release, to) = (self.edition.release, self.to);
        let index = &publication.index.content.root;
        let Options { now, dry_run, .. } = *self.options;
        let digest = index.expected.digest;
        let refused = |why: &str| {
            let text = format!("it is not attested: {}", printable(why));
            self.warn(&self.reporter, Warning::Other(text));
            Ok(false)
        };
        let Some(mut claim) = claim(release, digest, to) else {
            let status = release.authentication().without_key();
            return refused(&format!(
                "{status}, which proves no more than its store or source says"
            ));
        };
        let meaning = attesting.meaning(&claim.name, &digest);
        if is_attested(&to.attached(&digest).await?, &meaning) {
            return Ok(false);
        }
        match others(release, index, to).await? {
            Some(others) => claim.packages.extend(others),
            None => {
                return refused(
                    "the store has packages of it that its checksum document does not cover",
                );
            }
        }
        // Readers compare the inputs with the evidence beside the version.
        if publication.evidence.is_none() {
            let stored = to.evidence(&Tag::of_evidence(&release.version)?).await?;
            let stored = stored.and_then(|stored| stored.evidence.checksums);
            if stored.as_ref() != release.checksums.as_ref().map(|one| &one.bytes) {
                return refused("the store keeps another checksum document");
            }
        }
        let Some(bundle) = attesting.seal(&claim, now).map(Memory::new) else {
            return refused("this machine gives no random numbers");
        };
        let manifest = build(bundle.expected(), index, meaning, now)?;
        let entry = referrers::entry(&manifest, &digest).map_err(store::Error::from)?;
        let list = referrers::list(&Vec::from_iter(entry)).map_err(store::Error::from)?;
        let below = async || {
            if dry_run {
                return Ok::<_, Problem>(());
            }
            put(&Memory::new(EMPTY_BYTES), to).await?;
            put(&bundle, to).await?;
            Ok(to.put_manifest(&manifest).await?)
        };
        let tag = Tag::of_referrers(&digest);
        match attach(to, (&tag, &digest), &list, dry_run, below).await {
            Ok(_) => Ok(true),
            Err(Problem::Store(error)) if is_refusal(&error) => refused(&error.to_string()),
            Err(problem) => Err(problem),
        }
    }
}

/// What this run found out about a version; `None` if nothing vouches for the key but the store or source itself.
pub fn claim<L>(release: &Verified<Release<L>>, index: Digest, repo: &Repo) -> Option<Claim> {
    let authentication = release.authentication();
    let signer = authentication.fingerprint.clone();
    // Whoever can write to a store can choose the key beside a version, and a lock file proves packages only.
    let signer = signer.filter(|_| release.is_key_known())?;
    let documents = [
        release.checksums.as_ref().map(|one| &*one.bytes),
        release.signature().map(|one| &*one.bytes),
        release.certificate(),
    ];
    let packages = release.packages.iter();
    let packages = packages.map(|one| (one.file_name.clone(), one.expected.digest));
    Some(Claim {
        name: format!("{}@{}", release.provider, release.version),
        index,
        packages: packages.collect(),
        repository: repo.repository().to_string(),
        inputs: documents.into_iter().flatten().map(Digest::of).collect(),
        signer,
        anchor: authentication.anchor?,
    })
}

/// Whether a list has the attestation with this meaning.
pub(crate) fn is_attested(listed: &[Descriptor], meaning: &str) -> bool {
    let mut meanings = listed
        .iter()
        .filter_map(|one| one.annotations.get(ATTESTATION));
    meanings.any(|one| one == meaning)
}

/// The names and digests of the packages that the index has besides the packages of the release; `None` if the release does not cover one.
async fn others<L>(
    release: &Verified<Release<L>>,
    index: &RawManifest,
    to: &RepoMut,
) -> Result<Option<Vec<(String, Digest)>>, Problem> {
    let index = Index::read(index).map_err(store::Error::from)?;
    let mut entries = index.platforms().map_err(store::Error::from)?;
    entries.retain(|(platform, _)| !release.has(platform));
    let subject = ReleaseId::of(release);
    let packages = to.packages(&entries).await?;
    let named = packages.iter().map(|package| {
        let zip = package.layer.expected.digest;
        let mut lines = release.checksums().into_iter().flat_map(Checksums::lines);
        let is_it = |(name, digest): &(&str, Digest)| {
            *digest == zip && subject.platform_of(name).as_ref() == Some(&package.platform)
        };
        lines.find(is_it).map(|(name, _)| (name.to_owned(), zip))
    });
    Ok(named.collect())
}

async fn put(blob: &Memory, to: &RepoMut) -> Result<(), store::Error> {
    let (what, digest) = (Part::Blob, blob.expected().digest);
    let put = to.put_blob(blob, Lookup::First).await;
    put.map(drop).map_err(|error| match error {
        PutError::Store(error) => error,
        PutError::Source(ReadError::Blob(source)) => store::Error::reading(what, digest, source),
    })
}

/// Whether a registry does not take an attestation, whoever asks: some refuse manifests with a subject.
fn is_refusal(error: &store::Error) -> bool {
    match error {
        store::Error::Declined {
            declined, status, ..
        } => match declined {
            Declined::MediaType(_) | Declined::TagMove(..) => true,
            Declined::Request(_) => matches!(status, 400 | 402..=428 | 430..=499 | 501),
            _ => false,
        },
        _ => false,
    }
}
