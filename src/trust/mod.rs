//! Trust: verifies a [`Release`] from a source, so that it may be published, installed or locked.
//!
//! The chain of trust has three links, and each must hold. A **key** is trusted for a reason (its [`Anchor`]). With the key, the author
//! signed the bytes of the **checksum document**. A line of that document gives the SHA-256 of each **package**, under a file name
//! for this type, version and platform. A [`Rule`] can allow a missing key, signature or document, and the status then shows
//! that. Anything *wrong* in the chain is always an error.
//!
//! | status | what held |
//! | --- | --- |
//! | `signed` | the whole chain |
//! | `checksum` | the lines of a document whose signature was not checked: there is no usable key or no signature |
//! | `unverified` | nothing: there is no document |
//!
//! tfoci accepts what [unmodified clients accept](crate::clients#signatures), with four deliberate differences:
//! SHA-1 over the document and origins without keys need an option, unreadable keys are skipped, and
//! a revoked key is refused regardless of when it was revoked.

use std::collections::{BTreeSet, HashSet};
use std::ops::Deref;
use std::time::SystemTime;

use crate::authentication::{Anchor, Authentication, Note, Status};
use crate::digest::Digest;
use crate::error::printable;
use crate::event::{Event, Subject};
use crate::hash::PackageHash;
use crate::platform::Platform;
use crate::release::{Document, Expected, KeyRing, Package, Release, canonical_file_name};

mod canonical;
pub mod checksums;
mod deadline;
pub mod deny;
mod doubt;
mod error;
mod file_name;
mod hint;
mod key_description;
pub mod limits;
mod lines;
#[cfg(feature = "openpgp")]
mod openpgp;
#[cfg(not(feature = "openpgp"))]
#[path = "no_openpgp.rs"]
mod openpgp;
pub mod pins;
pub mod policy;
pub mod rule;
mod signature_error;
mod trust_file;

pub use checksums::Checksums;
pub use deadline::Deadline;
pub use deny::{Denial, Denials};
pub use doubt::{Doubt, doubts};
pub use error::{Error, Lacking};
pub use file_name::{PackageName, ReleaseId};
pub use key_description::KeyDescription;
pub use openpgp::describe;
pub use policy::Policy;
pub use rule::Rule;
pub use signature_error::{SignatureError, SignatureErrorKind};
pub use trust_file::{KeyFile, TrustEntry, TrustFile, check_key_file, check_mirror_key};

/// A value that satisfies its [`Rule`]. Only [`verify`] and [`verify_within`] create one.
#[derive(Clone, Debug)]
pub struct Verified<T>(T, Proof);

#[derive(Clone, Debug)]
struct Proof {
    authentication: Authentication,
    checksums: Option<Checksums>,
    signature: Option<Document>,
    signer: Option<KeyDescription>,
    /// Whether the key is pinned, or its origin served it over verified TLS, whatever a lock file says.
    is_key_known: bool,
}

#[cfg_attr(
    not(feature = "openpgp"),
    expect(dead_code, reason = "only OpenPGP verification reads it")
)]
struct VerificationInput<'a> {
    /// The bytes that were signed.
    document: &'a [u8],
    /// The signatures, in the order in which they are tried.
    signatures: &'a [Document],
    /// The keys of the release.
    rings: &'a [KeyRing],
    rule: &'a Rule,
    /// The time at which keys are checked for expiry.
    now: SystemTime,
}

/// The first good signature.
struct ValidSignature {
    /// Its index among the signatures.
    signature: usize,
    /// The certificate's primary key.
    signer: KeyDescription,
    /// The trust anchor of the certificate.
    anchor: Anchor,
    /// When it was made, as the signature says.
    at: Option<SystemTime>,
    /// The weaknesses that were tolerated.
    notes: Vec<Note>,
}

/// Verifies a release against a rule. `now` is the time used to decide whether a key has expired.
///
/// # Errors
/// Something is wrong, or something is missing that the rule does not allow to be missing: see [`Error`] and [`SignatureError`].
pub fn verify<L>(
    release: Release<L>,
    rule: &Rule,
    now: SystemTime,
) -> Result<Verified<Release<L>>, Error> {
    verify_within(release, rule, now, &Deadline::default())
}

/// As [`verify`], with a deadline, by which the caller can cancel it: hostile keys may take seconds.
///
/// # Errors
/// As [`verify`], and [`Error::Costly`] if the deadline has passed.
pub fn verify_within<L>(
    release: Release<L>,
    rule: &Rule,
    now: SystemTime,
    deadline: &Deadline,
) -> Result<Verified<Release<L>>, Error> {
    let mut notes = release.notes.clone();
    let checksums = release
        .checksums
        .as_ref()
        .map(|document| Checksums::parse(&document.bytes))
        .transpose()?;
    let good = match &release.checksums {
        Some(document) if !release.signatures.is_empty() => {
            let question = VerificationInput {
                document: &document.bytes,
                signatures: &release.signatures,
                rings: &release.keys,
                rule,
                now,
            };
            openpgp::check(&question, &mut notes, deadline)?
        }
        _ => None,
    };
    // After the signature check, since the lines of an altered document prove nothing about packages.
    let subject = ReleaseId::of(&release);
    for package in &release.packages {
        matches_its_line(subject, package, checksums.as_ref())?;
    }
    // Pinned keys require a signature by one of them, even if unsigned releases are allowed.
    if good.is_none() && (rule.unsigned == rule::Unsigned::Refuse || rule.pinned()) {
        return Err(what_is_missing(&release, rule));
    }
    notes.extend(checksums.iter().flat_map(Checksums::notes));
    let mut release = release;
    if checksums.is_none() {
        name_canonically(&mut release);
    }
    let proof = Proof::new(&release, good, checksums, notes);
    Ok(Verified(release, proof))
}

/// Checks that a lock file lists the zip of a package.
///
/// # Errors
/// The lock file does not list the zip, or lists no zip of this version.
pub fn among(
    hashes: &BTreeSet<PackageHash>,
    platform: &Platform,
    zip: &Digest,
) -> Result<(), Error> {
    let zips = hashes.iter().filter(|hash| hash.zip_digest().is_some());
    let expected: Vec<PackageHash> = zips.cloned().collect();
    if expected.is_empty() {
        return Err(Error::NoZipLocked);
    }
    if expected.iter().any(|hash| hash.zip_digest() == Some(*zip)) {
        return Ok(());
    }
    Err(Error::NotLocked {
        platform: platform.clone(),
        expected,
        received: *zip,
    })
}

fn matches_its_line<L>(
    subject: ReleaseId<'_>,
    package: &Package<L>,
    checksums: Option<&Checksums>,
) -> Result<(), Error> {
    let Some(checksums) = checksums else {
        return Ok(());
    };
    let file_name = || package.file_name.clone();
    if !subject.is_named(&package.file_name, &package.platform) {
        return Err(Error::OtherName {
            expected: canonical_file_name(subject.provider, subject.version, &package.platform),
            received: file_name(),
        });
    }
    match checksums.lookup(&package.file_name) {
        None => Err(Error::NoLine {
            file_name: file_name(),
        }),
        Some(expected) if expected != package.expected.digest => Err(Error::Mismatch {
            file_name: file_name(),
            expected,
            received: package.expected.digest,
        }),
        Some(_) => Ok(()),
    }
}

/// Gives packages their canonical file names. Without a checksum document the source could choose any name, and OCI tools use
/// the name, which becomes the layer's title, as a file name when they download the layer.
fn name_canonically<L>(release: &mut Release<L>) {
    let (provider, version) = (&release.provider, &release.version);
    for package in &mut release.packages {
        package.file_name = canonical_file_name(provider, version, &package.platform);
    }
}

fn what_is_missing<L>(release: &Release<L>, rule: &Rule) -> Error {
    let lacks = match &release.checksums {
        None => Lacking::Document,
        Some(_) if release.signatures.is_empty() => Lacking::Signature,
        Some(_) => Lacking::Key,
    };
    let files = rule.keys.iter().filter(|_| rule.pins.is_empty());
    let files = files.map(|ring| printable(&ring.name));
    let pins = rule.pins.iter().map(ToString::to_string);
    let pinned = match rule.pinned() {
        true => pins.chain(files).collect(),
        false => Vec::new(),
    };
    Error::Unproven { lacks, pinned }
}

impl Proof {
    fn new<L>(
        release: &Release<L>,
        good: Option<ValidSignature>,
        checksums: Option<Checksums>,
        mut notes: Vec<Note>,
    ) -> Self {
        let status = match (&good, &checksums) {
            (Some(_), _) => Status::Signed,
            (None, Some(_)) => Status::Checksum,
            (None, None) => Status::Unverified,
        };
        // A key from the origin is trusted only if the connection was verified. Other anchors do not depend on the connection.
        let found = good.as_ref().map(|good| good.anchor);
        let is_unverified =
            found == Some(Anchor::Origin) && notes.contains(&Note::UnverifiedTransport);
        let anchor = found.filter(|_| !is_unverified);
        let named = good.as_ref().filter(|_| anchor == Some(Anchor::Pinned));
        let name = named.and_then(|good| good.signer.user_id.as_deref());
        notes.extend(good.iter().flat_map(|good| good.notes.clone()));
        let mut said = HashSet::new();
        notes.retain(|note| {
            (is_unverified || *note != Note::UnverifiedTransport) && said.insert(*note)
        });
        Self {
            authentication: Authentication {
                status,
                anchor,
                fingerprint: good.as_ref().map(|good| good.signer.fingerprint.clone()),
                signer: name.map(printable),
                signed_at: good.as_ref().and_then(|good| good.at),
                notes,
            },
            checksums,
            signature: good
                .as_ref()
                .and_then(|good| release.signatures.get(good.signature).cloned()),
            signer: good.map(|good| good.signer),
            is_key_known: matches!(anchor, Some(Anchor::Pinned | Anchor::Origin)),
        }
    }
}

impl<T> Deref for Verified<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<L> Verified<Release<L>> {
    /// The status of the release, and the reasons for it.
    pub fn authentication(&self) -> &Authentication {
        &self.1.authentication
    }

    /// The report that the release is verified.
    pub(crate) fn event(&self) -> Event {
        Event::Verified {
            subject: Subject::version(&self.provider, &self.version),
            authentication: self.authentication().clone(),
        }
    }

    /// The checksum document, parsed.
    pub fn checksums(&self) -> Option<&Checksums> {
        self.1.checksums.as_ref()
    }

    /// The checksum document of a release that has to have one.
    ///
    /// # Errors
    /// There is none.
    pub fn required_checksums(&self) -> Result<&Checksums, Error> {
        let (lacks, pinned) = (Lacking::Document, Vec::new());
        self.checksums().ok_or(Error::Unproven { lacks, pinned })
    }

    /// The good signature.
    pub fn signature(&self) -> Option<&Document> {
        self.1.signature.as_ref()
    }

    /// The certificate of the good signature, alone and armoured. The same keys always give the same bytes.
    pub fn certificate(&self) -> Option<&[u8]> {
        self.signer()?.certificate.as_deref()
    }

    /// Whether the good signature is by a key that is pinned, or that its origin served over verified TLS.
    pub fn is_key_known(&self) -> bool {
        self.1.is_key_known
    }

    /// The key of the good signature, as it describes itself.
    pub fn signer(&self) -> Option<&KeyDescription> {
        self.1.signer.as_ref()
    }

    /// Adds a note about something found after verification, such as an irregularity of a zip.
    pub fn note(&mut self, note: Note) {
        let notes = &mut self.1.authentication.notes;
        if !notes.contains(&note) {
            notes.push(note);
        }
    }

    /// Removes packages for other platforms.
    pub fn only(mut self, keep: impl Fn(&Platform) -> bool) -> Self {
        self.0.packages.retain(|package| keep(&package.platform));
        self
    }

    /// Sets the location and size of each package, in order. The release stays verified, because verification only concerns the
    /// digests. Packages beyond the end of `found` are removed.
    pub fn located<M>(self, found: impl IntoIterator<Item = (M, u64)>) -> Verified<Release<M>> {
        let Self(mut release, proof) = self;
        let packages = std::mem::take(&mut release.packages).into_iter();
        let packages = packages.zip(found);
        let packages = packages.map(|(package, (location, size))| Package {
            platform: package.platform,
            file_name: package.file_name,
            expected: Expected {
                digest: package.expected.digest,
                size,
            },
            location,
        });
        let release = release.with_packages(packages.collect());
        Verified(release, proof)
    }

    /// Checks the packages against a lock file and sets the anchor to `lock`. The anchor of a pinned key is stronger and stays.
    ///
    /// # Errors
    /// A package is not among the hashes, or none of them is the hash of a zip.
    pub fn locked(mut self, hashes: &BTreeSet<PackageHash>) -> Result<Self, Error> {
        for package in &self.packages {
            among(hashes, &package.platform, &package.expected.digest)?;
        }
        let anchor = &mut self.1.authentication.anchor;
        if *anchor != Some(Anchor::Pinned) {
            *anchor = Some(Anchor::Lock);
        }
        Ok(self)
    }

    /// The platforms of the packages that the checksum document lists; none without one.
    pub fn listed_platforms(&self) -> impl Iterator<Item = Platform> {
        let subject = ReleaseId::of(&self.0);
        let lines = self.checksums().into_iter().flat_map(Checksums::lines);
        lines.filter_map(move |(name, _)| subject.platform_of(name))
    }

    /// Checks that the checksum document also covers these zips. Only their platform and digest are known: an OCI index
    /// into which this release is merged has them.
    ///
    /// # Errors
    /// No line covers one of the zips, or there is no checksum document.
    pub fn covers<'a>(
        &self,
        zips: impl IntoIterator<Item = (&'a Platform, &'a Digest)>,
    ) -> Result<(), Error> {
        let checksums = self.required_checksums()?;
        let subject = ReleaseId::of(&self.0);
        for (platform, zip) in zips {
            if !checksums.covers(subject, platform, zip) {
                return Err(Error::Uncovered {
                    platform: platform.clone(),
                    digest: *zip,
                });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
