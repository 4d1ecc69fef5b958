//! Bundles: one tar for a disk, written by `copy` and read by every command.

use std::fs;
use std::path::PathBuf;

use crate::support::author::Author;
use crate::support::dice::Dice;
use crate::support::judge;
use crate::support::release::ReleaseFolder;
use crate::support::scene::Run;
use crate::support::tar::Tar;

/// What a delta leaves out, and what its target must have.
mod delta;
/// Files that tfoci did not write.
mod hostile;
/// Parts of a set.
mod parts;
/// Every command reads a bundle, and other tools do.
mod read;
/// Writing, after a kill too.
mod write;

const STORE: &str = "oci-layout:store";
const HOST: &str = "registry.opentofu.org";
const LINUX: &str = "linux_amd64";
const DARWIN: &str = "darwin_arm64";

/// Three versions of two providers in `store`. The packages of one are as large as those that are not kept in memory.
pub fn filled() -> Author {
    let author = Author::new();
    for (name, version) in [("demo", "1.0.0"), ("demo", "1.1.0"), ("other", "2.0.0+b.1")] {
        push(&author, name, version, 80 << 10);
    }
    author
}

/// Pushes a signed version with executables of so many bytes.
fn push(author: &Author, name: &str, version: &str, size: usize) {
    let executable = format!("terraform-provider-{name}_v{version}");
    let mut release = ReleaseFolder::new(name, version);
    let seed = executable.bytes().map(u64::from);
    let mut dice = Dice::new(seed.fold(0, |sum: u64, byte| sum.rotate_left(5) ^ byte));
    for platform in [LINUX, DARWIN] {
        release = release.package(platform, &[(&executable, &dice.noise(size))]);
    }
    let folder = format!("dist-{name}-{version}");
    release.write(&author.path(&folder));
    let push = format!("push {folder} --provider acme/{name}@{version}");
    let to = "--key acme.asc --to oci-layout:store";
    author.line(format!("{push} {to}")).succeeds();
}

/// Pushes the packages of `demo` 1.0.0 under the address of another host.
fn push_elsewhere(author: &Author) {
    let other = "push dist-demo-1.0.0 --provider example.com/acme/demo";
    let to = "--key acme.asc --to oci-layout:store";
    author.line(format!("{other} {to}")).succeeds();
}

/// `tfoci copy --from … --to …` with two addresses and further arguments.
fn copy(author: &Author, arguments: impl AsRef<str>) -> Run {
    let (from, rest) = arguments.as_ref().split_once(' ').unwrap();
    author.line(format!("copy --from {from} --to {rest}"))
}

/// Copies the store into a bundle. Returns its path.
fn bundled(author: &Author, name: &str, more: &str) -> PathBuf {
    copy(author, format!("{STORE} bundle:{name} {more}")).succeeds();
    author.path(name)
}

/// Asserts that a store verifies.
#[track_caller]
fn verifies(author: &Author, from: &str) {
    let verify = format!("verify --from {from} --key acme.asc");
    author.line(verify).succeeds();
}

/// The bytes of a bundle.
fn read(author: &Author, name: &str) -> Vec<u8> {
    fs::read(author.path(name)).unwrap()
}

/// The members of a bundle.
fn members(author: &Author, name: &str) -> Tar {
    Tar::read(&read(author, name))
}

/// A bundle with another text in one of its lists.
fn with(tar: &Tar, place: usize, from: &str, to: &str) -> Tar {
    let mut changed = tar.clone();
    let text = String::from_utf8(tar.0[place].bytes.clone()).unwrap();
    assert!(text.contains(from), "{from}");
    changed.0[place].bytes = text.replacen(from, to, 1).into_bytes();
    changed
}

/// The digests of the packages in the author's release folders, in hex.
pub fn zips(author: &Author, folder: &str) -> Vec<String> {
    let entries = fs::read_dir(author.path(folder)).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let zips = paths.filter(|path| path.extension().is_some_and(|end| end == "zip"));
    zips.map(|path| judge::sha256(&path)).collect()
}
