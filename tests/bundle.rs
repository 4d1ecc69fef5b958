//! Bundles: one tar for a disk, written by `copy` and read by every command.

use std::fs;
use std::path::PathBuf;

use crate::support::author::Author;
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

const HOST: &str = "registry.opentofu.org";
const LINUX: &str = "linux_amd64";
const DARWIN: &str = "darwin_arm64";

/// Three versions of two providers in `store`. The packages of one are as large as those that are not kept in memory.
fn filled() -> Author {
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
    for platform in [LINUX, DARWIN] {
        let seed = format!("{name}{version}{platform}");
        let bytes = noise(&seed, size);
        release = release.package(platform, &[(&executable, &bytes)]);
    }
    let folder = format!("dist-{name}-{version}");
    release.write(&author.scene.path(&folder));
    let provider = format!("acme/{name}@{version}");
    let arguments = format!("push {folder} --provider {provider} --key acme.asc");
    let to = "--to oci-layout:store";
    author.line(format!("{arguments} {to}")).succeeds();
}

/// Pushes the packages of `demo` 1.0.0 under the address of another host.
fn push_elsewhere(author: &Author) {
    let other = "push dist-demo-1.0.0 --provider example.com/acme/demo";
    let to = "--key acme.asc --to oci-layout:store";
    author.line(format!("{other} {to}")).succeeds();
}

/// Bytes that do not compress.
fn noise(seed: &str, size: usize) -> Vec<u8> {
    let mut state = seed.bytes().fold(1_u64, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(u64::from(byte))
    }) | 1;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..size).map(next).collect()
}

/// `tfoci copy --from … --to …` with further arguments.
fn copy(author: &Author, from: &str, to: &str, more: &[&str]) -> Run {
    author.line(format!("copy --from {from} --to {to} {}", more.join(" ")))
}

/// Copies the store into a bundle. Returns its path.
fn bundled(author: &Author, name: &str, more: &[&str]) -> PathBuf {
    copy(author, "oci-layout:store", &format!("bundle:{name}"), more).succeeds();
    author.scene.path(name)
}

/// The members of a bundle.
fn members(author: &Author, name: &str) -> Tar {
    Tar::read(&fs::read(author.scene.path(name)).unwrap())
}

/// The digests of the packages in the author's release folders, in hex.
fn zips(author: &Author, folder: &str) -> Vec<String> {
    let entries = fs::read_dir(author.scene.path(folder)).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let zips = paths.filter(|path| path.extension().is_some_and(|end| end == "zip"));
    zips.map(|path| crate::support::judge::sha256(&path))
        .collect()
}
