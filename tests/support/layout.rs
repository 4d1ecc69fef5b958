//! A small image layout of `acme/demo` 1.0.0 for linux_amd64 in parts: any document can be altered before the digests above
//! it are computed.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::expected::layouts;

/// The documents of a layout. In each, `DIGEST` and `SIZE` stand for those of the document below it.
#[derive(Clone, Debug)]
pub struct Parts {
    pub package: Vec<u8>,
    pub manifest: String,
    pub index: String,
    /// `index.json`.
    pub tags: String,
    /// The file `oci-layout`.
    pub marker: String,
}

impl Parts {
    /// A layout that every client installs.
    pub fn good() -> Self {
        let index = "application/vnd.oci.image.index.v1+json";
        let manifest = "application/vnd.oci.image.manifest.v1+json";
        let (provider, target) = (
            "application/vnd.opentofu.provider",
            "application/vnd.opentofu.provider-target",
        );
        let platform = r#"{"architecture":"amd64","os":"linux"}"#;
        Self {
            package: package(),
            manifest: format!(
                r#"{{"schemaVersion":2,"mediaType":"{manifest}","artifactType":"{target}","config":{{}},"layers":[{{"mediaType":"archive/zip","digest":"DIGEST","size":SIZE,"annotations":{{}}}}]}}"#
            ),
            index: format!(
                r#"{{"schemaVersion":2,"mediaType":"{index}","artifactType":"{provider}","manifests":[{{"mediaType":"{manifest}","artifactType":"{target}","digest":"DIGEST","size":SIZE,"platform":{platform}}}]}}"#
            ),
            tags: format!(
                r#"{{"schemaVersion":2,"manifests":[{{"mediaType":"{index}","digest":"DIGEST","size":SIZE,"annotations":{{"org.opencontainers.image.ref.name":"1.0.0"}}}}]}}"#
            ),
            marker: r#"{"imageLayoutVersion":"1.0.0"}"#.to_owned(),
        }
    }

    /// Writes the layout. Returns the paths of its blobs: package, manifest, index.
    pub fn write(&self, directory: &Path) -> [PathBuf; 3] {
        let put = |bytes: &[u8]| {
            let path = blob(directory, bytes);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, bytes).unwrap();
            path
        };
        let manifest = filled(&self.manifest, &self.package);
        let index = filled(&self.index, manifest.as_bytes());
        let tags = filled(&self.tags, index.as_bytes());
        let paths = [&self.package, manifest.as_bytes(), index.as_bytes()].map(put);
        fs::write(directory.join("oci-layout"), &self.marker).unwrap();
        fs::write(directory.join("index.json"), tags).unwrap();
        paths
    }
}

/// The zip of the fixture with the simplest manifest.
fn package() -> Vec<u8> {
    let digest = "e5c36de5375bd25bfba85f2a850bec35526febc3eae5dacd7ed7221208723874";
    fs::read(
        layouts()
            .join("good-empty-config/blobs/sha256")
            .join(digest),
    )
    .unwrap()
}

fn filled(document: &str, below: &[u8]) -> String {
    let document = document.replace("DIGEST", &digest(below));
    document.replace("SIZE", &below.len().to_string())
}

/// `sha256:HEX`.
pub fn digest(bytes: &[u8]) -> String {
    let hex: String = Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("sha256:{hex}")
}

/// The path of these bytes in a layout.
pub fn blob(directory: &Path, bytes: &[u8]) -> PathBuf {
    let digest = digest(bytes);
    directory.join("blobs").join(digest.replace(':', "/"))
}
