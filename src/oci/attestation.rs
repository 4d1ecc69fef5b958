//! The manifest of an attestation, as cosign writes it.

use std::time::SystemTime;

use super::manifest::Written;
use super::{ATTESTATION, CREATED, Descriptor, Error, MANIFEST, PREDICATE, RawManifest, write};
use crate::attestation::{PREDICATE_TYPE, SIGSTORE_BUNDLE};
use crate::date::timestamp;
use crate::release::Expected;

/// The manifest of a bundle that is attached to an index.
///
/// # Errors
/// None for one layer.
pub fn build(
    bundle: Expected,
    index: &RawManifest,
    meaning: String,
    now: SystemTime,
) -> Result<RawManifest, Error> {
    let mut manifest = Written::new(
        SIGSTORE_BUNDLE,
        vec![Descriptor::new(SIGSTORE_BUNDLE, bundle)],
    );
    manifest.subject = Some(Descriptor::new(&index.media_type, index.expected));
    let annotations = [
        ("dev.sigstore.bundle.content", "dsse-envelope".to_owned()),
        (PREDICATE, PREDICATE_TYPE.to_owned()),
        (CREATED, timestamp(now)),
        (ATTESTATION, meaning),
    ];
    let annotations = annotations.map(|(name, value)| (name.to_owned(), value));
    manifest.annotations.extend(annotations);
    write(MANIFEST, SIGSTORE_BUNDLE, &manifest)
}
