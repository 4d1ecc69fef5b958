use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::ops::Deref;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::programs::has;
use crate::support::release::{ReleaseFolder, sha256};
use crate::support::scene::Scene;
use crate::support::signer::Signer;
use crate::support::tofu_client::{self, Refusal};

/// The platforms of the release in most tests.
pub const PLATFORMS: [&str; 2] = ["darwin_arm64", "linux_amd64"];
/// The provider's place in a store and in a mirror.
pub const PROVIDER: &str = "registry.opentofu.org/acme/demo";
/// The beginning of the names of unfinished files and directories.
const UNFINISHED: &str = ".tfoci-tmp-";

/// A scene with the release `demo` 1.0.0 in `dist`, and its author's key.
pub struct LayoutScene {
    pub scene: Scene,
}

/// A version as readers see it in a store.
#[derive(Debug, PartialEq, Eq)]
pub struct Seen {
    /// The platforms, each with the `zh` of its package.
    packages: BTreeMap<String, String>,
    /// What `tfoci inspect` prints, with the signer.
    inspected: String,
}

/// A file's bytes or a directory, and its mode.
pub type Tree = BTreeMap<PathBuf, (Option<Vec<u8>>, u32)>;

/// The files and directories that a run has left: their paths without what is random, bytes, modes, and numbers of links.
pub type Remains = Vec<(PathBuf, Option<Vec<u8>>, u32, u64)>;

impl Deref for LayoutScene {
    type Target = Scene;

    fn deref(&self) -> &Scene {
        &self.scene
    }
}

/// The line that pushes `dist` into a store.
pub fn push(store: &str, more: &str) -> String {
    let push = "push dist --provider registry.opentofu.org/acme/demo --key acme.asc --jobs 1";
    format!("{push} --to oci-layout:{store} {more}")
}

/// The line that installs from the store `store` into a directory.
pub fn install(into: &str, more: &str) -> String {
    let install = "install acme/demo --from oci-layout:store --key acme.asc --jobs 1";
    format!("{install} --platform all --into {into} {more}")
}

/// The line that writes a site of the store `store` into a directory.
pub fn site(into: &str) -> String {
    format!("site {into} acme/demo --from oci-layout:store --key acme.asc --jobs 1")
}

/// The line that copies the store `store` into another.
pub fn copy(to: &str) -> String {
    format!("copy --from oci-layout:store --key acme.asc --jobs 1 --to oci-layout:{to}")
}

impl LayoutScene {
    pub fn new(platforms: &[&str]) -> Self {
        let scene = Scene::new().env("TOKIO_WORKER_THREADS", "1");
        scene.write("acme.asc", Signer::acme().public_armored());
        let release = ReleaseFolder::new("demo", "1.0.0").each(platforms);
        release.write(&scene.path("dist"));
        Self { scene }
    }

    /// Runs `tfoci`, asserts success, and returns its stdout.
    #[track_caller]
    pub fn succeeds(&self, line: impl AsRef<str>) -> String {
        self.line(line).succeeds().stdout
    }

    pub fn tree(&self, directory: &str) -> Tree {
        let mut tree = Tree::new();
        collect(&self.path(directory), Path::new(""), &mut tree);
        tree
    }

    pub fn remains(&self, directory: &str) -> Remains {
        let root = self.path(directory);
        let steady = |name: &OsStr| match name.to_str().unwrap().starts_with(UNFINISHED) {
            true => UNFINISHED.into(),
            false => name.to_owned(),
        };
        let nodes = self.tree(directory).into_iter();
        let nodes = nodes.map(|(path, (content, mode))| {
            let links = fs::symlink_metadata(root.join(&path)).unwrap().nlink();
            (path.iter().map(steady).collect(), content, mode, links)
        });
        let mut remains: Remains = nodes.collect();
        remains.sort();
        remains
    }

    /// Replaces a directory with a copy of another one, or removes it if there is no other one.
    pub fn reset(&self, directory: &str, copy_of: Option<&str>) {
        let path = self.path(directory);
        if path.exists() {
            fs::remove_dir_all(&path).unwrap();
        }
        let copied = copy_of.map(|original| self.tree(original));
        for (name, (content, _)) in copied.into_iter().flatten() {
            match content {
                Some(bytes) => fs::write(path.join(name), bytes).unwrap(),
                None => fs::create_dir_all(path.join(name)).unwrap(),
            }
        }
    }

    /// What readers see of version 1.0.0 in a store: nothing, or the whole version. Panics if they see a part of it.
    #[track_caller]
    pub fn seen(&self, store: &str) -> Option<Seen> {
        let layout = self.path(store).join(PROVIDER);
        let versions = match tofu_client::versions(&layout) {
            Ok(versions) => versions,
            Err(Refusal::NoLayout(_)) => Vec::new(),
            Err(refusal) => panic!("half visible: {refusal}"),
        };
        let from = format!("oci-layout:{store}");
        let inspect = format!("inspect acme/demo@1.0.0 --key acme.asc --from {from}");
        let inspected = self.line(inspect);
        if versions.is_empty() {
            assert_eq!(inspected.status, Some(1), "{}", inspected.stdout);
            return None;
        }
        assert_eq!(versions, ["1.0.0"]);
        let mut packages = BTreeMap::new();
        for (os, arch) in tofu_client::platforms(&layout, "1.0.0").unwrap() {
            let package = tofu_client::install(&layout, "1.0.0", &os, &arch).unwrap();
            packages.insert(format!("{os}_{arch}"), package.zh);
        }
        let inspected = inspected.succeeds().stdout.replace(&from, "[STORE]");
        if let Some(digest) = by_skopeo(&layout) {
            let is_seen = inspected.contains(&digest);
            assert!(is_seen, "skopeo sees {digest}:\n{inspected}");
        }
        Some(Seen {
            packages,
            inspected,
        })
    }

    /// The inode of each file, which distinguishes a file that stayed from one that was written again.
    pub fn inodes(&self, directory: &str) -> BTreeMap<PathBuf, u64> {
        let root = self.path(directory);
        let inode = |name: &PathBuf| fs::metadata(root.join(name)).unwrap().ino();
        let names = self.tree(directory).into_keys();
        names.map(|name| (name.clone(), inode(&name))).collect()
    }
}

/// The digest of the index that `skopeo` sees.
#[track_caller]
fn by_skopeo(layout: &Path) -> Option<String> {
    let image = format!("oci:{}:1.0.0", layout.to_str().unwrap());
    if !has("skopeo") {
        return None;
    }
    let inspect = ["inspect", "--raw", &image];
    let output = Command::new("skopeo").args(inspect).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    Some(sha256(&output.stdout))
}

/// The unfinished files and directories of a tree.
pub fn unfinished(tree: &Tree) -> Vec<&Path> {
    let hidden = |path: &&PathBuf| path.to_str().unwrap().contains(UNFINISHED);
    tree.keys().filter(hidden).map(PathBuf::as_path).collect()
}

fn collect(root: &Path, relative: &Path, tree: &mut Tree) {
    let path = root.join(relative);
    let Ok(metadata) = fs::symlink_metadata(&path) else {
        return;
    };
    let content = metadata.is_file().then(|| fs::read(&path).unwrap());
    let is_directory = content.is_none();
    tree.insert(relative.to_owned(), (content, metadata.mode() & 0o7777));
    if is_directory {
        for entry in fs::read_dir(&path).unwrap() {
            collect(root, &relative.join(entry.unwrap().file_name()), tree);
        }
    }
}
