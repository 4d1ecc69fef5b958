//! The clients' plugin cache: `tfoci install` fills it, and makes hard links to its files. Terraform since 1.15.4 refuses symbolic ones.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, fcntl_lock};

use crate::clients::{init, run};
use crate::support::judge;
use crate::support::origin::{Origin, asks};
use crate::support::scene::Scene;

use super::installs::{self, LOCK, install, project};
use super::{clients, platforms, read};

/// A cache that is empty, and a project that requires two providers.
fn given() -> (Origin, Scene) {
    let (origin, scene) = installs::given();
    let cache = scene.path("cache");
    fs::create_dir(&cache).unwrap();
    let scene = scene.env("TF_PLUGIN_CACHE_DIR", cache.to_str().unwrap());
    (origin, scene)
}

/// The path of `acme/other` in a cache or in the providers of a project.
fn package(origin: &Origin) -> PathBuf {
    let here = &platforms()[0];
    Path::new(origin.host()).join(format!("acme/other/3.1.4/{here}"))
}

/// The package of `acme/other` in the project, and in the cache.
fn packages(scene: &Scene, origin: &Origin) -> [PathBuf; 2] {
    ["ours/.terraform/providers", "cache"].map(|at| scene.path(at).join(package(origin)))
}

fn files(directory: &Path) -> Vec<(String, String)> {
    // OpenTofu leaves a lock file beside each package, and Terraform does not.
    let tree = judge::tree(directory).into_iter();
    tree.filter(|(name, _)| !name.ends_with(".lock")).collect()
}

/// Whether a path or anything below it is a symbolic link.
pub fn has_link(path: &Path) -> bool {
    let entries = || fs::read_dir(path).unwrap();
    path.is_symlink() || path.is_dir() && entries().any(|entry| has_link(&entry.unwrap().path()))
}

#[test]
fn clients_accept_the_cache_and_the_packages() {
    for client in clients() {
        let (origin, scene) = given();
        install(&scene, &format!("--client {client}")).succeeds();
        assert!(!has_link(&scene.path("ours/.terraform/providers")));

        fs::create_dir(scene.path("their-cache")).unwrap();
        let cache = scene.path("their-cache");
        let theirs = scene.env("TF_PLUGIN_CACHE_DIR", cache.to_str().unwrap());
        project(&theirs, &origin, "theirs");
        init(&theirs, "theirs", client).succeeds();
        let [ours, cached] = ["cache", "their-cache"].map(|name| theirs.path(name));
        assert_eq!(files(&ours), files(&cached), "{client}");
        if client == "tofu" {
            assert_eq!(judge::tree(&ours), judge::tree(&cached));
        }
        let providers = |name: &str| files(&theirs.path(format!("{name}/.terraform")));
        assert_eq!(providers("ours"), providers("theirs"), "{client}");
        let lock = |name: &str| read(&theirs, &format!("{name}/.terraform.lock.hcl"));
        assert_eq!(lock("ours"), lock("theirs"), "{client}");

        let directory = theirs.path("ours");
        for cache in ["", cached.to_str().unwrap()] {
            let mut init = theirs.command(client);
            let init = init.current_dir(&directory).args(["init", "-no-color"]);
            let output = init.env("TF_PLUGIN_CACHE_DIR", cache).output().unwrap();
            assert!(output.status.success(), "{client} {cache}: {output:?}");
            assert_eq!(lock("ours"), lock("theirs"), "{client}");
            // What a client linked is replaced.
            install(&theirs, &format!("--client {client}")).succeeds();
            assert!(!has_link(&theirs.path("ours/.terraform/providers")));
        }
    }
}

/// Clients do not download again what tfoci put into the cache. OpenTofu does not even request the list of versions.
#[test]
fn clients_use_the_cache_that_tfoci_has_filled() {
    for client in clients() {
        let (origin, scene) = given();
        install(&scene, &format!("--client {client}")).succeeds();
        project(&scene, &origin, "other");
        let lock = read(&scene, LOCK);
        scene.write("other/.terraform.lock.hcl", &lock);
        origin.forget();
        let directory = scene.path("other");
        let said = init(&scene, "other", client).succeeds().stdout;
        assert!(said.contains("from the shared cache directory"), "{said}");
        assert_eq!(origin.count(asks("package")), 0);
        assert_eq!(origin.count(asks("download")), 0);
        assert_eq!(read(&scene, "other/.terraform.lock.hcl"), lock);
        drop(origin);
        if client == "tofu" {
            fs::remove_dir_all(scene.path("other/.terraform")).unwrap();
            init(&scene, "other", client).succeeds();
        }
        // Terraform always requests the list of versions, unless all providers are in a directory.
        let all = ["init", "-no-color", "-plugin-dir=.terraform/providers"];
        run(&scene, &directory, client, all).succeeds();
        assert_eq!(read(&scene, "other/.terraform.lock.hcl"), lock);
    }
}

#[test]
fn a_locked_package_in_the_cache_is_shared_and_not_downloaded() {
    let (origin, scene) = given();
    install(&scene, "").succeeds();
    let lock = read(&scene, LOCK);
    fs::remove_dir_all(scene.path("ours/.terraform")).unwrap();
    origin.forget();
    install(&scene, "--dry-run").succeeds();
    assert!(!scene.path("ours/.terraform").exists());
    install(&scene, "").succeeds().tells("Installed");
    let [ours, cached] = packages(&scene, &origin)
        .map(|package| package.join("README.md").metadata().unwrap().ino());
    assert_eq!(ours, cached);
    install(&scene, "").succeeds().tells("Present");
    assert_eq!(origin.count(asks("package")), 0);
    assert_eq!(read(&scene, LOCK), lock);
    // Without a lock file nothing proves it, so it is downloaded and compared.
    fs::remove_file(scene.path(LOCK)).unwrap();
    install(&scene, "").succeeds();
    assert_eq!(origin.count(asks("package")), 2);
    assert_eq!(read(&scene, LOCK), lock);
}

#[test]
fn obstacles_are_replaced_only_if_nothing_is_lost() {
    let (origin, scene) = given();
    install(&scene, "").succeeds();
    let [path, in_cache] = packages(&scene, &origin);
    let whole = judge::tree(&in_cache);
    let is_there = || !has_link(&path) && judge::tree(&path) == whole;

    // A link to elsewhere.
    fs::remove_dir_all(&path).unwrap();
    fs::create_dir(scene.path("elsewhere")).unwrap();
    symlink(scene.path("elsewhere"), &path).unwrap();
    install(&scene, "").succeeds();
    assert!(is_there());
    assert_eq!(fs::read_dir(scene.path("elsewhere")).unwrap().count(), 0);

    // An empty directory, and one that has the package.
    fs::remove_dir_all(&path).unwrap();
    fs::create_dir(&path).unwrap();
    install(&scene, "").succeeds();
    assert!(is_there());
    fs::remove_dir_all(&path).unwrap();
    crate::support::copy(&in_cache, &path);
    install(&scene, "").succeeds();
    assert!(is_there());

    // Something else.
    fs::write(path.join("mine"), "mine").unwrap();
    install(&scene, "").exits(3);
    assert!(path.join("mine").exists());
    fs::remove_dir_all(&path).unwrap();

    install(&scene, "").succeeds();
    assert_eq!(judge::tree(&in_cache), whole);

    // An altered package in the cache is not used and not replaced: OpenTofu refuses it too.
    fs::remove_dir_all(&path).unwrap();
    fs::write(in_cache.join("README.md"), "altered").unwrap();
    install(&scene, "").exits(3).tells("cache");
    assert!(!path.exists());
    assert_eq!(fs::read(in_cache.join("README.md")).unwrap(), b"altered");
}

#[test]
fn the_configuration_of_clients_names_the_cache() {
    let (origin, scene) = installs::given();
    fs::create_dir(scene.path("cache")).unwrap();
    let hosts = read(&scene, "client.tfrc");
    let settings = "plugin_cache_dir = \"$HOME/cache\"\n";
    scene.write("client.tfrc", format!("{settings}{hosts}"));
    install(&scene, "").succeeds();
    let [path, in_cache] = packages(&scene, &origin);
    assert!(in_cache.is_dir());
    // Every line of the signed document, not only the `h1` that such clients record.
    assert!(read(&scene, LOCK).contains("zh:"));

    // If the cache does not exist, clients continue without it.
    fs::remove_dir_all(scene.path("ours/.terraform")).unwrap();
    let scene = scene.env("TF_PLUGIN_CACHE_DIR", "/nowhere");
    install(&scene, "").succeeds().tells(" /nowhere ");
    assert!(path.is_dir());
}

/// OpenTofu holds this lock while it installs.
#[test]
fn a_running_client_is_waited_for() {
    let (origin, scene) = given();
    let [installed, path] = packages(&scene, &origin);
    let path = path.with_file_name(format!("{}.lock", platforms()[0]));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let held = fs::File::create(&path).unwrap();
    fcntl_lock(&held, FlockOperation::LockExclusive).unwrap();
    let mut child = scene.piped("install --chdir ours").spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    while !said.contains("Waiting for another process that holds") {
        assert_ne!(lines.read_line(&mut said).unwrap(), 0, "{said}");
    }
    assert!(said.contains(path.to_str().unwrap()), "{said}");
    assert!(!installed.exists());
    drop(held);
    lines.read_to_string(&mut said).unwrap();
    assert!(child.wait().unwrap().success(), "{said}");
    assert!(installed.is_dir());
}

/// Two projects that share one cache, at once.
#[test]
fn two_runs_share_one_cache() {
    let (origin, scene) = given();
    project(&scene, &origin, "second");
    let mut both = ["ours", "second"].map(|name| {
        scene
            .piped(format!("install --chdir {name}"))
            .spawn()
            .unwrap()
    });
    assert!(both.iter_mut().all(|child| child.wait().unwrap().success()));
    let tree = |name: &str| judge::tree(&scene.path(format!("{name}/.terraform")));
    assert_eq!(tree("ours"), tree("second"));
    let left = judge::tree(&scene.path("cache"));
    let is_hidden = |name: &String| name.contains(".tfoci");
    assert!(!left.keys().any(is_hidden), "{left:?}");
}

/// A client that had a plugin cache leaves it.
#[test]
fn a_link_that_is_left_without_the_cache_is_replaced() {
    let (origin, scene) = given();
    install(&scene, "").succeeds();
    let [path, in_cache] = packages(&scene, &origin);
    let whole = judge::tree(&in_cache);
    fs::remove_dir_all(&path).unwrap();
    symlink(&in_cache, &path).unwrap();
    let scene = scene.env("TF_PLUGIN_CACHE_DIR", "");
    install(&scene, "--dry-run").succeeds();
    assert!(path.is_symlink());
    install(&scene, "").succeeds();
    assert!(!has_link(&path));
    assert_eq!(judge::tree(&path), whole);
    assert_eq!(judge::tree(&in_cache), whole);
}
