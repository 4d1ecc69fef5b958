//! Certificates, which each run of the tests generates.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

use super::scene::Scene;

/// A certificate authority of the tests.
pub struct Authority {
    /// Its certificate, in PEM.
    pub pem: String,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate and its key, in PEM.
pub struct Identity {
    pub certificate: String,
    pub key: String,
}

impl Authority {
    /// An authority that all servers of a run of the tests share, so that clients trust all of them with one file.
    pub fn shared() -> &'static Self {
        static AUTHORITY: OnceLock<Authority> = OnceLock::new();
        AUTHORITY.get_or_init(|| Self::new("tests"))
    }

    pub fn new(name: &str) -> Self {
        // Clients in tests need this crypto provider too. It may be installed already.
        let _installed_before = ring::default_provider().install_default();
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        Self {
            pem: params.self_signed(&key).unwrap().pem(),
            issuer: Issuer::new(params, key),
        }
    }

    /// A certificate for a server at the loopback address.
    pub fn server(&self) -> Identity {
        self.server_of(&["localhost", "127.0.0.1"])
    }

    /// A certificate for a server with these names.
    pub fn server_of(&self, names: &[&str]) -> Identity {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        self.sign(
            CertificateParams::new(names).unwrap(),
            ExtendedKeyUsagePurpose::ServerAuth,
        )
    }

    /// A certificate for a server at the loopback address, valid in one year.
    pub fn server_in(&self, year: i32) -> Identity {
        let mut params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
        params.not_before = rcgen::date_time_ymd(year, 1, 1);
        params.not_after = rcgen::date_time_ymd(year, 12, 31);
        self.sign(params, ExtendedKeyUsagePurpose::ServerAuth)
    }

    /// A certificate for a client.
    pub fn client(&self, name: &str) -> Identity {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        self.sign(params, ExtendedKeyUsagePurpose::ClientAuth)
    }

    fn sign(&self, mut params: CertificateParams, usage: ExtendedKeyUsagePurpose) -> Identity {
        params.extended_key_usages.push(usage);
        let key = KeyPair::generate().unwrap();
        Identity {
            certificate: params.signed_by(&key, &self.issuer).unwrap().pem(),
            key: key.serialize_pem(),
        }
    }

    /// Writes the certificate into a scene.
    pub fn write(&self, scene: &Scene, name: &str) -> PathBuf {
        scene.write(name, &self.pem)
    }

    fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        let der = CertificateDer::from_pem_slice(self.pem.as_bytes()).unwrap();
        roots.add(der).unwrap();
        roots
    }
}

impl Identity {
    /// Writes `NAME.crt` and `NAME.key` into a scene.
    pub fn write(&self, scene: &Scene, name: &str) -> (PathBuf, PathBuf) {
        let certificate = scene.write(format!("{name}.crt"), &self.certificate);
        (certificate, scene.write(format!("{name}.key"), &self.key))
    }

    /// A server of this name; with an authority, only for clients that it knows.
    pub fn serve(&self, clients: Option<&Authority>) -> ServerConfig {
        let provider = Arc::new(ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .unwrap();
        let builder = match clients {
            None => builder.with_no_client_auth(),
            Some(authority) => {
                let roots = Arc::new(authority.roots());
                let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider);
                builder.with_client_cert_verifier(verifier.build().unwrap())
            }
        };
        let certificate = CertificateDer::from_pem_slice(self.certificate.as_bytes()).unwrap();
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes()).unwrap();
        builder.with_single_cert(vec![certificate], key).unwrap()
    }
}

#[test]
fn certificates_and_keys_are_files_in_a_scene() {
    let scene = Scene::new();
    let authority = Authority::new("tests");
    let ca = authority.write(&scene, "ca.pem");
    let (certificate, key) = authority.client("robot").write(&scene, "robot");
    for (path, kind) in [
        (ca, "CERTIFICATE"),
        (certificate, "CERTIFICATE"),
        (key, "PRIVATE KEY"),
    ] {
        let text = std::fs::read_to_string(path).unwrap();
        assert!(
            text.starts_with(&format!("-----BEGIN {kind}-----")),
            "{text}"
        );
    }
}
