//! A user who mirrors from an origin into a registry.

use std::process::{Command, Stdio};

use crate::support::origin::{Origin, Provider};
use crate::support::registry::content::{Repository, parts};
use crate::support::registry::{Registry, Seen};
use crate::support::scene::{Run, Scene};

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
        let mut command = self.scene.command(env!("CARGO_BIN_EXE_tfoci"));
        command.args(self.arguments(more));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Mirrors.
    pub fn mirror(&self, more: impl AsRef<str>) -> Run {
        self.scene.tfoci(self.arguments(more))
    }

    fn arguments(&self, more: impl AsRef<str>) -> Vec<String> {
        let (host, more) = (self.registry.host(), more.as_ref());
        let known = format!("--to {host}/{TEMPLATE} --plain-http {host} --ca-file ca.pem");
        let all = format!("mirror --file mirror.toml {known} {more}");
        all.split_whitespace().map(str::to_owned).collect()
    }

    /// The content of the repository of a provider.
    pub fn held(&self, provider: &str) -> Repository {
        let name = format!("mirror/{provider}");
        self.registry
            .repository(&name, |repository| repository.clone())
    }

    /// The tags of all repositories, with their digests.
    pub fn tags(&self) -> Vec<(String, String)> {
        let tags = self.names.iter().flat_map(|name| {
            let tags = self.held(name).tags;
            tags.into_iter()
                .map(move |(tag, digest)| (format!("{name}:{tag}"), digest))
        });
        let mut tags: Vec<_> = tags.collect();
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
                let has = |tag: &str| held.tags.iter().any(|(other, _)| other == tag);
                assert!(
                    tag.starts_with("evidence-") || has(&format!("evidence-{tag}")),
                    "{name}:{tag}"
                );
            }
        }
    }

    /// Empties every repository.
    pub fn clear(&self) {
        for name in &self.names {
            let name = format!("mirror/{name}");
            self.registry
                .repository(&name, |repository| *repository = Repository::default());
        }
    }

    /// Forgets the requests so far.
    pub fn forget(&self) {
        self.origin.forget();
        self.registry.forget();
    }

    /// How many requests of each kind the registry got: `1 GET tags, 2 PUT manifests`.
    pub fn stored(&self) -> String {
        let seen = self.registry.seen();
        let kinds: Vec<String> = seen.iter().map(kind).collect();
        let mut different = kinds.clone();
        different.sort();
        different.dedup();
        let count = |kind: &String| {
            let count = kinds.iter().filter(|other| *other == kind).count();
            format!("{count} {kind}")
        };
        different.iter().map(count).collect::<Vec<_>>().join(", ")
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
    let kinds = ["tags", "uploads", "blobs", "manifests"];
    let found = kinds
        .iter()
        .find(|kind| seen.path.contains(&format!("/{kind}/")));
    let mount = if seen.parameter("mount").is_some() {
        " (mount)"
    } else {
        ""
    };
    format!("{} {}{mount}", seen.method, found.unwrap_or(&"other"))
}
