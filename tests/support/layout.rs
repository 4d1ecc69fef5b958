//! A small image layout of `acme/demo` 1.0.0 for linux_amd64 in parts: any document can be altered before the digests above
//! it are computed.

use std::fs;
use std::path::{Path, PathBuf};

use super::expected::layouts;
use super::release::sha256;

/// A package among the fixtures.
const PACKAGE: &str = "good-empty-config/blobs/sha256/e5c36de5375bd25bfba85f2a850bec35526febc3eae5dacd7ed7221208723874";

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
            // The fixture with the simplest manifest.
            package: fs::read(layouts().join(PACKAGE)).unwrap(),
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

    /// The same with another zip, as another tool would make it: without evidence.
    pub fn of(zip: &[u8]) -> Self {
        Self {
            package: zip.to_vec(),
            ..Self::good()
        }
    }

    /// Writes the layout. Returns the paths of its blobs: package, manifest, index.
    pub fn write(&self, directory: &Path) -> [PathBuf; 3] {
        let manifest = filled(&self.manifest, &self.package);
        let index = filled(&self.index, manifest.as_bytes());
        let tags = filled(&self.tags, index.as_bytes());
        let all = [&self.package, manifest.as_bytes(), index.as_bytes()];
        let paths = all.map(|bytes| store(directory, bytes));
        fs::write(directory.join("oci-layout"), &self.marker).unwrap();
        fs::write(directory.join("index.json"), tags).unwrap();
        paths
    }
}

fn filled(document: &str, below: &[u8]) -> String {
    let document = document.replace("DIGEST", &digest(below));
    document.replace("SIZE", &below.len().to_string())
}

/// `sha256:HEX`.
pub fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", sha256(bytes))
}

/// The path of these bytes in a layout.
pub fn blob(directory: &Path, bytes: &[u8]) -> PathBuf {
    place(directory, &digest(bytes))
}

/// The path of a digest in a layout.
pub fn place(directory: &Path, digest: &str) -> PathBuf {
    directory.join("blobs").join(digest.replace(':', "/"))
}

/// Stores bytes in a layout. Returns their path.
pub fn store(directory: &Path, bytes: &[u8]) -> PathBuf {
    let path = blob(directory, bytes);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, bytes).unwrap();
    path
}
