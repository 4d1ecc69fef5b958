//! Platform manifests: one package for one platform.

use std::collections::BTreeMap;

use serde::Serialize;

use super::parsed::{ManifestKind, ParsedManifest};
use super::{
    Descriptor, EMPTY, EMPTY_BYTES, Error, MANIFEST, PROVIDER_TARGET, Part, RawManifest, Refusal,
    TITLE, ZIP, write,
};
use crate::authentication::Note;
use crate::platform::Platform;
use crate::release::Expected;

/// The members of every image manifest that tfoci writes, in order.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Written {
    pub(super) schema_version: u8,
    pub(super) media_type: &'static str,
    pub(super) artifact_type: &'static str,
    pub(super) config: Descriptor,
    pub(super) layers: Vec<Descriptor>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) subject: Option<Descriptor>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) annotations: BTreeMap<String, String>,
}

impl Written {
    pub(super) fn new(artifact_type: &'static str, layers: Vec<Descriptor>) -> Self {
        Self {
            schema_version: 2,
            media_type: MANIFEST,
            artifact_type,
            config: Descriptor::new(EMPTY, Expected::of(EMPTY_BYTES)),
            layers,
            subject: None,
            annotations: BTreeMap::new(),
        }
    }
}

/// The package of a platform manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// The digest and size of the zip.
    pub expected: Expected,
    /// The file name of the zip, if the manifest contains it.
    pub title: Option<String>,
    /// Irregularities that clients accept in this manifest.
    pub notes: Vec<Note>,
}

/// The manifest of a package. It depends only on the zip's digest, size and file name.
///
/// # Errors
/// The file name is so long that the manifest exceeds 4 MiB.
pub fn build(package: Expected, file_name: &str) -> Result<RawManifest, Error> {
    let mut layer = Descriptor::new(ZIP, package);
    let (name, title) = (TITLE.to_owned(), file_name.to_owned());
    layer.annotations.insert(name, title);
    let manifest = Written::new(PROVIDER_TARGET, vec![layer]);
    write(MANIFEST, PROVIDER_TARGET, &manifest)
}

/// Reads the manifest that an index entry for `platform` refers to, as [clients do](crate::clients#platform-manifest). The config is never
/// read.
///
/// # Errors
/// The reason why clients refuse the manifest.
pub fn read(raw: &RawManifest, platform: &Platform) -> Result<Layer, Refusal> {
    let manifest = ParsedManifest::read(raw, ManifestKind::Image, Part::Manifest, PROVIDER_TARGET)?;
    let layer = package(&manifest)?;
    let expected = layer.expected_of(Part::Package)?;
    if let Some(target) = &layer.platform
        && !(target.os == platform.os() && target.architecture == platform.arch())
    {
        let received = format!("{}_{}", target.os, target.architecture);
        return Err(Refusal::wrong(Part::Layer, "platform", platform, received));
    }
    Ok(Layer {
        expected,
        title: layer.annotations.get(TITLE).cloned(),
        notes: manifest.notes(raw),
    })
}

/// The only layer that is a package.
fn package(manifest: &ParsedManifest) -> Result<&Descriptor, Refusal> {
    let layers = manifest.items.iter().map(|item| &item.descriptor);
    let (zips, others): (Vec<_>, Vec<_>) = layers.partition(|layer| layer.media_type == ZIP);
    let received = match (zips.as_slice(), others.first()) {
        ([layer], _) => return Ok(layer),
        ([], None) => "none".to_owned(),
        ([], Some(other)) => other.media_type.clone(),
        _ => "several".to_owned(),
    };
    let expected = format!("one of type {ZIP}");
    Err(Refusal::wrong(Part::Manifest, "layers", expected, received))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected() -> Expected {
        Expected::of(b"zip")
    }

    #[test]
    fn canonical_bytes() {
        let raw = build(expected(), "terraform-provider-demo_1.0.0_linux_amd64.zip").unwrap();
        let digest = expected().digest;
        assert_eq!(
            str::from_utf8(&raw.bytes).unwrap(),
            format!(
                r#"{{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","artifactType":"application/vnd.opentofu.provider-target","config":{{"mediaType":"application/vnd.oci.empty.v1+json","digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","size":2}},"layers":[{{"mediaType":"archive/zip","digest":"{digest}","size":3,"annotations":{{"org.opencontainers.image.title":"terraform-provider-demo_1.0.0_linux_amd64.zip"}}}}]}}"#
            )
        );
        let layer = read(&raw, &"linux_amd64".parse().unwrap()).unwrap();
        assert_eq!(layer.expected, expected());
        assert_eq!(
            layer.title.as_deref(),
            Some("terraform-provider-demo_1.0.0_linux_amd64.zip")
        );
    }
}
