//! Reads the documents of a store that is in files: manifests and indexes.

use super::{At, Error};
use crate::blob::{BlobSource, proven};
use crate::oci::{Descriptor, LARGEST_READ, Part, RawManifest, Refusal};
use crate::release::Expected;

/// Reads the document that a descriptor refers to, and checks its digest and size; `None` if it is missing.
pub(super) async fn document<B: BlobSource<Failure = Error>>(
    blob: &B,
    entry: &Descriptor,
    what: Part,
) -> Result<Option<RawManifest>, Error> {
    let expected = blob.expected();
    let Expected { digest, size } = expected;
    if size > LARGEST_READ {
        let limit = LARGEST_READ;
        return Err(Refusal::TooLarge { what, limit, size }.into());
    }
    let bytes = match proven(blob).await {
        Ok(body) => body.collect(size).await,
        Err(error) => Err(error),
    };
    match bytes.map_err(|source| Error::reading(what, digest, source)) {
        Ok(bytes) => Ok(Some(RawManifest {
            media_type: entry.media_type.clone(),
            artifact_type: entry.artifact_type.clone(),
            bytes: bytes.into(),
            expected,
        })),
        Err(Error::Missing { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The manifest that a tag or an index refers to. `entry` is what the store's own index says of the tag.
pub(super) async fn manifest<B: BlobSource<Failure = Error>>(
    at: At<'_>,
    entry: Option<Descriptor>,
    blob: impl Fn(Expected) -> B,
) -> Result<Option<RawManifest>, Error> {
    let what = at.part();
    let entry = match at {
        At::Entry(entry) => Some(entry.clone()),
        At::Tag(_) => entry,
    };
    let Some(entry) = entry else {
        return Ok(None);
    };
    let expected = entry.expected_of(what)?;
    match (document(&blob(expected), &entry, what).await?, at) {
        (None, At::Tag(_)) => Err(Error::Missing {
            what,
            digest: expected.digest,
        }),
        (document, _) => Ok(document),
    }
}
