//! Stores of each kind with the same providers.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::http::Connection;
use super::server::Server;
use crate::support::docker_registry::{Foreign, Options, Program};
use crate::support::registry::Registry;
use crate::support::release::{Mistake, ReleaseFolder, sha256};
use crate::support::scene::Scene;
use crate::support::signer::Signer;
use crate::support::tamper;

/// A provider with versions that are signed, and one whose evidence is wrong.
pub const DEMO: &str = "registry.acme.test/acme/demo";
/// The version whose evidence is that of another version.
pub const WRONG: &str = "3.0.0";
/// A provider whose only version is not signed.
pub const BARE: &str = "registry.acme.test/acme/bare";
/// A provider whose host has two spellings.
pub const IDN: &str = "bücher.example/acme/demo";
/// The host of the provider registry.
pub const HOST: &str = "registry.acme.test";
pub const PLATFORMS: [&str; 2] = ["linux_amd64", "windows_arm64"];

/// The versions of [`DEMO`], and the document and the package for Linux of version 1.0.0, as the network mirror has them.
pub const INDEX: &str = "/mirror/registry.acme.test/acme/demo/index.json";
pub const VERSION: &str = "/mirror/registry.acme.test/acme/demo/1.0.0.json";
pub const ZIP: &str =
    "/mirror/registry.acme.test/acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip";
/// The same in the provider registry.
pub const VERSIONS: &str = "/v1/providers/acme/demo/versions";
pub const DOWNLOAD: &str = "/v1/providers/acme/demo/1.0.0/download/linux/amd64";
/// The page about [`DEMO`].
pub const PAGE: &str = "/providers/registry.acme.test/acme/demo";

const TEMPLATE: &str = "mirror/${hostname}/${namespace}/${type}";
/// The repository of [`DEMO`] by that template.
const NAME: &str = "mirror/registry.acme.test/acme/demo";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// A store, and the scene with the releases that it has.
pub struct Store {
    pub scene: Scene,
    from: String,
    _registry: Option<Foreign>,
}

impl Store {
    /// A layout without providers.
    pub fn empty() -> Self {
        let scene = Scene::new();
        scene.write("acme.asc", Signer::acme().public_armored());
        Self {
            scene,
            from: "oci-layout:store".to_owned(),
            _registry: None,
        }
    }

    /// Repositories of a registry at the loopback address, without providers.
    pub fn at(registry: &str) -> Self {
        Self {
            from: format!("{registry}/{TEMPLATE}"),
            ..Self::empty()
        }
    }

    /// A registry in this process with one signed version of [`DEMO`].
    pub fn demo_in_registry() -> (Registry, Self) {
        let registry = Registry::plain();
        let store = Self::at(registry.host());
        store.push(DEMO, "1.0.0", None);
        (registry, store)
    }

    /// A layout with one signed version of [`DEMO`].
    pub fn demo() -> Self {
        let store = Self::empty();
        store.push(DEMO, "1.0.0", None);
        store
    }

    /// A layout with all providers of this module.
    pub fn layout() -> Self {
        let store = Self::empty();
        for version in ["1.0.0", "1.2.0+build.5", "1.3.0-rc.1", WRONG] {
            store.push(DEMO, version, None);
        }
        store.push(DEMO, "2.0.0", Some(Mistake::SignatureMissing));
        store.push(BARE, "1.0.0", Some(Mistake::SignatureMissing));
        store.push(IDN, "1.0.0", None);
        store
    }

    /// A layout with all providers of this module, of which one version has wrong evidence.
    pub fn spoiled_layout() -> Self {
        let store = Self::layout();
        let wrong = format!("evidence-{WRONG}");
        tamper::retag(&store.repository(DEMO), &wrong, "evidence-1.0.0");
        store
    }

    /// The same in an OCI registry, if its program is installed.
    pub fn spoiled_registry(program: Program) -> Option<Self> {
        let registry = program.start(&Options::default())?;
        let mut store = Self::layout();
        store.from = format!("{}/{TEMPLATE}", registry.host());
        let to = format!("{} --plain-http 127.0.0.1 -q", store.from);
        let copy = format!("copy --from oci-layout:store --to {to}");
        store.scene.line(copy).succeeds();
        let address: SocketAddr = registry.host().parse().unwrap();
        let path = |tag: &str| format!("/v2/{NAME}/manifests/{tag}");
        let ask = |head: String, body: &[u8]| {
            let mut connection = Connection::plain(address);
            connection.send(format!("{head}Host: registry\r\n\r\n").as_bytes());
            connection.send(body);
            connection.reply("GET").unwrap()
        };
        let from = path("evidence-1.0.0");
        let get = format!("GET {from} HTTP/1.1\r\nAccept: {MANIFEST}\r\n");
        let evidence = ask(get, b"").is(200).body;
        let to = path(&format!("evidence-{WRONG}"));
        let about = format!(
            "Content-Type: {MANIFEST}\r\nContent-Length: {}",
            evidence.len()
        );
        ask(format!("PUT {to} HTTP/1.1\r\n{about}\r\n"), &evidence).is(201);
        store._registry = Some(registry);
        Some(store)
    }

    /// The same store as a bundle.
    pub fn bundled(self) -> Self {
        let to = "bundle:store.tar";
        let copy = format!("copy --from {} --to {to} -q", self.from);
        self.scene.line(copy).succeeds();
        Self {
            from: to.to_owned(),
            ..self
        }
    }

    /// The directory of a provider in a layout.
    pub fn repository(&self, address: &str) -> PathBuf {
        self.scene.path("store").join(address)
    }

    /// Pushes a version for [`PLATFORMS`].
    pub fn push(&self, address: &str, version: &str, mistake: Option<Mistake>) {
        let (_, type_name) = address.rsplit_once('/').unwrap();
        let [one, other] = PLATFORMS;
        let release = ReleaseFolder::new(type_name, version);
        let release = release.platform(one).platform(other);
        let release = match mistake {
            Some(mistake) => release.mistake(mistake),
            None => release,
        };
        self.push_release(address, version, &release);
    }

    /// Gives what a tag of version 1.0.0 of [`DEMO`] names many more tags, of other versions.
    pub fn multiply(&self, tag: &str, count: usize) {
        let demo = self.repository(DEMO);
        let descriptor = tamper::tagged(&demo, tag);
        tamper::tags(&demo, |tags| {
            for number in 0..count {
                let mut other = descriptor.clone();
                let name = tag.replace("1.0.0", &format!("9.{number}.0"));
                other["annotations"]["org.opencontainers.image.ref.name"] = name.into();
                tags.push(other);
            }
        });
    }

    /// Writes a trust file in which keys are pinned for a provider, by a fingerprint or a file.
    pub fn pin(&self, pattern: &str, key: &str) {
        self.scene.write("trust.toml", pinned(pattern, key));
    }

    /// Writes `tokens.txt`, with a line for each name, token and patterns.
    pub fn tokens(&self, tokens: &[(&str, &str, &str)]) {
        let lines = tokens.iter().map(|(name, token, patterns)| {
            format!("{name} sha256:{} {patterns}\n", sha256(token.as_bytes()))
        });
        let text = "# clients\n\n".to_owned() + &lines.collect::<String>();
        self.scene.write("tokens.new", text);
        let [from, to] = ["tokens.new", "tokens.txt"].map(|name| self.scene.path(name));
        std::fs::rename(from, to).unwrap();
    }

    /// Pushes a release, and replaces an existing one.
    pub fn push_release(&self, address: &str, version: &str, release: &ReleaseFolder) {
        let folder = self.released(address, version);
        let _old = std::fs::remove_dir_all(&folder);
        release.write(&folder);
        let signature = folder.join(format!("{}.sig", document(address, version)));
        let trust = match signature.exists() {
            true => "--key acme.asc".to_owned(),
            false => format!("--allow-unsigned {address}"),
        };
        let provider = format!("{} --provider {address}@{version}", folder.display());
        let to = format!("--to {} {}", self.from, self.network());
        let push = format!("push {provider} {to} --existing replace -q {trust}");
        self.scene.line(push).succeeds();
    }

    /// The folder that a version was pushed from.
    pub fn released(&self, address: &str, version: &str) -> PathBuf {
        self.scene.path("releases").join(address).join(version)
    }

    /// A file of a release.
    pub fn file(&self, address: &str, version: &str, name: &str) -> Vec<u8> {
        std::fs::read(self.released(address, version).join(name)).unwrap()
    }

    /// The zip of [`DEMO`] 1.0.0 for a platform.
    pub fn zip(&self, platform: &str) -> Vec<u8> {
        self.file(DEMO, "1.0.0", &package(DEMO, "1.0.0", platform))
    }

    /// The path of the blob of that zip in a layout.
    pub fn blob(&self, platform: &str) -> PathBuf {
        let digest = sha256(&self.zip(platform));
        self.repository(DEMO).join("blobs/sha256").join(digest)
    }

    /// Serves the store over plain HTTP.
    #[track_caller]
    pub fn serve(&self, more: impl AsRef<str>) -> Server {
        Server::plain(&self.scene, self.with(more))
    }

    /// Serves the store over plain HTTP at an address that another server left.
    #[track_caller]
    pub fn serve_at(&self, address: SocketAddr, more: impl AsRef<str>) -> Server {
        Server::plain_at(&self.scene, address, self.with(more))
    }

    /// Serves the store over TLS.
    #[track_caller]
    pub fn serve_tls(&self, more: impl AsRef<str>) -> Server {
        Server::tls(&self.scene, self.with(more))
    }

    fn with(&self, more: impl AsRef<str>) -> String {
        format!("--from {} {} {}", self.from, self.network(), more.as_ref())
    }

    /// The arguments for a registry without TLS.
    fn network(&self) -> &'static str {
        match self.from.starts_with("oci-layout:") || self.from.starts_with("bundle:") {
            true => "",
            false => "--plain-http 127.0.0.1",
        }
    }
}

/// An entry of a trust file.
pub fn pinned(pattern: &str, key: &str) -> String {
    format!("[[provider]]\nmatch = \"{pattern}\"\nkeys = [\"{key}\"]\n")
}

/// The name of a release's checksum document.
pub fn document(address: &str, version: &str) -> String {
    let (_, type_name) = address.rsplit_once('/').unwrap();
    format!("terraform-provider-{type_name}_{version}_SHA256SUMS")
}

/// The name of a package.
pub fn package(address: &str, version: &str, platform: &str) -> String {
    let (_, type_name) = address.rsplit_once('/').unwrap();
    format!("terraform-provider-{type_name}_{version}_{platform}.zip")
}
