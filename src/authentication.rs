//! Authentication: what is known about who made a package, and why that is believed.
//!
//! One vocabulary serves text, JSON and code: a [`Status`] says how far the proof goes, an [`Anchor`] why the key behind it
//! is believed, and each [`Note`] what was let pass on the way.

use std::fmt;

use serde::Serialize;

/// What is known about who made a package, and why that is believed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Authentication {
    /// How far the proof goes.
    pub status: Status,
    /// The reason to believe the key, or that a lock file vouches for the package; absent without a signature, and where the only
    /// reason would be that the origin served the key, over a connection that proves nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchor: Option<Anchor>,
    /// The fingerprint of the signing certificate's primary key, in upper-case hex.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// What was let pass on the way, in order, without repeats.
    pub notes: Vec<Note>,
}

/// How far the proof of a package goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Nothing but the zip.
    Unverified,
    /// A checksum document names the zip, without a usable key or signature.
    Checksum,
    /// The checksum document has a good signature, and the zip is in it.
    Signed,
}

/// The reason to believe a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Anchor {
    /// The trust file, or `--key`, names it.
    Pinned,
    /// The origin served it just now, over TLS whose certificates were verified.
    Origin,
    /// It lies beside the artifact: consistent, and no more than that.
    Embedded,
    /// The package's `zh` stands in a lock file that was given.
    Lock,
}

/// Something about a release that was let pass, and that its users may want to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Note {
    /// The signing key is expired, now or already when it signed.
    ExpiredKey,
    /// The signing key is of a size or kind that is no longer recommended.
    WeakKey,
    /// The key's own certificate is held together by SHA-1.
    WeakSelfSignature,
    /// The signature over the checksum document uses SHA-1.
    WeakDocument,
    /// The signature declares a wrong length for one of its numbers; it was read with the right one.
    RepairedMpi,
    /// A key that came along could not be read and was passed over.
    SkippedKey,
    /// The checksum document has a blank line, on which clients crash when they read it from a registry.
    BlankLine,
    /// A zip has directory entries, so its `h1` differs from that of the unpacked directory.
    DirectoryEntries,
    /// A line of the checksum document is not a checksum and a name, so clients harvest no hashes from it.
    OddLine,
    /// The release's manifest is not in the signed checksum document.
    UnlistedManifest,
    /// A JSON document has duplicate or wrong-case keys, which clients read and strict tools may not.
    LenientJson,
    /// A manifest is larger than the 4 MiB that registries take.
    LargeManifest,
    /// The artifact is one that tfoci wrote, and no evidence is stored for it.
    NoEvidence,
    /// The origin served the signing key without TLS, or over TLS whose certificate was not verified: an attacker on the network
    /// may have replaced the key together with the package.
    UnverifiedTransport,
}

impl Note {
    /// The word for this note, in text and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ExpiredKey => "expired-key",
            Self::WeakKey => "weak-key",
            Self::WeakSelfSignature => "weak-self-signature",
            Self::WeakDocument => "weak-document",
            Self::RepairedMpi => "repaired-mpi",
            Self::SkippedKey => "skipped-key",
            Self::BlankLine => "blank-line",
            Self::DirectoryEntries => "directory-entries",
            Self::OddLine => "odd-line",
            Self::UnlistedManifest => "unlisted-manifest",
            Self::LenientJson => "lenient-json",
            Self::LargeManifest => "large-manifest",
            Self::NoEvidence => "no-evidence",
            Self::UnverifiedTransport => "unverified-transport",
        }
    }
}

impl Authentication {
    /// A warning for people, where the words alone are easily overlooked.
    pub fn warning(&self) -> Option<&'static str> {
        self.notes.contains(&Note::NoEvidence).then_some(
            "no evidence is stored for this version: it was published without any, or the evidence was removed",
        )
    }
}

impl Status {
    /// The word for this status, in text and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Signed => "signed",
            Self::Checksum => "checksum",
            Self::Unverified => "unverified",
        }
    }
}

impl Anchor {
    /// The word for this anchor, in text and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pinned => "pinned",
            Self::Origin => "origin",
            Self::Embedded => "embedded",
            Self::Lock => "lock",
        }
    }
}

/// As people read it: `signed 34365D9472D7468F (pinned)`, `checksum`, `unverified`.
impl fmt::Display for Authentication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.status.as_str())?;
        if let Some(key_id) = self.fingerprint.as_deref().and_then(key_id) {
            write!(f, " {key_id}")?;
        }
        if let Some(anchor) = self.anchor {
            write!(f, " ({})", anchor.as_str())?;
        }
        for note in &self.notes {
            write!(f, " {}", note.as_str())?;
        }
        Ok(())
    }
}

/// The last 16 digits of a fingerprint, which is how clients show a version 4 key.
fn key_id(fingerprint: &str) -> Option<&str> {
    fingerprint.get(fingerprint.len().checked_sub(16)?..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_read_status_key_anchor_and_notes() {
        let authentication = Authentication {
            status: Status::Signed,
            anchor: Some(Anchor::Pinned),
            fingerprint: Some("C874011F0AB405110D02105534365D9472D7468F".to_owned()),
            notes: vec![Note::ExpiredKey],
        };
        assert_eq!(
            authentication.to_string(),
            "signed 34365D9472D7468F (pinned) expired-key"
        );
    }

    #[test]
    fn the_words_of_text_and_json_are_the_same() {
        for note in [
            Note::ExpiredKey,
            Note::WeakSelfSignature,
            Note::DirectoryEntries,
            Note::LenientJson,
            Note::NoEvidence,
            Note::UnverifiedTransport,
        ] {
            assert_eq!(serde_json::to_value(note).ok(), Some(note.as_str().into()));
        }
        assert_eq!(
            serde_json::to_value(Status::Signed).ok(),
            Some("signed".into())
        );
        assert_eq!(
            serde_json::to_value(Anchor::Pinned).ok(),
            Some("pinned".into())
        );
    }
}
