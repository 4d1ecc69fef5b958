//! Packages that are unpacked while they arrive from a registry: the tree is that of their zip, or nothing is there.

use std::collections::BTreeMap;
use std::fs;

use super::{DEMO, Facts, push, tree};
use crate::support::judge;
use crate::support::registry::{Fault, Registry, matching};
use crate::support::release::ReleaseFolder;
use crate::support::scene::{Run, Scene};
use crate::support::zipfile::{EXECUTABLE, File, directory, executable, file, zip};

/// A registry with one package.
struct Given {
    scene: Scene,
    registry: Registry,
    store: String,
    /// Of requests for the zip.
    path: String,
}

impl Given {
    fn new(zip: &[u8]) -> Self {
        let (scene, registry) = (Scene::new(), Registry::plain());
        scene.write(".docker/config.json", registry.authfile());
        let release = ReleaseFolder::new("demo", "1.0.0").zip("linux_amd64", zip);
        push(&scene, DEMO, "1.0.0", &release);
        let zh = Facts::of_demo(&scene, "linux_amd64").zh;
        let host = registry.host();
        let store = format!("{host}/{{namespace}}/{{type}} --plain-http {host}");
        let copy = format!("copy --from oci-layout:store --to {store}");
        scene.line(copy).succeeds();
        Self {
            store,
            path: zh.replace("zh:", "/blobs/sha256:"),
            scene,
            registry,
        }
    }

    /// Runs a command, with the version and the store as its last words.
    fn line(&self, command: &str) -> Run {
        let store = &self.store;
        self.scene.line(format!("{command} {DEMO} --from {store}"))
    }

    fn install(&self) -> Run {
        self.line("install --into mirror --unpacked --platform linux_amd64")
    }

    fn fault(&self, fault: Fault) {
        self.registry.fault(1, matching("GET", &self.path), fault);
    }

    fn downloads(&self) -> usize {
        self.registry.count(matching("GET", &self.path))
    }

    /// The installed files, by their names in the package.
    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let package = "example.com/acme/demo/1.0.0/linux_amd64/";
        let files = tree(&self.scene.path("mirror")).into_iter();
        files
            .map(|(name, content)| (name.strip_prefix(package).unwrap().to_owned(), content))
            .collect()
    }

    fn locked(&self) -> String {
        fs::read_to_string(self.scene.path(".terraform.lock.hcl")).unwrap()
    }
}

/// Zips, each with the number of downloads that unpacking it takes: it arrives, or is read from a file, at once or in a second attempt.
fn zips() -> [(&'static str, Vec<u8>, usize); 3] {
    let streamed = large().deflated().streamed();
    [
        (
            "arriving",
            zip([executable(), streamed, directory("docs/")]),
            1,
        ),
        ("from a file", zip([large().streamed(), executable()]), 1),
        (
            "from a file after all",
            zip([executable(), large().streamed()]),
            2,
        ),
    ]
}

fn noise() -> Vec<u8> {
    let numbers = 0..500_000u32;
    numbers.map(|n| (n.wrapping_mul(n) >> 11) as u8).collect()
}

fn large() -> File {
    file("docs/noise", noise())
}

#[test]
fn each_zip_is_unpacked() {
    for (label, zip, downloads) in zips() {
        let given = Given::new(&zip);
        given.install().succeeds();
        assert_eq!(given.downloads(), downloads, "{label}");
        let expected = [(EXECUTABLE, b"hello\n".to_vec()), ("docs/noise", noise())];
        let expected = expected.map(|(name, content)| (name.to_owned(), content));
        assert_eq!(given.files(), BTreeMap::from(expected), "{label}");
    }
}

#[test]
fn an_interrupted_download_is_resumed() {
    let given = Given::new(&zip([executable(), large().deflated()]));
    given.fault(Fault::cut_body(200_000));
    given.install().succeeds();
    assert_eq!(given.downloads(), 2);
    assert_eq!(given.files()["docs/noise"], noise());
}

#[test]
fn a_package_that_does_not_verify_never_appears() {
    let said = "the bytes do not match their digest";
    for files in [
        [executable(), large()],
        [executable(), large().deflated()],
        [executable(), large().deflated().streamed()],
        [executable(), large().streamed()],
    ] {
        let bytes = zip(files);
        // Another length of a block, at which the inflater stops.
        let length = 30 + EXECUTABLE.len() + 6 + 30 + "docs/noise".len() + 1;
        let with = |at: usize| {
            let mut wrong = bytes.clone();
            wrong[at] ^= 1;
            Fault::alter(move |answer| answer.body = wrong.clone().into())
        };
        for (label, fault) in [
            ("content", Fault::wrong_bytes()),
            ("block", with(length)),
            ("version", with(4)),
            ("flags", with(6)),
            ("end", with(bytes.len() - 1)),
        ] {
            let given = Given::new(&bytes);
            given.fault(fault);
            let run = given.install().exits(3);
            assert!(run.stderr.contains(said), "{label}\n{}", run.stderr);
            assert_eq!(given.downloads(), 1, "{label}");
            let left = judge::tree(&given.scene.path("mirror"));
            assert_eq!(left.keys().collect::<Vec<_>>(), ["/"]);
        }
    }
}

#[test]
fn installed_packages_are_not_touched() {
    let given = Given::new(&zip([executable(), large()]));
    given.install().succeeds();
    let there = given.files();
    given.install().succeeds();
    assert_eq!(given.files(), there);
    let package = "mirror/example.com/acme/demo/1.0.0/linux_amd64";
    let changed = given.scene.path(package).join("docs/noise");
    fs::write(changed, "mine").unwrap();
    let run = given.install().exits(3);
    let said = "
  received h1:Qaij3L6HTD2w0A24A0U2ePEExOfVsQJsTLUA+73oJ4w=
";
    run.tells(said);
    assert_eq!(given.files()["docs/noise"], b"mine");
}

/// As for an installation, but nothing is written except the lock file: without a directory for temporary files, the rest fails.
#[test]
fn the_h1_of_a_zip_is_computed_while_it_arrives() {
    let lock = |given: &Given| given.line("lock --h1 --platform linux_amd64");
    for (label, zip, downloads) in zips() {
        let mut given = Given::new(&zip);
        lock(&given).succeeds();
        assert_eq!(given.downloads(), downloads, "{label}");
        let Facts { directory_h1, .. } = Facts::of_demo(&given.scene, "linux_amd64");
        let locked = given.locked();
        assert!(locked.contains(&directory_h1), "{label}\n{locked}");

        fs::remove_file(given.scene.path(".terraform.lock.hcl")).unwrap();
        given.scene = given.scene.env("TMPDIR", "/nowhere");
        if label == "arriving" {
            lock(&given).succeeds();
            assert_eq!(given.locked(), locked);
        } else {
            lock(&given).exits(1).tells("temporary file");
        }
    }
}

#[test]
fn the_h1_of_wrong_bytes_is_never_recorded() {
    for files in [
        [executable(), large().deflated()],
        [executable(), large().streamed()],
    ] {
        let given = Given::new(&zip(files));
        given.fault(Fault::wrong_bytes());
        let run = given.line("lock --h1").exits(3);
        run.tells("the bytes do not match their digest");
        assert!(!given.scene.path(".terraform.lock.hcl").exists());
    }
}
