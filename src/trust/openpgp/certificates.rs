//! Certificates, read from whatever the places that offer keys put around them.
//!
//! Real key files have carriage returns, lack the last newline, carry a no-break space where an empty line belongs or text after the
//! end, and hold several keys or several blocks. A key that cannot be read is passed over: the signature may be by another.

use std::collections::BTreeMap;

use sequoia_openpgp as openpgp;

use openpgp::armor::{Kind, Writer};
use openpgp::cert::{Cert, CertParser};
use openpgp::parse::Parse;
use openpgp::serialize::Serialize as _;

use crate::authentication::Anchor;
use crate::release::KeyRing;
use crate::trust::Error;
use crate::trust::rule::{Fingerprint, Rule};

/// The most bytes of one key ring. The largest real key file has 16 KiB; certificates with many foreign signatures have more.
const LONGEST_RING: usize = 4 << 20;
/// The most certificates that are tried. The owner with the most has four.
const MOST_KEYS: usize = 256;

const BEGIN: &[u8] = b"-----BEGIN PGP PUBLIC KEY BLOCK-----";
const END: &[u8] = b"-----END PGP PUBLIC KEY BLOCK-----";

/// A certificate, with all that any of the rings knows of it: another copy may bring its renewal, or its revocation.
pub(super) struct Certificate {
    pub cert: Cert,
    pub fingerprint: Fingerprint,
    /// The best reason to believe it.
    pub anchor: Anchor,
}

impl Certificate {
    /// Armoured as clients read it, without comments, which would differ between versions of the library.
    pub fn armoured(&self) -> Option<Vec<u8>> {
        let mut writer = Writer::new(Vec::new(), Kind::PublicKey).ok()?;
        self.cert.export(&mut writer).ok()?;
        writer.finalize().ok()
    }
}

/// Every certificate that there is, and what became of the rest.
#[derive(Default)]
pub(super) struct Certificates {
    all: BTreeMap<Fingerprint, Certificate>,
    read: usize,
    skipped: bool,
}

impl Certificates {
    /// Reads the keys that the user brought and those that came along.
    ///
    /// # Errors
    /// Too many bytes or keys, and a ring of the user's own without any.
    pub fn read(rule: &Rule, rings: &[KeyRing]) -> Result<Self, Error> {
        let mut certificates = Self::default();
        for ring in &rule.keys {
            let before = certificates.read;
            certificates.add(ring)?;
            if certificates.read == before {
                return Err(Error::NotAKey {
                    name: ring.name.clone(),
                });
            }
        }
        for ring in rings {
            certificates.add(ring)?;
        }
        for pin in &rule.pins {
            if let Some(certificate) = certificates.all.get_mut(pin) {
                certificate.anchor = Anchor::Pinned;
            }
        }
        Ok(certificates)
    }

    /// All of them, in the order of their fingerprints.
    pub fn iter(&self) -> impl Iterator<Item = &Certificate> {
        self.all.values()
    }

    /// Whether some key could not be read.
    pub fn skipped(&self) -> bool {
        self.skipped
    }

    fn add(&mut self, ring: &KeyRing) -> Result<(), Error> {
        if ring.bytes.len() > LONGEST_RING {
            return Err(Error::LongKeys {
                name: ring.name.clone(),
                received: ring.bytes.len(),
                limit: LONGEST_RING,
            });
        }
        for block in blocks(&ring.bytes) {
            let before = self.read;
            for cert in CertParser::from_bytes(&block).into_iter().flatten() {
                match cert {
                    Ok(cert) => self.insert(cert, ring.anchor)?,
                    Err(_) => self.skipped = true,
                }
            }
            self.skipped |= self.read == before;
        }
        Ok(())
    }

    fn insert(&mut self, cert: Cert, anchor: Anchor) -> Result<(), Error> {
        self.read += 1;
        if self.read > MOST_KEYS {
            return Err(Error::ManyKeys { limit: MOST_KEYS });
        }
        let cert = cert.strip_secret_key_material();
        let Ok(fingerprint) = cert.fingerprint().to_hex().parse::<Fingerprint>() else {
            self.skipped = true;
            return Ok(());
        };
        let merged = match self.all.remove(&fingerprint) {
            None => Ok((cert, anchor)),
            Some(known) => {
                let anchor = stronger(known.anchor, anchor);
                known.cert.merge_public(cert).map(|cert| (cert, anchor))
            }
        };
        match merged {
            Ok((cert, anchor)) => {
                let certificate = Certificate {
                    cert,
                    fingerprint: fingerprint.clone(),
                    anchor,
                };
                self.all.insert(fingerprint, certificate);
            }
            Err(_) => self.skipped = true,
        }
        Ok(())
    }
}

fn stronger(one: Anchor, other: Anchor) -> Anchor {
    let order = [
        Anchor::Pinned,
        Anchor::Origin,
        Anchor::Embedded,
        Anchor::Lock,
    ];
    order
        .into_iter()
        .find(|anchor| *anchor == one || *anchor == other)
        .unwrap_or(one)
}

/// The armoured blocks of a text, each without what surrounds it; without any, the whole as binary.
fn blocks(ring: &[u8]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let mut rest = ring;
    while let Some((_, block)) = split_after(rest, BEGIN) {
        // A block that lost its end must not take the next one with it.
        let (body, next) = split_before(block, BEGIN).unwrap_or((block, &[]));
        let body = split_after(body, END).map_or(body, |(body, _)| body);
        found.push([BEGIN, body].concat());
        rest = next;
    }
    if found.is_empty() {
        vec![ring.to_vec()]
    } else {
        found
    }
}

fn split_before<'a>(text: &'a [u8], marker: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    text.split_at_checked(position(text, marker)?)
}

fn split_after<'a>(text: &'a [u8], marker: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    text.split_at_checked(position(text, marker)? + marker.len())
}

fn position(text: &[u8], marker: &[u8]) -> Option<usize> {
    text.windows(marker.len())
        .position(|window| window == marker)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::path::{Path, PathBuf};

    fn testdata(path: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("testdata")
            .join(path)
    }

    fn read(bytes: Vec<u8>) -> Result<Certificates, Error> {
        let ring = KeyRing {
            name: "ring".to_owned(),
            bytes,
            anchor: Anchor::Origin,
        };
        Certificates::read(&Rule::default(), &[ring])
    }

    #[test]
    fn binary_rings_are_read() {
        let armoured = std::fs::read(testdata("keys/rsa2048.asc")).expect("a key");
        let mut binary = Vec::new();
        for certificate in read(armoured).expect("a ring").iter() {
            certificate.cert.export(&mut binary).expect("bytes");
        }
        let two = read(binary.repeat(2)).expect("a ring");
        assert_eq!((two.iter().count(), two.read, two.skipped()), (1, 2, false));
    }

    #[test]
    fn a_block_without_its_end_does_not_take_the_next_with_it() {
        let key = std::fs::read(testdata("keys/rsa2048.asc")).expect("a key");
        let broken = [BEGIN, b"\n\nAAAA\n", &key, b"after"].concat();
        let certificates = read(broken).expect("a ring");
        assert_eq!(certificates.iter().count(), 1);
        assert!(certificates.skipped());
    }

    #[test]
    fn what_is_no_key_is_skipped() {
        for bytes in [&b""[..], b"hello", BEGIN, b"\xff\xff\xff", b"\x99\x00"] {
            let certificates = read(bytes.to_vec()).expect("a ring");
            assert!(certificates.skipped(), "{bytes:?}");
            assert_eq!(certificates.iter().count(), 0);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn never_panics(start: Vec<u8>, cut in 0usize..900, flip in 0usize..900, bit in 0u32..8) {
            let mut bytes = std::fs::read(testdata("keys/rsa2048.asc")).expect("a key");
            if let Some(byte) = bytes.get_mut(flip) {
                *byte ^= 1 << bit;
            }
            bytes.truncate(cut);
            let _ = read([start, bytes].concat());
        }
    }
}
