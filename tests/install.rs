//! `install`: which versions and platforms, in which form, and what is refused.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use crate::support::author;
use crate::support::release::ReleaseFolder;
pub use crate::support::release::sha256;
use crate::support::scene::{Run, Scene};
use crate::support::signer::Signer;

/// Packages that are unpacked during the download.
mod arriving;
/// Packages that the mirror already has.
mod existing;
/// Packed and unpacked: paths, modes, hashes.
pub mod forms;
/// For which platforms.
mod platforms;
/// Which versions of which providers.
mod selection;
/// Several providers, of which some fail.
mod several;
/// Packages and evidence that do not verify.
mod trust;

/// A provider that most tests install.
pub const DEMO: &str = "example.com/acme/demo";

/// A release of `demo` for two platforms.
pub fn demo(version: &str) -> ReleaseFolder {
    ReleaseFolder::new("demo", version)
        .platform("linux_amd64")
        .platform("windows_arm64")
}

/// A scene whose store has one version of `demo`.
pub fn with_demo() -> Scene {
    let scene = Scene::new();
    push(&scene, DEMO, "1.0.0", &demo("1.0.0"));
    scene
}

/// Pushes a release, which stays in `releases/ADDRESS/VERSION`.
pub fn push(scene: &Scene, address: &str, version: &str, release: &ReleaseFolder) {
    let folder = released(scene, address, version);
    release.write(&folder);
    scene.write("acme.asc", Signer::acme().public_armored());
    let push = format!("push {} --provider {address}@{version}", folder.display());
    let to = "--to oci-layout:store --key acme.asc";
    scene.line(format!("{push} {to}")).succeeds();
}

/// The folder that a version was pushed from.
pub fn released(scene: &Scene, address: &str, version: &str) -> PathBuf {
    scene.path("releases").join(address).join(version)
}

/// Installs from the store into `mirror`.
pub fn install(scene: &Scene, arguments: impl AsRef<str>) -> Run {
    let always = "install --from oci-layout:store --into mirror";
    scene.line(format!("{always} {}", arguments.as_ref()))
}

/// Installs the zip of the usual provider for Linux.
fn install_linux(scene: &Scene, arguments: impl AsRef<str>) -> Run {
    let always = format!("{DEMO} --platform linux_amd64");
    install(scene, format!("{always} {}", arguments.as_ref()))
}

/// Replaces times and the key, which differ between runs.
pub fn steady(text: &str) -> String {
    let run = Run {
        status: None,
        stdout: text.to_owned(),
        stderr: String::new(),
    };
    author::steady(run).stdout
}

/// Every file below a directory with its content, without tfoci's lock file. Empty directories are left out.
pub fn tree(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(directory: &Path, prefix: &str, found: &mut BTreeMap<String, Vec<u8>>) {
        for entry in fs::read_dir(directory).into_iter().flatten() {
            let entry = entry.unwrap();
            let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
            if entry.path().is_dir() {
                walk(&entry.path(), &format!("{name}/"), found);
            } else if name != ".tfoci.lock" {
                found.insert(name, fs::read(entry.path()).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(directory, "", &mut found);
    found
}

/// The names of all files below a directory, without tfoci's lock file.
pub fn names(directory: &Path) -> Vec<String> {
    tree(directory).into_keys().collect()
}

/// The size and hashes of a zip, computed independently of tfoci.
pub struct Facts {
    pub size: u64,
    pub zh: String,
    /// Of the zip, with its directory entries.
    pub h1: String,
    /// Of the directory that it unpacks to.
    pub directory_h1: String,
}

impl Facts {
    pub fn of(zip: &Path) -> Self {
        let bytes = fs::read(zip).unwrap();
        let mut archive = zip::ZipArchive::new(fs::File::open(zip).unwrap()).unwrap();
        let mut files = BTreeMap::new();
        for place in 0..archive.len() {
            let mut entry = archive.by_index(place).unwrap();
            let name = entry.name().unwrap().into_owned();
            let mut content = Vec::new();
            std::io::copy(&mut entry, &mut content).unwrap();
            files.insert(name, content);
        }
        let h1 = h1(&files);
        files.retain(|name, _| !name.ends_with('/'));
        Self {
            size: bytes.len() as u64,
            zh: format!("zh:{}", sha256(&bytes)),
            h1,
            directory_h1: self::h1(&files),
        }
    }

    /// Of the demo release that [`with_demo`] pushes.
    pub fn of_demo(scene: &Scene, platform: &str) -> Self {
        let name = format!("terraform-provider-demo_1.0.0_{platform}.zip");
        Self::of(&released(scene, DEMO, "1.0.0").join(name))
    }
}

fn h1(files: &BTreeMap<String, Vec<u8>>) -> String {
    let files = files.iter();
    let lines = files.map(|(name, content)| format!("{}  {name}\n", sha256(content)));
    let digest = Sha256::digest(lines.collect::<String>());
    format!("h1:{}", STANDARD.encode(digest))
}

/// The blob of a package of the demo release that [`with_demo`] pushes.
pub fn blob(scene: &Scene, platform: &str) -> PathBuf {
    let digest = Facts::of_demo(scene, platform).zh.replace("zh:", "");
    let layout = scene.path("store").join(DEMO);
    layout.join("blobs/sha256").join(digest)
}
