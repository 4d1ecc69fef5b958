//! OpenPGP keys that live only as long as the tests run: no secret is ever committed.

use std::io::Write as _;
use std::sync::OnceLock;

use sequoia_openpgp::cert::{CertBuilder, CipherSuite};
use sequoia_openpgp::parse::Parse as _;
use sequoia_openpgp::serialize::SerializeInto as _;
use sequoia_openpgp::serialize::stream::{Armorer, Message, Signer as Signing};
use sequoia_openpgp::types::KeyFlags;
use sequoia_openpgp::{Cert, Packet, armor};

/// An Ed25519 key whose primary key signs, as provider authors have them.
pub struct Signer {
    cert: Cert,
}

impl Signer {
    /// The author of the provider.
    pub fn acme() -> &'static Self {
        static KEY: OnceLock<Signer> = OnceLock::new();
        KEY.get_or_init(|| Self::new("Acme Provider Signing (test key) <security@acme.example>"))
    }

    /// Somebody else, whose key is just as good.
    pub fn stranger() -> &'static Self {
        static KEY: OnceLock<Signer> = OnceLock::new();
        KEY.get_or_init(|| Self::new("Somebody Else (test key) <else@stranger.example>"))
    }

    fn new(user_id: &str) -> Self {
        let (cert, _revocation) = CertBuilder::new()
            .set_cipher_suite(CipherSuite::Cv25519)
            .set_primary_key_flags(KeyFlags::empty().set_certification().set_signing())
            .add_userid(user_id)
            .generate()
            .unwrap();
        Self { cert }
    }

    /// The fingerprint in upper-case hex, as a trust file names it.
    pub fn fingerprint(&self) -> String {
        self.cert.fingerprint().to_hex()
    }

    /// The public key, as registries and key files hold it.
    pub fn public_armored(&self) -> String {
        String::from_utf8(self.cert.armored().to_vec().unwrap()).unwrap()
    }

    /// A binary detached signature.
    pub fn sign_detached(&self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        self.sign(Message::new(&mut out), bytes);
        out
    }

    /// An armoured detached signature, which clients do not take.
    pub fn sign_armored(&self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let armorer = Armorer::new(Message::new(&mut out)).kind(armor::Kind::Signature);
        self.sign(armorer.build().unwrap(), bytes);
        out
    }

    fn sign(&self, message: Message<'_>, bytes: &[u8]) {
        let key = self.cert.primary_key().key().clone();
        let pair = key.parts_into_secret().unwrap().into_keypair().unwrap();
        let mut signing = Signing::new(message, pair)
            .unwrap()
            .detached()
            .build()
            .unwrap();
        signing.write_all(bytes).unwrap();
        signing.finalize().unwrap();
    }
}

#[test]
fn a_signature_holds_for_its_bytes_and_its_key() {
    let (acme, stranger) = (Signer::acme(), Signer::stranger());
    let holds = |signature: &[u8], signer: &Signer, bytes: &[u8]| {
        let Packet::Signature(signature) = Packet::from_bytes(signature).unwrap() else {
            panic!("no signature");
        };
        let cert = Cert::from_bytes(signer.public_armored().as_bytes()).unwrap();
        signature
            .verify_message(cert.primary_key().key(), bytes)
            .is_ok()
    };
    let signature = acme.sign_detached(b"document");
    assert!(holds(&signature, acme, b"document"));
    assert!(!holds(&signature, acme, b"documents"));
    assert!(!holds(&signature, stranger, b"document"));
    assert!(holds(&acme.sign_armored(b"document"), acme, b"document"));
    assert_ne!(acme.fingerprint(), stranger.fingerprint());
}
