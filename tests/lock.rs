//! `tfoci lock`.

/// Killed runs, full disks, concurrent runs.
#[cfg(target_os = "linux")]
mod chaos;
/// The files that `providers lock` and `init -upgrade` write.
mod clients;
/// Configurations, modules and addresses.
mod configurations;
/// When files are written.
#[cfg(unix)]
mod files;
/// The gate for changes by others.
mod gate;
/// Working directories.
#[cfg(unix)]
mod installs;
/// Ctrl-C.
#[cfg(target_os = "linux")]
mod interrupted;
/// Messages.
mod messages;
/// Mirrors, which have no signatures.
mod mirrors;
/// Other commands that ask origins.
mod origins;
/// What is at the path of a package already.
#[cfg(unix)]
mod plugin_cache;
/// Hosts at private addresses.
mod private;
/// `--platform same`.
mod same;
/// Several lock files at once.
mod several;
/// What of a store is trusted.
mod stores;
/// Unpacked filesystem mirrors.
#[cfg(unix)]
mod unpacked;

use std::fs;

use crate::clients::clients;
use crate::support::origin::{Origin, Provider, Release};
use crate::support::release::ReleaseFolder;
use crate::support::scene::{Run, Scene};
use tfoci::platform::Platform;

/// The lock file of most projects.
const LOCK: &str = "project/.terraform.lock.hcl";

/// The platforms of every release: this machine's, and one that no machine has.
pub fn platforms() -> [String; 2] {
    [Platform::current().to_string(), "plan9_mips".to_owned()]
}

fn folder(name: &str, version: &str) -> ReleaseFolder {
    let folder = ReleaseFolder::new(name, version);
    let all = platforms();
    all.iter()
        .fold(folder, |folder, platform| folder.platform(platform))
}

/// An origin of `acme/demo` in many versions, and of some other providers.
fn origin() -> Origin {
    let all = platforms();
    let all = all.each_ref().map(String::as_str);
    let versions = "0.9.0 1.0.0 1.0.1 1.1.0 1.2.0 2.0.0 2.1.0-beta.1".split(' ');
    let demo = versions.fold(Provider::new("acme/demo"), |demo, version| {
        demo.version(version, &all)
    });
    let directories = ReleaseFolder::new("directories", "1.0.0");
    let directories = all.iter().fold(directories, |folder, platform| {
        let executable = ("terraform-provider-directories_v1.0.0", platform.as_bytes());
        folder.package(
            platform,
            &[("docs/", b""), ("docs/x.md", b"x\n"), executable],
        )
    });
    let crlf = folder("crlf", "1.0.0").document(|text| text.trim_end().replace('\n', "\r\n"));
    let sbom =
        folder("sbom", "1.0.0").document(|text| format!("{text}{}  sbom.json\n", "AB".repeat(32)));
    let bare = Release::from(folder("bare", "1.0.0")).without_packages();
    let keyless = |name: &str| {
        let release = Release::from(folder("keyless", "1.0.0")).keys(&[]);
        Provider::new(name).release(release)
    };
    Origin::of([
        demo,
        Provider::new("acme/other").version("3.1.4", &all),
        Provider::new("hashicorp/null").version("3.2.1", &all),
        Provider::new("acme/directories").release(directories),
        Provider::new("acme/crlf").release(crlf),
        Provider::new("acme/sbom").release(sbom),
        Provider::new("acme/bare").release(bare),
        keyless("acme/keyless"),
        keyless("hashicorp/keyless"),
    ])
}

/// A scene that trusts the origin's certificate. The origin also replaces both default registries.
fn scene(origin: &Origin) -> Scene {
    let scene = Scene::new();
    let ca = origin.write_ca(&scene);
    let hosts = ["registry.opentofu.org", "registry.terraform.io"];
    let blocks: String = hosts.iter().map(|host| origin.host_block(host)).collect();
    let configuration = scene.write("client.tfrc", blocks);
    let configuration = configuration.to_str().unwrap().to_owned();
    scene
        .env("SSL_CERT_FILE", ca.to_str().unwrap())
        .env("TF_CLI_CONFIG_FILE", &configuration)
        .env("TFOCI_ALLOW_PRIVATE", origin.host())
}

fn given() -> (Origin, Scene) {
    let origin = origin();
    let scene = scene(&origin);
    (origin, scene)
}

/// A project that requires `acme/demo` of the origin with a constraint or none.
fn project(constraint: &str) -> (Origin, Scene) {
    let (origin, scene) = given();
    let text = requiring(&origin, "acme/demo", constraint);
    scene.write("project/main.tf", text);
    (origin, scene)
}

/// Locks the project.
fn lock(scene: &Scene, arguments: &str) -> Run {
    scene.line(format!("lock --chdir project {arguments}"))
}

/// A file that requires a provider in any version.
fn any_version(source: &str) -> String {
    crate::clients::requiring(&[(source, "")])
}

/// A file that requires a provider of the origin at its third line.
fn requiring(origin: &Origin, name: &str, constraint: &str) -> String {
    crate::clients::requiring(&[(&origin.address(name), constraint)])
}

fn read(scene: &Scene, path: &str) -> String {
    fs::read_to_string(scene.path(path)).unwrap()
}

/// Hashes of packages that nobody has.
fn foreign_zh() -> String {
    format!("zh:{}", "0".repeat(64))
}

fn foreign_h1() -> String {
    format!("h1:{}=", "A".repeat(43))
}

/// A lock file with one more hash in its first entry.
fn with_hash(text: &str, hash: &str) -> String {
    let list = "  hashes = [\n";
    text.replacen(list, &format!("{list}    \"{hash}\",\n"), 1)
}

/// A lock file with the hashes of other packages.
fn with_foreign_hashes(text: &str) -> String {
    let lines = text.lines().map(|line| match line.trim_start() {
        hash if hash.starts_with("\"zh:") => format!("    \"{}\",\n", foreign_zh()),
        hash if hash.starts_with("\"h1:") => format!("    \"{}\",\n", foreign_h1()),
        _ => format!("{line}\n"),
    });
    lines.collect()
}
