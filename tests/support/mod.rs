//! What tests share: an independent reader, signers, releases, doubles of servers, and scenes to run the program in.

pub mod author;
pub mod codes;
pub mod dice;
pub mod docker_registry;
pub mod expected;
#[cfg(unix)]
pub mod files;
pub mod hints;
pub mod hostile;
pub mod judge;
pub mod keygrammar;
pub mod layout;
pub mod layout_of_registry;
pub mod origin;
pub mod port;
pub mod programs;
pub mod registry;
pub mod release;
pub mod scene;
pub mod server;
#[cfg(unix)]
pub mod signal;
pub mod signer;
pub mod tamper;
#[cfg(unix)]
pub mod tar;
#[cfg(target_os = "linux")]
pub mod terminal;
pub mod tls;
pub mod tofu_client;
pub mod token_server;
pub mod wait;
pub mod zipfile;

use std::path::{Path, PathBuf};

/// A path in `testdata`.
pub fn testdata(path: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join("testdata").join(path)
}

/// A scene with the certificate of the shared authority in `ca.pem`, which clients trust.
pub fn trusting() -> scene::Scene {
    let scene = scene::Scene::new();
    let path = tls::Authority::shared().write(&scene, "ca.pem");
    scene.env("SSL_CERT_FILE", path.to_str().unwrap())
}

/// Copies a directory of plain files and directories.
pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}
