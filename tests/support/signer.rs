//! OpenPGP keys, which each run of the tests generates: no secret key is ever committed.

use std::io::Write as _;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use sequoia_openpgp::cert::{CertBuilder, CipherSuite};
use sequoia_openpgp::crypto::KeyPair;
use sequoia_openpgp::packet::Signature;
use sequoia_openpgp::packet::signature::SignatureBuilder;
use sequoia_openpgp::parse::Parse as _;
use sequoia_openpgp::policy::StandardPolicy;
use sequoia_openpgp::serialize::stream::{Armorer, Message, Signer as Signing};
use sequoia_openpgp::serialize::{Serialize as _, SerializeInto as _};
use sequoia_openpgp::types::{KeyFlags, ReasonForRevocation, SignatureType};
use sequoia_openpgp::{Cert, Packet, armor};

/// An Ed25519 key whose primary key signs, as provider authors use.
pub struct Signer {
    cert: Cert,
    /// The time of its signatures, if not now.
    signs: Option<SystemTime>,
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

impl Signer {
    /// The author of the provider.
    pub fn acme() -> &'static Self {
        static KEY: OnceLock<Signer> = OnceLock::new();
        KEY.get_or_init(|| Self::new("Acme Provider Signing (test key) <security@acme.example>"))
    }

    /// Another author with a valid key.
    pub fn stranger() -> &'static Self {
        static KEY: OnceLock<Signer> = OnceLock::new();
        KEY.get_or_init(|| Self::new("Another Author (test key) <else@stranger.example>"))
    }

    /// An author whose user id would add a table to a trust file and control a terminal.
    pub fn hostile() -> &'static Self {
        static KEY: OnceLock<Signer> = OnceLock::new();
        KEY.get_or_init(|| {
            Self::new(
                "Evil\n[[provider]]\nmatch = \"*/*/*\"\n\u{1b}[2K\r\u{202e}\u{85}unsigned = \"allow\" <x@evil.example>",
            )
        })
    }

    /// An author with an old key, who signs so many days ago.
    pub fn days_ago(days: u32) -> &'static Self {
        static KEY: OnceLock<Cert> = OnceLock::new();
        let cert = KEY.get_or_init(|| {
            let key = Self::key("Steady (test key) <steady@acme.example>");
            Self::of(key.set_creation_time(long_ago())).cert
        });
        Box::leak(Box::new(Self {
            cert: cert.clone(),
            signs: Some(SystemTime::now() - days * DAY),
        }))
    }

    /// An author whose key expired after it signed.
    pub fn expired_since() -> &'static Self {
        static KEY: OnceLock<Signer> = OnceLock::new();
        KEY.get_or_init(|| Self {
            signs: Some(long_ago() + 10 * DAY),
            ..Self::expired("Expired Since (test key) <since@acme.example>")
        })
    }

    /// An author whose key was expired when it signed.
    pub fn expired_before() -> &'static Self {
        static KEY: OnceLock<Signer> = OnceLock::new();
        KEY.get_or_init(|| Self::expired("Expired Before (test key) <before@acme.example>"))
    }

    /// An author whose key expires at this time.
    pub fn until(end: SystemTime) -> &'static Self {
        let created = SystemTime::now() - DAY;
        let key = Self::key("Expires (test key) <expires@acme.example>");
        let key = key.set_creation_time(created);
        let key = key.set_validity_period(end.duration_since(created).unwrap());
        Box::leak(Box::new(Self::of(key)))
    }

    /// An author whose key was revoked for a reason that invalidates older signatures too.
    pub fn revoked() -> &'static Self {
        static KEY: OnceLock<Signer> = OnceLock::new();
        KEY.get_or_init(|| {
            let key = Self::key("Revoked (test key) <revoked@acme.example>");
            let (cert, revocation) = key.generate().unwrap();
            let (cert, _changed) = cert.insert_packets(revocation).unwrap();
            Self { cert, signs: None }
        })
    }

    /// An author whose subkey signed, and who later declared that it may no longer sign.
    pub fn retired() -> &'static Self {
        static KEY: OnceLock<Signer> = OnceLock::new();
        KEY.get_or_init(|| {
            let key = CertBuilder::new().set_cipher_suite(CipherSuite::Cv25519);
            let key = key.add_userid("Retired Subkey (test key) <retired@acme.example>");
            Self::of(key.set_creation_time(long_ago()).add_signing_subkey())
        })
    }

    /// The public key with only the later declaration that the subkey may not sign.
    pub fn armored_without_signing(&self) -> String {
        let subkey = self.cert.keys().subkeys().next().unwrap().key().clone();
        let told = SignatureBuilder::new(SignatureType::SubkeyBinding);
        let told = told.set_key_flags(KeyFlags::empty().set_authentication());
        let subkey = subkey.role_into_subordinate();
        let binding = subkey.bind(&mut self.owner(), &self.cert, told.unwrap());
        let packets = self.cert.clone().strip_secret_key_material().into_packets();
        let is_older = |packet: &Packet| matches!(packet, Packet::Signature(one) if one.typ() == SignatureType::SubkeyBinding);
        let packets = packets.filter(|packet| !is_older(packet));
        armored(&Cert::from_packets(packets.chain([binding.unwrap().into()])).unwrap())
    }

    /// The public key after its owner revoked it for this reason.
    pub fn armored_revoked(&self, reason: ReasonForRevocation) -> String {
        let revocation = self.cert.revoke(&mut self.owner(), reason, b"");
        self.armored_with(vec![revocation.unwrap()])
    }

    /// The public key after its owner made it valid for ten more years from now.
    pub fn armored_renewed(&self) -> String {
        let end = SystemTime::now() + 3650 * DAY;
        let (policy, mut owner) = (StandardPolicy::new(), self.owner());
        let cert = &self.cert;
        let renewals = cert.set_expiration_time(&policy, None, &mut owner, Some(end));
        self.armored_with(renewals.unwrap())
    }

    /// The primary key, to sign statements about the key.
    fn owner(&self) -> KeyPair {
        let primary = self.cert.primary_key().key().clone();
        primary.parts_into_secret().unwrap().into_keypair().unwrap()
    }

    fn armored_with(&self, statements: Vec<Signature>) -> String {
        armored(&self.cert.clone().insert_packets(statements).unwrap().0)
    }

    fn new(user_id: &str) -> Self {
        Self::of(Self::key(user_id))
    }

    fn of(key: CertBuilder<'_>) -> Self {
        let (cert, _revocation) = key.generate().unwrap();
        Self { cert, signs: None }
    }

    /// A key that was valid for a hundred days.
    fn expired(user_id: &str) -> Self {
        let key = Self::key(user_id).set_creation_time(long_ago());
        Self::of(key.set_validity_period(100 * DAY))
    }

    fn key(user_id: &str) -> CertBuilder<'static> {
        CertBuilder::new()
            .set_cipher_suite(CipherSuite::Cv25519)
            .set_primary_key_flags(KeyFlags::empty().set_certification().set_signing())
            .add_userid(user_id)
    }

    /// The fingerprint in upper-case hex, as a trust file names it.
    pub fn fingerprint(&self) -> String {
        self.cert.fingerprint().to_hex()
    }

    /// The public key in armour, as in registries and key files.
    pub fn public_armored(&self) -> String {
        armored(&self.cert)
    }

    /// The secret key, as its owner exports it by mistake: armored, and binary.
    pub fn secret(&self) -> [Vec<u8>; 2] {
        let secret = || self.cert.as_tsk();
        [secret().armored().to_vec(), secret().to_vec()].map(Result::unwrap)
    }

    /// A public key without its revocation, and the revocation in a separate block, as OpenPGP programs create it with the key.
    pub fn revocation_apart(key: &str) -> [String; 2] {
        let packets = Cert::from_bytes(key.as_bytes()).unwrap().into_packets();
        let (revocations, key): (Vec<Packet>, Vec<Packet>) = packets.partition(|packet| {
            matches!(packet, Packet::Signature(one) if one.typ() == SignatureType::KeyRevocation)
        });
        [key, revocations].map(|packets| {
            let mut block = armor::Writer::new(Vec::new(), armor::Kind::PublicKey).unwrap();
            for packet in packets {
                packet.serialize(&mut block).unwrap();
            }
            String::from_utf8(block.finalize().unwrap()).unwrap()
        })
    }

    /// The public key with so many certifications by this one, which differ only in their dates.
    pub fn certified(&self, key: &str, times: u64) -> String {
        let cert = Cert::from_bytes(key.as_bytes()).unwrap();
        let mut certifier = self.owner();
        let user_id = cert.userids().next().unwrap().userid().clone();
        let certifications = (0..times).map(|second| {
            let time = long_ago() + Duration::from_secs(second);
            let told = SignatureBuilder::new(SignatureType::GenericCertification);
            let told = told.set_signature_creation_time(time).unwrap();
            Packet::from(user_id.bind(&mut certifier, &cert, told).unwrap())
        });
        let packets: Vec<Packet> = certifications.collect();
        armored(&cert.insert_packets(packets).unwrap().0)
    }

    /// A binary detached signature.
    pub fn sign_detached(&self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        self.sign(Message::new(&mut out), bytes);
        out
    }

    /// An armoured detached signature, which clients do not accept.
    pub fn sign_armored(&self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let armorer = Armorer::new(Message::new(&mut out)).kind(armor::Kind::Signature);
        self.sign(armorer.build().unwrap(), bytes);
        out
    }

    fn sign(&self, message: Message<'_>, bytes: &[u8]) {
        let subkey = self.cert.keys().subkeys().next();
        let subkey = subkey.map(|subkey| subkey.key().clone().parts_into_secret().unwrap());
        let pair = subkey.map_or_else(|| self.owner(), |key| key.into_keypair().unwrap());
        let mut signing = Signing::new(message, pair).unwrap().detached();
        if let Some(time) = self.signs {
            signing = signing.creation_time(time);
        }
        let mut signing = signing.build().unwrap();
        signing.write_all(bytes).unwrap();
        signing.finalize().unwrap();
    }
}

/// A public key in armour.
fn armored(cert: &Cert) -> String {
    String::from_utf8(cert.armored().to_vec().unwrap()).unwrap()
}

/// The creation time of expired keys: 2020-01-01.
fn long_ago() -> SystemTime {
    SystemTime::UNIX_EPOCH + 18_262 * DAY
}

#[test]
fn keys_expire_and_are_revoked() {
    use sequoia_openpgp::types::RevocationStatus;

    let policy = StandardPolicy::new();
    for (signer, alive, revoked) in [
        (Signer::acme(), true, false),
        (Signer::expired_since(), false, false),
        (Signer::expired_before(), false, false),
        (Signer::revoked(), true, true),
    ] {
        let cert = Cert::from_bytes(signer.public_armored().as_bytes()).unwrap();
        let cert = cert.with_policy(&policy, None).unwrap();
        assert_eq!(cert.alive().is_ok(), alive);
        let status = cert.revocation_status();
        assert_eq!(matches!(status, RevocationStatus::Revoked(_)), revoked);
    }
}
