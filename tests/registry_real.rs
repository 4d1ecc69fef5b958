use std::io::Write as _;
use std::process::Stdio;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use oci_client::Client;
use oci_client::client::{Certificate, CertificateEncoding, ClientConfig, ClientProtocol};
use oci_client::secrets::RegistryAuth;
use serde_json::json;
use tfoci::platform::Platform;

use crate::install::steady;
use crate::support::docker_registry::{Foreign, Options, PASSWORD, Program, USER};
use crate::support::release::ReleaseFolder;
use crate::support::scene::{Run, Scene};
use crate::support::signer::Signer;
use crate::support::tls::Authority;

/// The collector of docker-registry.
mod collector;

/// Registries without TLS, with a private authority, and with a password.
mod doors;

/// Other clients and tools read what tfoci pushed.
mod readers;

/// The commands of the README, with a real registry.
mod readme;

/// Tokens: valid, expired, and of another scope.
mod tokens;

/// OpenTofu installs through `oci_mirror`.
mod tofu;

/// Several writers of one version.
mod writers;

/// Both programs, as far as they are installed.
const PROGRAMS: [Program; 2] = [Program::DockerRegistry, Program::Zot];
const DEMO: &str = "example.com/acme/demo";
/// The repository of [`DEMO`] by the template of [`PUSH`].
const NAME: &str = "mirror/example.com/acme/demo";
const PUSH: &str = "push dist --provider example.com/acme/demo --key acme.asc --to [HOST]/mirror/{hostname}/{namespace}/{type}";
const INSTALL: &str = "install example.com/acme/demo --from [HOST]/mirror/{hostname}/{namespace}/{type} --into providers --platform all --key acme.asc --require-pinned";
const VERSIONS: &str =
    "versions example.com/acme/demo --from [HOST]/mirror/{hostname}/{namespace}/{type}";

/// A machine with a release in `dist`, and the registry that it pushes to.
struct Site {
    scene: Scene,
    host: String,
    /// Options of each command.
    network: String,
    authority: Option<String>,
}

impl Site {
    /// A site with a registry without TLS.
    fn plain(registry: &Foreign) -> Self {
        let network = "--plain-http 127.0.0.1".to_owned();
        Self {
            network,
            ..Self::at(&registry.host())
        }
    }

    /// A site with an authority's certificate in `--ca-file`.
    fn trusting(registry: &Foreign, authority: &Authority) -> Self {
        let site = Self::at(&registry.host());
        authority.write(&site.scene, "ca.pem");
        Self {
            network: "--ca-file ca.pem".to_owned(),
            authority: Some(authority.pem.clone()),
            ..site
        }
    }

    /// Other programs trust the authority, too.
    fn for_tools(mut self) -> Self {
        let path = self.scene.path("ca.pem").display().to_string();
        self.scene = self.scene.env("SSL_CERT_FILE", &path);
        self
    }

    fn at(host: &str) -> Self {
        let scene = Scene::new();
        release("1.0.0").write(&scene.path("dist"));
        scene.write("acme.asc", Signer::acme().public_armored());
        Self {
            scene,
            host: host.to_owned(),
            network: String::new(),
            authority: None,
        }
    }

    /// Runs `tfoci` with the words of a line. `[HOST]` stands for the registry, in the line and in the output.
    fn tfoci(&self, line: &str) -> Run {
        self.with_input(line, "")
    }

    /// Logs in by a password.
    fn login(&self, password: &str) -> Run {
        let line = format!("login [HOST] --username {USER} --password-stdin");
        self.with_input(&line, password)
    }

    /// Keeps a password as docker does.
    fn keep(&self, password: &str) {
        let auth = STANDARD.encode(format!("{USER}:{password}"));
        let kept = json!({ "auths": { &self.host: { "auth": auth } } });
        self.scene.write(".docker/config.json", kept.to_string());
    }

    fn with_input(&self, line: &str, input: &str) -> Run {
        let line = line.replace("[HOST]", &self.host);
        let mut command = self.scene.piped(format!("{line} {}", self.network));
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let _unread = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        let tidy = |bytes: Vec<u8>| {
            let text = self.scene.filter(bytes);
            assert!(!text.contains(PASSWORD), "{text}");
            steady(&text.replace(&self.host, "[HOST]"))
        };
        Run {
            status: output.status.code(),
            stdout: tidy(output.stdout),
            stderr: tidy(output.stderr),
        }
    }

    /// An independent client that trusts the site's authority.
    fn client(&self) -> Client {
        let protocol = match self.authority {
            Some(_) => ClientProtocol::Https,
            None => ClientProtocol::Http,
        };
        let certificate = |pem: &String| Certificate {
            encoding: CertificateEncoding::Pem,
            data: pem.clone().into_bytes(),
        };
        let config = ClientConfig {
            protocol,
            extra_root_certificates: self.authority.iter().map(certificate).collect(),
            ..ClientConfig::default()
        };
        Client::try_from(config).unwrap()
    }
}

/// Starts a registry with TLS by an authority, and with a password.
fn start(program: Program, authority: Option<&Authority>, password: bool) -> Option<Foreign> {
    let identity = authority.map(Authority::server);
    let tls = identity.as_ref();
    program.start(&Options {
        tls,
        password,
        ..Options::default()
    })
}

/// The secret that every registry with a password takes.
fn secret() -> RegistryAuth {
    RegistryAuth::Basic(USER.to_owned(), PASSWORD.to_owned())
}

/// A release for this machine and for a platform that no machine has.
fn release(version: &str) -> ReleaseFolder {
    let here = Platform::current().to_string();
    ReleaseFolder::new("demo", version).each(&[&here, "plan9_mips"])
}
