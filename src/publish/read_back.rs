//! Reads what a replacement or a new check has written to a registry, which keeps the bytes that it has, even if others are uploaded.

use super::transfer::{all_blobs, read_stored};
use super::{BlobSource, Edition, Problem, Publication, RawManifest, RepoMut, TagUpdate};
use crate::oci::Part;
use crate::store::{self, At};

/// Reads the packages, the other blobs and the manifests below the tags.
///
/// # Errors
/// The registry does not have the right bytes.
pub(super) async fn read_back<B: BlobSource>(
    edition: &Edition<'_, B>,
    publication: &Publication<B>,
    to: &RepoMut,
) -> Result<(), Problem> {
    let packages = edition.release.packages.iter().zip(&publication.delivers);
    let packages = packages.filter(|(_, delivers)| **delivers);
    let packages = packages.map(|(package, _)| (package.expected, Part::Package));
    let blobs = all_blobs(publication).map(|(blob, what)| (blob.expected(), what));
    for (expected, what) in packages.chain(blobs) {
        let read = read_stored(to, expected).await;
        read.map_err(|source| store::Error::reading(what, expected.digest, source))?;
    }
    for target in targets(publication) {
        for manifest in &target.content.manifests {
            read_manifest(manifest, to).await?;
        }
    }
    Ok(())
}

/// Reads the manifests that the tags refer to.
///
/// # Errors
/// The registry does not have the right bytes.
pub(super) async fn read_back_roots<B>(
    publication: &Publication<B>,
    to: &RepoMut,
) -> Result<(), Problem> {
    for target in targets(publication) {
        read_manifest(&target.content.root, to).await?;
    }
    Ok(())
}

fn targets<B>(publication: &Publication<B>) -> impl Iterator<Item = &TagUpdate<B>> {
    std::iter::once(&publication.index).chain(&publication.evidence)
}

async fn read_manifest(manifest: &RawManifest, to: &RepoMut) -> Result<(), Problem> {
    let (what, digest) = (Part::Manifest, manifest.expected.digest);
    let read = to.manifest(At::Entry(&manifest.descriptor())).await?;
    read.ok_or(store::Error::Missing { what, digest })?;
    Ok(())
}
