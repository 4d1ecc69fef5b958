//! Attestations: statements of a mirror that it verified a version, checked here without the program's code.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use serde_json::{Value, json};

use crate::support::author::Author;
use crate::support::layout::digest;
use crate::support::registry::content::{Manifest, Repository};
use crate::support::registry::{Personality, Registry, Setup};
use crate::support::scene::{Run, Scene};
use crate::support::signer::Signer;

/// Cosign, with real registries.
mod foreign;
/// `inspect`, and the predicate for other signers.
mod inspected;
/// `mirror`: what is there already, interruptions, rules.
mod mirrored;
/// Which attestations are refused.
mod refused;
/// What is written, and when nothing is.
mod written;

const BUNDLE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const SUMMARY: &str = "https://slsa.dev/verification_summary/v1";
const ID: &str = "https://mirror.example.com/tfoci";
const NAME: &str = "acme/demo";
const DEMO: &str = "registry.opentofu.org/acme/demo";

/// A key of a mirror, made from a seed as `openssl genpkey` writes it.
pub struct MirrorKey(Ed25519KeyPair, [u8; 32]);

impl MirrorKey {
    pub fn new(seed: u8) -> Self {
        let seed = [seed; 32];
        Self(Ed25519KeyPair::from_seed_unchecked(&seed).unwrap(), seed)
    }

    /// The PEM of the private key.
    pub fn private(&self) -> String {
        let head = b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";
        pem("PRIVATE", &[&head[..], &self.1].concat())
    }

    fn spki(&self) -> Vec<u8> {
        let head = b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00";
        [&head[..], self.0.public_key().as_ref()].concat()
    }

    /// The PEM of the public key.
    pub fn public(&self) -> String {
        pem("PUBLIC", &self.spki())
    }

    pub fn id(&self) -> String {
        let hash = ring::digest::digest(&ring::digest::SHA256, &self.spki());
        STANDARD.encode(hash)
    }

    /// The statement of a bundle that this key has signed.
    #[track_caller]
    pub fn opens(&self, bundle: &Value) -> Value {
        let envelope = &bundle["dsseEnvelope"];
        let bytes = |value: &Value| STANDARD.decode(value.as_str().unwrap()).unwrap();
        let payload = bytes(&envelope["payload"]);
        let key = UnparsedPublicKey::new(&ED25519, self.0.public_key().as_ref());
        let signature = bytes(&envelope["signatures"][0]["sig"]);
        key.verify(&signed(&payload), &signature).unwrap();
        assert_eq!(bundle["mediaType"], BUNDLE);
        let hint = &bundle["verificationMaterial"]["publicKey"]["hint"];
        assert_eq!(*hint, self.id());
        serde_json::from_slice(&payload).unwrap()
    }

    /// A bundle of any statement.
    pub fn seals(&self, statement: &Value) -> Value {
        let payload = statement.to_string();
        let signature = self.0.sign(&signed(payload.as_bytes()));
        json!({
            "mediaType": BUNDLE,
            "verificationMaterial": {"publicKey": {"hint": self.id()}},
            "dsseEnvelope": {
                "payload": STANDARD.encode(payload),
                "payloadType": "application/vnd.in-toto+json",
                "signatures": [{"sig": STANDARD.encode(signature.as_ref())}],
            },
        })
    }
}

fn pem(kind: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    format!("-----BEGIN {kind} KEY-----\n{text}\n-----END {kind} KEY-----\n")
}

fn signed(payload: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 28 application/vnd.in-toto+json {} ", payload.len());
    [head.as_bytes(), payload].concat()
}

/// The keys of the mirror, and of another one, as files.
pub fn write_keys(scene: &Scene) {
    for (name, seed) in [("mirror", 1), ("other", 2)] {
        let key = MirrorKey::new(seed);
        scene.write(format!("{name}.pem"), key.private());
        scene.write(format!("{name}.pub"), key.public());
    }
}

/// An author with a release in `dist`, and a mirror that attests.
pub struct Site {
    pub author: Author,
    pub registry: Registry,
}

impl Site {
    pub fn new(lists: bool) -> Self {
        let author = Author::with_release();
        write_keys(&author.scene);
        let registry = registry(lists);
        Self { author, registry }
    }

    /// With version 1.0.0 pushed and attested.
    pub fn attested() -> Self {
        let site = Self::new(true);
        site.push("").succeeds();
        site
    }

    /// `[REG]` stands for the registry, and `[ATTEST]` for the options of the mirror.
    pub fn tfoci(&self, line: impl AsRef<str>) -> Run {
        let registry = format!("{}/{{namespace}}/{{type}}", self.registry.host());
        let attest = format!("--attest mirror.pem --attest-id {ID}");
        let line = line.as_ref().replace("[REG]", &registry);
        let line = line.replace("[ATTEST]", &attest);
        self.author.line(format!("{line} --plain-http 127.0.0.1"))
    }

    pub fn push(&self, more: &str) -> Run {
        self.tfoci(format!(
            "push dist --provider {NAME} --key acme.asc --to [REG] [ATTEST] {more}"
        ))
    }

    pub fn verify(&self, more: &str) -> Run {
        self.tfoci(format!(
            "verify {NAME} --from [REG] --key acme.asc --attestation-key mirror.pub {more}"
        ))
    }

    /// The digest of the index of a version.
    pub fn index(&self, version: &str) -> String {
        self.registry
            .repository(NAME, |content| content.resolve(version).unwrap())
    }

    /// The manifests and bundles that are attached to a version.
    pub fn attached(&self, version: &str) -> Vec<(Value, Value)> {
        let index = self.index(version);
        self.registry.repository(NAME, |content| {
            let parsed = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap();
            let manifests = content.manifests.values();
            let manifests = manifests.map(|one| parsed(&one.bytes));
            let manifests = manifests.filter(|one| one["subject"]["digest"] == *index);
            let with_bundle = |one: Value| {
                let bundle = parsed(&content.blobs[one["layers"][0]["digest"].as_str().unwrap()]);
                (one, bundle)
            };
            manifests.map(with_bundle).collect()
        })
    }

    /// The only statement about a version.
    #[track_caller]
    pub fn statement(&self, version: &str) -> Value {
        let attached = self.attached(version);
        assert_eq!(attached.len(), 1);
        MirrorKey::new(1).opens(&attached[0].1)
    }

    /// Replaces what is attached to a version by this bundle.
    pub fn replace(&self, version: &str, bundle: &Value) {
        let index = self.index(version);
        self.registry.repository(NAME, |content| {
            let is_attached = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains("\"subject\"");
            content.manifests.retain(|_, one| !is_attached(&one.bytes));
            attach(content, &index, &bundle.to_string());
        });
    }
}

/// The requests since the last time, as `METHOD PATH`, sorted.
fn requests(registry: &Registry) -> Vec<String> {
    let seen = registry.seen().into_iter();
    let requests = seen.map(|one| format!("{} {}", one.method, one.path));
    let mut requests: Vec<String> = requests.collect();
    requests.sort();
    registry.forget();
    requests
}

/// What is there beyond a part of it.
fn beyond(part: &[String], mut all: Vec<String>) -> Vec<String> {
    for one in part {
        all.remove(all.iter().position(|other| other == one).unwrap());
    }
    all
}

/// A registry that lists referrers, or one that does not.
fn registry(lists: bool) -> Registry {
    let setup = Setup::of(Personality::Plain);
    setup.quirks(|quirks| quirks.referrers = lists).start()
}

/// Attaches a bundle as other tools do.
fn attach(content: &mut Repository, subject: &str, bundle: &str) {
    let mut blob = |text: &str, media_type: &str| {
        let digest = digest(text.as_bytes());
        content.blobs.insert(digest.clone(), text.to_owned().into());
        json!({"mediaType": media_type, "digest": digest, "size": text.len()})
    };
    let manifest = json!({
        "schemaVersion": 2, "mediaType": MANIFEST, "artifactType": BUNDLE,
        "config": blob("{}", "application/vnd.oci.empty.v1+json"),
        "layers": [blob(bundle, BUNDLE)],
        "subject": {"mediaType": "application/vnd.oci.image.index.v1+json", "digest": subject, "size": 2},
    });
    let bytes = manifest.to_string();
    let manifest = Manifest {
        media_type: MANIFEST.to_owned(),
        bytes: bytes.clone().into(),
    };
    content.manifests.insert(digest(bytes.as_bytes()), manifest);
}

fn trust(scene: &Scene, more: &str) {
    let key = Signer::acme().fingerprint();
    let text = format!("[[provider]]\nmatch = \"*/*/*\"\nkeys = [\"{key}\"]\n{more}\n");
    scene.write("trust.toml", text);
}
