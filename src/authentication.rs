//! Authentication: how well a package is proven to come from its author.
//!
//! Messages, JSON and code use the same terms: a [`Status`] is the level of proof, an [`Anchor`] the reason to trust the key, and each
//! [`Note`] an irregularity that was accepted.

use std::fmt;
use std::time::SystemTime;

use serde::Serialize;

use crate::fingerprint::Fingerprint;

/// The result of verifying a package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Authentication {
    /// The level of proof.
    pub status: Status,
    /// The reason to trust the key, or that a lock file contains the package's hash; `None` without a signature, and if the origin
    /// served the key over an unverified connection.
    pub anchor: Option<Anchor>,
    /// The fingerprint of the signing certificate's primary key, in upper-case hex.
    pub fingerprint: Option<Fingerprint>,
    /// The user id of a pinned key, safe to print. A key that is not pinned may carry any name, so its name is never here.
    #[serde(skip)]
    pub signer: Option<String>,
    /// When the signature says that it was made.
    #[serde(skip)]
    pub signed_at: Option<SystemTime>,
    /// Accepted irregularities, in order, without duplicates.
    pub notes: Vec<Note>,
}

/// The level of proof for a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Only the zip is known.
    Unverified,
    /// A checksum document lists the zip, but no key or signature is usable.
    Checksum,
    /// A valid signature covers the checksum document, which lists the zip.
    Signed,
}

/// The reason to trust a key, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Anchor {
    /// The trust file or `--key` contains the key.
    Pinned,
    /// The origin served the key in this run, over verified TLS.
    Origin,
    /// The key is stored beside the artifact. The parts are consistent, but anyone with write access can replace them together.
    Embedded,
    /// A given lock file contains the package's `zh` hash.
    Lock,
}

/// An accepted irregularity of a release that users may want to know about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Note {
    /// The signing key has expired, or had expired when it signed.
    ExpiredKey,
    /// The size or algorithm of the signing key is no longer recommended.
    WeakKey,
    /// The self-signature of the key's certificate uses SHA-1.
    WeakSelfSignature,
    /// The signature over the checksum document uses SHA-1.
    WeakDocument,
    /// The signature declares a wrong length for one of its numbers. It was parsed with the correct length.
    RepairedMpi,
    /// An earlier signature in the same file is not good. Clients try no signature after it, and refuse the file.
    SecondSignature,
    /// A key that the source provides cannot be parsed and was skipped.
    SkippedKey,
    /// The checksum document has a blank line. Clients crash on it if it comes from an origin.
    BlankLine,
    /// A zip has directory entries, so its `h1` differs from that of the unpacked directory.
    DirectoryEntries,
    /// A line of the checksum document is not a checksum and a name, so clients take no hashes from it.
    OddLine,
    /// The signed checksum document does not list the provider manifest of the release.
    #[serde(rename = "unlisted-manifest")]
    UnlistedProviderManifest,
    /// The signed checksum document lists a provider manifest that the release folder does not have.
    #[serde(rename = "missing-manifest")]
    MissingProviderManifest,
    /// A JSON document has members in an unusual letter case or duplicates. Clients accept them, and stricter parsers may not.
    LenientJson,
    /// An OCI manifest is larger than 4 MiB, which registries refuse.
    LargeManifest,
    /// tfoci wrote the artifact, but the store has no evidence for it.
    NoEvidence,
    /// The origin served the signing key without verified TLS: an attacker on the network may have replaced the key together with the
    /// package.
    UnverifiedTransport,
}

impl Note {
    /// A warning for people, if the word alone is easily overlooked.
    pub fn warning(self) -> Option<&'static str> {
        match self {
            Self::NoEvidence => Some(
                "no evidence is stored for this version: it was published without any, or the evidence was removed",
            ),
            Self::MissingProviderManifest => Some(
                "the checksum document lists a provider manifest that is not in the folder: plugin protocol 5.0 is assumed",
            ),
            _ => None,
        }
    }
}

impl Authentication {
    /// A short form for narrow terminals: `signed (pinned)`.
    pub fn without_key(&self) -> String {
        let narrow = Self {
            fingerprint: None,
            ..self.clone()
        };
        narrow.to_string()
    }
}

/// The word in JSON.
impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// The word in JSON.
impl fmt::Display for Anchor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// The word in JSON.
impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// As people read it: `signed 34365D9472D7468F (pinned)`, `checksum`, `unverified`.
impl fmt::Display for Authentication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.status.fmt(f)?;
        if let Some(fingerprint) = &self.fingerprint {
            write!(f, " {}", fingerprint.key_id())?;
        }
        if let Some(anchor) = self.anchor {
            write!(f, " ({anchor})")?;
        }
        for note in &self.notes {
            write!(f, " {note}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_read_status_key_anchor_and_notes() {
        let authentication = Authentication {
            status: Status::Signed,
            anchor: Some(Anchor::Pinned),
            fingerprint: "C874011F0AB405110D02105534365D9472D7468F".parse().ok(),
            signer: Some("Acme <a@acme.example>".to_owned()),
            signed_at: None,
            notes: vec![Note::ExpiredKey],
        };
        assert_eq!(
            authentication.to_string(),
            "signed 34365D9472D7468F (pinned) expired-key"
        );
    }
}
