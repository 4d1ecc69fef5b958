//! Stores of each kind with the same providers.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::http::Connection;
use super::server::Server;
use crate::support::docker_registry::{Foreign, Options, Program};
use crate::support::release::{Mistake, ReleaseFolder};
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

const TEMPLATE: &str = "mirror/${hostname}/${namespace}/${type}";
/// The repository of [`DEMO`] by that template.
const NAME: &str = "mirror/registry.acme.test/acme/demo";
const INDEX: &str = "application/vnd.oci.image.manifest.v1+json";

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
        let layout = store.repository(DEMO);
        let evidence = tamper::tagged(&layout, "evidence-1.0.0");
        tamper::tags(&layout, |tags| {
            for tag in tags {
                let name = tag["annotations"]["org.opencontainers.image.ref.name"].clone();
                if name == format!("evidence-{WRONG}") {
                    *tag = evidence.clone();
                    tag["annotations"]["org.opencontainers.image.ref.name"] = name;
                }
            }
        });
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
        let evidence = ask(format!("GET {from} HTTP/1.1\r\nAccept: {INDEX}\r\n"), b"").is(200);
        let (to, length) = (path(&format!("evidence-{WRONG}")), evidence.body.len());
        let head =
            format!("PUT {to} HTTP/1.1\r\nContent-Type: {INDEX}\r\nContent-Length: {length}\r\n");
        ask(head, &evidence.body).is(201);
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
        let mut release = ReleaseFolder::new(type_name, version);
        for platform in PLATFORMS {
            release = release.platform(platform);
        }
        if let Some(mistake) = mistake {
            release = release.mistake(mistake);
        }
        self.push_release(address, version, &release);
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
        let to = format!(
            "--to {} --existing replace -q {}",
            self.from,
            self.network()
        );
        let push = format!("push {provider} {to} {trust}");
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
