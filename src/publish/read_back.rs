//! Reads what a replacement has delivered.

use super::transfer::{all_blobs, read_stored};
use super::{BlobSource, Edition, Problem, Publication, RepoMut};
use crate::oci::Part;
use crate::store;

/// Reads what a replacement has delivered to a registry: it keeps the bytes that it has, even if others are uploaded.
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
    Ok(())
}
