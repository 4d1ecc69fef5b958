//! Reads what a repository stores: before a plan, and after a replacement or a new check has written to a registry. A registry keeps the bytes
//! that it has, even if others are uploaded.

use super::{BlobSource, Journey, Problem, Publication, RawManifest, RepoMut, TagUpdate};
use crate::blob::verify;
use crate::oci::Part;
use crate::store::{self, At};

impl<B: BlobSource> Journey<'_, B> {
    /// Reads the packages, the other blobs and the manifests below the tags.
    ///
    /// # Errors
    /// The registry does not have the right bytes.
    pub(super) async fn read_back(&self, publication: &Publication<B>) -> Result<(), Problem> {
        let packages = self.edition.release.packages.iter();
        let packages = packages.zip(&publication.delivers);
        let packages = packages.filter(|(_, delivers)| **delivers);
        let packages = packages.map(|(package, _)| (package.expected, Part::Package));
        let blobs = publication.all_blobs();
        let blobs = blobs.map(|(blob, what)| (blob.expected(), what));
        for (expected, what) in packages.chain(blobs) {
            let read = verify(&self.to.blob(expected)).await;
            read.map_err(|source| store::Error::reading(what, expected.digest, source))?;
        }
        for target in targets(publication) {
            for manifest in target.content.manifests.iter().flatten() {
                read_manifest(manifest, Part::Manifest, self.to).await?;
            }
        }
        Ok(())
    }
}

/// Reads the manifests that the tags refer to.
///
/// # Errors
/// The registry does not have the right bytes.
pub(super) async fn read_back_roots<B>(
    publication: &Publication<B>,
    to: &RepoMut,
) -> Result<(), Problem> {
    for TagUpdate { tag, content, .. } in targets(publication) {
        read_manifest(&content.root, At::Tag(tag).part(), to).await?;
        // Clients ask for the tag. A registry may answer that from elsewhere, such as a cache.
        let (ours, stored) = (
            content.root.expected.digest,
            to.manifest(At::Tag(tag)).await?,
        );
        let received = stored.map(|stored| stored.expected.digest);
        if let Some(received) = received.filter(|received| *received != ours)
            && to.digest(tag).await? == Some(ours)
        {
            let (tag, expected) = (tag.clone(), ours);
            return Err(store::Error::Moved {
                tag,
                expected,
                received,
            }
            .into());
        }
    }
    Ok(())
}

fn targets<B>(publication: &Publication<B>) -> impl Iterator<Item = &TagUpdate<B>> {
    std::iter::once(&publication.index).chain(&publication.evidence)
}

async fn read_manifest(manifest: &RawManifest, what: Part, to: &RepoMut) -> Result<(), Problem> {
    let digest = manifest.expected.digest;
    let read = to.manifest(At::Entry(&manifest.descriptor())).await?;
    read.ok_or(store::Error::Missing { what, digest })?;
    Ok(())
}
