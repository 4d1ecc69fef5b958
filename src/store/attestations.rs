//! The attestations of a version, as cosign and tfoci attach them to its index.

use std::cmp::Reverse;

use super::{At, Error, Repo};
use crate::attestation::{BUNDLE, LARGEST, MOST, PREDICATE_TYPE};
use crate::digest::Digest;
use crate::oci::{ATTESTATION, CREATED, Descriptor, PREDICATE, Part, Refusal, Tag, parts};

impl Repo {
    /// The descriptors of what is attached to a manifest, as the registry lists them, or else the list below its tag.
    ///
    /// # Errors
    /// The store fails, or the list is none.
    pub async fn attached(&self, subject: &Digest) -> Result<Vec<Descriptor>, Error> {
        if let Some(listed) = self.referrers(subject).await? {
            return Ok(listed);
        }
        let list = self.manifest(At::Tag(&Tag::of_referrers(subject))).await?;
        let listed = list.map(|list| parts(&list.bytes)).transpose();
        let unread = |source| Refusal::unread(Part::Tag, source);
        Ok(listed.map_err(unread)?.unwrap_or_default())
    }

    /// The bundles that may attest the verification of an index. What is damaged or too large attests nothing.
    ///
    /// # Errors
    /// The store fails.
    pub async fn attestations(&self, index: &Digest) -> Result<Vec<Vec<u8>>, Error> {
        let mut entries = match self.attached(index).await {
            // A list that cannot be read has nothing that counts.
            Err(error) if error.is_damage() => Vec::new(),
            attached => attached?,
        };
        entries.retain(|entry| {
            let predicate = entry.annotations.get(PREDICATE);
            entry.artifact_type.as_deref() == Some(BUNDLE)
                && predicate.is_none_or(|one| one == PREDICATE_TYPE)
        });
        // Other tools attach bundles, too, with SBOMs for example. A mirror attests anew when its rule or key changes.
        entries.sort_by_cached_key(|entry| {
            let created = entry.annotations.get(CREATED).cloned();
            Reverse((entry.annotations.contains_key(ATTESTATION), created))
        });
        let mut found = Vec::new();
        for entry in entries.iter().take(MOST) {
            match self.bundle_in(entry).await {
                Ok(bundle) => found.extend(bundle),
                Err(error) if error.is_damage() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    async fn bundle_in(&self, entry: &Descriptor) -> Result<Option<Vec<u8>>, Error> {
        if entry.expected_of(Part::Manifest)?.size > LARGEST {
            return Ok(None);
        }
        let Some(raw) = self.manifest(At::Entry(entry)).await? else {
            return Ok(None);
        };
        let parts = parts(&raw.bytes).map_err(|source| Refusal::unread(Part::Manifest, source))?;
        let layer = parts.iter().find(|part| part.media_type == BUNDLE);
        let layer = layer
            .map(|layer| layer.expected_of(Part::Blob))
            .transpose()?;
        self.document(layer.filter(|layer| layer.size <= LARGEST))
            .await
    }
}
