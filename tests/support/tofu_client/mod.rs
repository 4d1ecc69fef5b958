//! An independent implementation of the `tofu` client, as `tfoci::clients#oci-artifacts` describes it. It checks what tfoci writes.
//!
//! It reads the raw bytes of an OCI image layout and shares no code with the crate under test, so that a misunderstanding of the format
//! cannot hide on both sides. A layout stands for the registry that it would be pushed to: `index.json` resolves tags, and a blob's
//! length is the `Content-Length` that a server would state.

mod blobs;
mod json;
mod refusal;
mod shapes;
mod version;

use std::fs;
use std::path::{Path, PathBuf};

pub use refusal::Refusal;
use shapes::{Descriptor, Head, Index, Manifest};
pub use version::NotAVersion;
use version::Version;

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const DESCRIPTOR: &str = "application/vnd.oci.descriptor.v1+json";
const PROVIDER: &str = "application/vnd.opentofu.provider";
const TARGET: &str = "application/vnd.opentofu.provider-target";
const MODULE: &str = "application/vnd.opentofu.modulepkg";
const PACKAGE: &str = "archive/zip";
const REF_NAME: &str = "org.opencontainers.image.ref.name";

/// A provider zip that the client would install.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// Its `zh:` hash.
    pub zh: String,
    /// Its length in bytes.
    pub size: u64,
    /// The blob that holds it.
    pub bytes_path: PathBuf,
}

/// The versions that the client lists, in ascending order and canonical form.
pub fn versions(layout: &Path) -> Result<Vec<String>, Refusal> {
    let mut found: Vec<Version> = Vec::new();
    for (_, parsed) in read_tags(layout)? {
        match parsed {
            Ok(version) if !found.contains(&version) => found.push(version),
            Err(why @ NotAVersion::OutOfRange) => return Err(Refusal::Crash(why.to_string())),
            _ => {}
        }
    }
    found.sort_by(Version::precedence);
    Ok(found.iter().map(Version::to_string).collect())
}

/// The tags that the client ignores, and why, in the layout's order.
pub fn ignored(layout: &Path) -> Result<Vec<(String, NotAVersion)>, Refusal> {
    let tags = read_tags(layout)?.into_iter();
    Ok(tags
        .filter_map(|(tag, parsed)| Some((tag, parsed.err()?)))
        .filter(|(_, why)| *why != NotAVersion::OutOfRange)
        .collect())
}

/// The platforms (operating system, architecture) that a version has entries for, sorted.
///
/// An entry does not imply that the platform installs: [`install`] checks that.
pub fn platforms(layout: &Path, version: &str) -> Result<Vec<(String, String)>, Refusal> {
    let index = read_index(layout, &resolve(layout, version)?)?;
    let mut found = Vec::new();
    for entry in &index.manifests {
        found.extend(entry_platform(entry)?);
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// Installs a platform, up to and including the comparison of the package with its digest.
pub fn install(layout: &Path, version: &str, os: &str, arch: &str) -> Result<Package, Refusal> {
    let tagged = resolve(layout, version)?;
    let index = read_index(layout, &tagged)?;
    let entry = choose_entry(&index, os, arch)?;
    let manifest = read_manifest(layout, entry)?;
    let layer = choose_layer(&manifest)?;
    check_layer_platform(layer, os, arch)?;
    let (bytes_path, value) = blobs::package(layout, layer)?;
    Ok(Package {
        zh: format!("zh:{value}"),
        size: layer.size.unsigned_abs(),
        bytes_path,
    })
}

/// A tag, and how the client reads it.
type Tag = (String, Result<Version, NotAVersion>);

/// Every tag, read as a version: `_` is written for `+`.
fn read_tags(layout: &Path) -> Result<Vec<Tag>, Refusal> {
    let tagged = read_layout(layout)?;
    let names = tagged.iter().filter_map(|entry| entry.annotation(REF_NAME));
    Ok(names
        .map(|tag| (tag.to_owned(), Version::parse(&tag.replace('_', "+"))))
        .collect())
}

fn read_layout(layout: &Path) -> Result<Vec<Descriptor>, Refusal> {
    let read = |name: &str| {
        fs::read(layout.join(name)).map_err(|e| Refusal::NoLayout(format!("{name}: {e}")))
    };
    let malformed = |name: &str| Refusal::NoLayout(format!("{name}: malformed"));
    let marker = json::Node::parse(&read("oci-layout")?).map_err(|_| malformed("oci-layout"))?;
    let mut version = String::new();
    if marker.text("imageLayoutVersion", &mut version).is_err() || version != "1.0.0" {
        return Err(malformed("oci-layout"));
    }
    let index = Index::parse(&read("index.json")?).map_err(|_| malformed("index.json"))?;
    Ok(index.manifests)
}

/// The descriptor that the canonical tag of a version points at.
fn resolve(layout: &Path, version: &str) -> Result<Descriptor, Refusal> {
    let tag = Version::parse(version)
        .map_err(|_| Refusal::TagMissing(version.to_owned()))?
        .to_string()
        .replace('+', "_");
    let tagged = read_layout(layout)?.into_iter();
    tagged
        .rev()
        .find(|entry| entry.annotation(REF_NAME) == Some(&tag))
        .ok_or(Refusal::TagMissing(tag))
}

/// The checks of `tfoci::clients#index`, in its order.
fn read_index(layout: &Path, tagged: &Descriptor) -> Result<Index, Refusal> {
    match tagged.artifact_type.as_str() {
        "" | PROVIDER => {}
        TARGET => return Err(Refusal::TagIsPlatformManifest),
        MODULE => return Err(Refusal::TagIsModule),
        other => return Err(Refusal::TagArtifactType(other.to_owned())),
    }
    match tagged.media_type.as_str() {
        INDEX => {}
        MANIFEST => return Err(Refusal::TagIsImageManifest),
        DESCRIPTOR => return Err(Refusal::TagIsDescriptor),
        other => return Err(Refusal::TagMediaType(other.to_owned())),
    }
    let bytes = blobs::manifest(layout, tagged)?;
    let index = Index::parse(&bytes).map_err(|_| match Manifest::parse(&bytes) {
        Ok(manifest) if manifest.head.media_type == MANIFEST => Refusal::IndexIsImageManifest,
        _ => Refusal::ManifestMalformed,
    })?;
    check_head(&index.head, INDEX, PROVIDER)?;
    Ok(index)
}

fn check_head(head: &Head, media_type: &str, artifact_type: &str) -> Result<(), Refusal> {
    if head.media_type != media_type {
        Err(Refusal::BodyMediaType(head.media_type.clone()))
    } else if head.artifact_type != artifact_type {
        Err(Refusal::BodyArtifactType(head.artifact_type.clone()))
    } else {
        Ok(())
    }
}

/// The platform of an entry; `None` if the client ignores the entry.
fn entry_platform(entry: &Descriptor) -> Result<Option<(String, String)>, Refusal> {
    if entry.artifact_type != TARGET {
        return Ok(None);
    }
    if entry.media_type != MANIFEST {
        return Err(Refusal::EntryMediaType);
    }
    let platform = entry
        .platform
        .as_ref()
        .ok_or(Refusal::EntryPlatformMissing)?;
    Ok(platform
        .os_version
        .is_empty()
        .then(|| (platform.os.clone(), platform.arch.clone())))
}

/// `tfoci::clients#platform-selection`: the client visits every entry, so one bad entry fails every platform.
fn choose_entry<'a>(index: &'a Index, os: &str, arch: &str) -> Result<&'a Descriptor, Refusal> {
    let mut matching = Vec::new();
    for entry in &index.manifests {
        if entry_platform(entry)?.is_some_and(|(o, a)| o == os && a == arch) {
            matching.push(entry);
        }
    }
    let kinds = index.manifests.iter().map(|entry| &entry.artifact_type);
    match matching.as_slice() {
        [entry] => Ok(entry),
        [] if kinds.clone().any(|kind| kind == TARGET) => Err(Refusal::PlatformNotSupported),
        [] => match kinds.clone().find(|kind| !kind.is_empty()) {
            Some(kind) => Err(Refusal::EntriesArtifactType(kind.clone())),
            None => Err(Refusal::ContainerImage),
        },
        _ => Err(Refusal::PlatformAmbiguous(format!("{os}_{arch}"))),
    }
}

/// `tfoci::clients#platform-manifest`: the manifest must repeat the members of its entry.
fn read_manifest(layout: &Path, entry: &Descriptor) -> Result<Manifest, Refusal> {
    let bytes = blobs::manifest(layout, entry)?;
    let manifest = Manifest::parse(&bytes).map_err(|_| Refusal::ManifestMalformed)?;
    check_head(&manifest.head, &entry.media_type, &entry.artifact_type)?;
    Ok(manifest)
}

fn choose_layer(manifest: &Manifest) -> Result<&Descriptor, Refusal> {
    let mut packages = manifest.layers.iter().filter(|l| l.media_type == PACKAGE);
    match (packages.next(), packages.next()) {
        (Some(layer), None) => Ok(layer),
        (Some(_), Some(_)) => Err(Refusal::LayerAmbiguous),
        (None, _) if manifest.layers.is_empty() => Err(Refusal::LayerMissing),
        (None, _) => Err(Refusal::LayerMediaType),
    }
}

fn check_layer_platform(layer: &Descriptor, os: &str, arch: &str) -> Result<(), Refusal> {
    match &layer.platform {
        Some(p) if p.os != os || p.arch != arch => Err(Refusal::LayerPlatform {
            is: format!("{}_{}", p.os, p.arch),
            expected: format!("{os}_{arch}"),
        }),
        _ => Ok(()),
    }
}
