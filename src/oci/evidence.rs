//! Evidence: the checksum document, signature and key of a release, stored beside its artifact.

use super::manifest::Written;
use super::parsed::{ManifestKind, ParsedManifest};
use super::{Descriptor, Error, MANIFEST, PROTOCOLS, Part, RawManifest, Refusal, write};
use crate::release::{Expected, Protocols};

/// The artifact type of evidence.
pub const EVIDENCE: &str = "application/vnd.tfoci.evidence.v1";
/// The media type of a checksum document.
pub const CHECKSUMS: &str = "text/plain";
/// The media type of a detached signature.
pub const SIGNATURE: &str = "application/pgp-signature";
/// The media type of public keys.
pub const KEYS: &str = "application/pgp-keys";

/// The documents that prove a release. Documents that the release does not have are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence<D> {
    /// The checksum document, byte for byte.
    pub checksums: Option<D>,
    /// The detached signature of the checksum document.
    pub signature: Option<D>,
    /// The signing certificate without others, armoured.
    pub keys: Option<D>,
    /// The plugin protocol versions.
    pub protocols: Protocols,
}

impl Evidence<Vec<u8>> {
    /// The documents in the order of the layers.
    pub fn documents(&self) -> impl Iterator<Item = (&'static str, &Vec<u8>)> {
        [
            (CHECKSUMS, &self.checksums),
            (SIGNATURE, &self.signature),
            (KEYS, &self.keys),
        ]
        .into_iter()
        .filter_map(|(media_type, document)| document.as_ref().map(|bytes| (media_type, bytes)))
    }

    /// The manifest. It depends only on the documents. Its layers have no titles, because file names differ between sources.
    ///
    /// # Errors
    /// None for three layers.
    pub fn manifest(&self) -> Result<RawManifest, Error> {
        let layers = self.documents();
        let layers = layers.map(|(kind, bytes)| Descriptor::new(kind, Expected::of(bytes)));
        let mut manifest = Written::new(EVIDENCE, layers.collect());
        let protocols = self.protocols.texts().join(",");
        manifest.annotations.insert(PROTOCOLS.to_owned(), protocols);
        write(MANIFEST, EVIDENCE, &manifest)
    }
}

impl Evidence<Expected> {
    /// Parses an evidence manifest. It contains the descriptors of the documents, which the caller must fetch.
    ///
    /// # Errors
    /// The manifest is not valid evidence.
    pub fn read(raw: &RawManifest) -> Result<Self, Refusal> {
        const WHAT: Part = Part::Evidence;
        if raw.media_type != MANIFEST {
            return Err(Refusal::wrong(WHAT, "mediaType", MANIFEST, &raw.media_type));
        }
        let manifest = ParsedManifest::read(raw, ManifestKind::Image, WHAT, EVIDENCE)?;
        let layer = |media_type: &str| {
            let mut layers = manifest.items.iter().map(|item| &item.descriptor);
            let found = layers.find(|layer| layer.media_type == media_type);
            found.map(|layer| layer.expected_of(WHAT)).transpose()
        };
        let protocols = manifest.annotations.get(PROTOCOLS);
        let protocols = protocols.map_or("", String::as_str).split(',');
        let protocols = Protocols::parse(protocols.filter(|text| !text.is_empty()));
        Ok(Self {
            checksums: layer(CHECKSUMS)?,
            signature: layer(SIGNATURE)?,
            keys: layer(KEYS)?,
            protocols: protocols?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_bytes() {
        let evidence = Evidence {
            checksums: Some(b"sums".to_vec()),
            signature: Some(b"sig".to_vec()),
            keys: Some(b"key".to_vec()),
            protocols: Protocols::parse(["6.0", "5.0"]).unwrap(),
        };
        let raw = evidence.manifest().unwrap();
        let digest = |bytes: &[u8]| Expected::of(bytes).digest;
        assert_eq!(
            str::from_utf8(&raw.bytes).unwrap(),
            format!(
                r#"{{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","artifactType":"application/vnd.tfoci.evidence.v1","config":{{"mediaType":"application/vnd.oci.empty.v1+json","digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","size":2}},"layers":[{{"mediaType":"text/plain","digest":"{}","size":4}},{{"mediaType":"application/pgp-signature","digest":"{}","size":3}},{{"mediaType":"application/pgp-keys","digest":"{}","size":3}}],"annotations":{{"org.tfoci.protocols":"5.0,6.0"}}}}"#,
                digest(b"sums"),
                digest(b"sig"),
                digest(b"key")
            )
        );
        let read = Evidence::read(&raw).unwrap();
        assert_eq!(read.checksums, Some(Expected::of(b"sums")));
        assert_eq!(read.protocols, evidence.protocols);
    }

    #[test]
    fn absent_parts_are_left_out() {
        let evidence = Evidence {
            checksums: Some(b"s".to_vec()),
            signature: None,
            keys: None,
            protocols: Protocols::default(),
        };
        let read = Evidence::read(&evidence.manifest().unwrap()).unwrap();
        assert_eq!((read.signature, read.keys), (None, None));
    }
}
