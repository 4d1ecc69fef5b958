//! A user who mirrors from an origin into a registry.

use std::collections::BTreeMap;
use std::process::Command;

use crate::support::origin::{Origin, Provider};
use crate::support::registry::content::{Repository, parts};
use crate::support::registry::{Registry, Seen};
use crate::support::scene::{Run, Scene};

/// The platforms of most providers.
pub const PLATFORMS: [&str; 4] = [
    "darwin_arm64",
    "linux_amd64",
    "linux_arm64",
    "windows_amd64",
];

/// The repositories of the team, for templates.
const TEMPLATE: &str = "mirror/{namespace}/{type}";

/// An origin, a registry, and a mirror file from the one into the other.
pub struct Team {
    pub origin: Origin,
    pub registry: Registry,
    scene: Scene,
    /// The providers, without their host.
    pub names: Vec<String>,
}

impl Team {
    /// A mirror file that selects every version of these providers.
    pub fn of(providers: Vec<Provider>) -> Self {
        Self::into(Registry::plain(), providers)
    }

    /// The same, with another registry.
    pub fn into(registry: Registry, providers: Vec<Provider>) -> Self {
        let names = providers.iter().map(|provider| provider.address.clone());
        let names: Vec<String> = names.collect();
        let origin = Origin::of(providers);
        let scene = Scene::new();
        origin.write_ca(&scene);
        scene.write(".docker/config.json", registry.authfile());
        let wishes = names.iter().map(|name| {
            let address = origin.address(name);
            format!("[[provider]]\naddress = \"{address}\"\nconstraints = \">= 0\"\n")
        });
        scene.write("mirror.toml", wishes.collect::<String>());
        Self {
            origin,
            registry,
            scene,
            names,
        }
    }

    /// The command, with further arguments.
    pub fn command(&self, more: impl AsRef<str>) -> Command {
        self.scene.piped(self.line(more))
    }

    /// Mirrors.
    pub fn mirror(&self, more: impl AsRef<str>) -> Run {
        self.scene.line(self.line(more))
    }

    fn line(&self, more: impl AsRef<str>) -> String {
        let (host, more) = (self.registry.host(), more.as_ref());
        let to = format!("--to {host}/{TEMPLATE} --plain-http {host} --ca-file ca.pem");
        format!("mirror --file mirror.toml {to} {more}")
    }

    /// The content of the repository of a provider.
    pub fn held(&self, provider: &str) -> Repository {
        let name = format!("mirror/{provider}");
        self.registry
            .repository(&name, |repository| repository.clone())
    }

    /// The tags of all repositories, with their digests.
    pub fn tags(&self) -> Vec<(String, String)> {
        let mut tags = Vec::new();
        for name in &self.names {
            let held = self.held(name).tags.into_iter();
            tags.extend(held.map(|(tag, digest)| (format!("{name}:{tag}"), digest)));
        }
        tags.sort();
        tags
    }

    /// Asserts that everything below each tag is present, and that every version has its evidence.
    #[track_caller]
    pub fn assert_whole(&self) {
        for name in &self.names {
            let held = self.held(name);
            for (tag, digest) in &held.tags {
                assert_complete(&held, digest);
                let has_evidence = held.resolve(&format!("evidence-{tag}")).is_some();
                assert!(tag.starts_with("evidence-") || has_evidence, "{name}:{tag}");
            }
        }
    }

    /// Empties every repository.
    pub fn clear(&self) {
        for name in &self.names {
            let name = format!("mirror/{name}");
            let empty = |held: &mut Repository| *held = Repository::default();
            self.registry.repository(&name, empty);
        }
    }

    /// Forgets the requests so far.
    pub fn forget(&self) {
        self.origin.forget();
        self.registry.forget();
    }

    /// How many requests of each kind the registry got: `1 GET tags, 2 PUT manifests`.
    pub fn stored(&self) -> String {
        let mut counts = BTreeMap::new();
        for seen in self.registry.seen() {
            *counts.entry(kind(&seen)).or_insert(0) += 1;
        }
        let counts = counts.iter().map(|(kind, count)| format!("{count} {kind}"));
        counts.collect::<Vec<_>>().join(", ")
    }
}

/// Everything below a manifest.
#[track_caller]
fn assert_complete(held: &Repository, digest: &str) {
    let manifest = held.manifests.get(digest);
    let manifest = manifest.unwrap_or_else(|| panic!("{digest} is missing"));
    let (blobs, children) = parts(&serde_json::from_slice(&manifest.bytes).unwrap());
    for blob in blobs {
        assert!(held.blobs.contains_key(&blob), "{blob} is missing");
    }
    for child in children {
        assert_complete(held, &child);
    }
}

/// The kind of a request, without its repository.
fn kind(seen: &Seen) -> String {
    let mut kinds = ["tags", "uploads", "blobs", "manifests"].into_iter();
    let found = kinds.find(|kind| seen.path.contains(&format!("/{kind}/")));
    let mount = seen.parameter("mount").map_or("", |_| " (mount)");
    format!("{} {}{mount}", seen.method, found.unwrap_or("other"))
}
