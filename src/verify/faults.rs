//! What is wrong with a part of a version, by its error, and how it is repaired.

use crate::archive;
use crate::blob;
use crate::error::{Category, printable};
use crate::finding::{Code, Finding};
use crate::oci::{Descriptor, Part, Refusal};
use crate::outcome::Problem;
use crate::platform::Platform;
use crate::store;
use crate::trust;
use crate::trust::SignatureErrorKind;

/// The code of a part that cannot be used.
pub(crate) fn code_of(error: &store::Error, part: Part) -> Code {
    match error {
        store::Error::Missing { what, .. } => match what {
            Part::Package | Part::Layer => Code::PackageMissing,
            Part::Evidence => Code::EvidenceMissing,
            Part::Manifest | Part::Entry => Code::ChildMissing,
            _ => Code::IndexMissing,
        },
        store::Error::Blob { source, .. } => match source {
            blob::Error::Longer { .. } | blob::Error::Shorter { .. } => Code::SizeDiffers,
            blob::Error::Archive(_) => Code::ZipRefused,
            source if source.is_damage() => Code::BytesDiffer,
            _ => Code::Unreadable,
        },
        store::Error::Refusal(refusal) => match refusal {
            refusal if refusal.category() == Category::Untrusted => Code::MemberRepeated,
            Refusal::Wrong {
                what: Part::Tag, ..
            }
            | Refusal::NoProviders { .. } => Code::NotAProvider,
            _ if part == Part::Manifest => Code::ManifestRefused,
            _ => Code::IndexRefused,
        },
        _ => Code::Unreadable,
    }
}

/// The code of a version that does not verify, or of a package that was read.
pub(super) fn code_of_problem(problem: &Problem) -> Code {
    match problem {
        Problem::NoEvidence => Code::EvidenceMissing,
        Problem::Trust(trust::Error::Denied { .. }) => Code::Denied,
        Problem::Trust(trust::Error::NotAttested { .. }) => Code::NotAttested,
        Problem::Store(error) => code_of(error, Part::Package),
        Problem::Unreadable(store::Error::Missing { .. }) => Code::EvidenceMissing,
        Problem::Archive { source, .. } => match source {
            archive::Error::NoExecutable { .. } => Code::NoExecutable,
            _ => Code::ZipRefused,
        },
        Problem::Evidence {
            source: trust::Error::Refused(refused),
        } if matches!(refused.reason, SignatureErrorKind::Revoked { .. }) => Code::KeyRevoked,
        Problem::Disk(_) => Code::Unreadable,
        _ => Code::NotVerified,
    }
}

/// The finding about an entry of an index that no client selects.
pub(super) fn ignored(entry: &Descriptor) -> Finding {
    let platform = entry.platform.as_ref();
    let platform = platform.map(|one| format!("{}_{}", one.os, one.architecture));
    let platform = printable(&platform.unwrap_or_default());
    let why = match entry.artifact_type {
        None => "it has no artifactType",
        Some(_) => "they ask for no such platform",
    };
    let message = format!("clients pass over the entry of {platform}: {why}");
    Finding::new(Code::EntryIgnored, message)
}

/// Adds the command that repairs a version or provider. `mirror` are the options of `tfoci mirror` for the store, and `platforms` those that the store
/// should have of the version.
pub(super) fn repaired(finding: &mut Finding, mirror: Option<&str>, platforms: &[Platform]) {
    let rechecks = match finding.code {
        Code::IndexMissing
        | Code::ChildMissing
        | Code::PackageMissing
        | Code::EvidenceMissing
        | Code::SizeDiffers
        | Code::BytesDiffer
        | Code::KeyOutdated => " --recheck",
        Code::EvidenceOrphan
        | Code::VersionMissing
        | Code::VersionNotMirrored
        | Code::PlatformNotMirrored => "",
        _ => return,
    };
    let (Some(provider), Some(options)) = (&finding.provider, mirror) else {
        return;
    };
    let own = finding.platform.iter();
    let own: Vec<_> = own
        .filter(|_| finding.code == Code::PlatformNotMirrored)
        .collect();
    let platforms = match own.is_empty() {
        true => platforms.iter().collect(),
        false => own,
    };
    let version = finding.version.as_ref();
    let version = version.map(|version| format!("@{version}"));
    let version = version.unwrap_or_default();
    let platforms = platforms.iter().map(|one| format!(" --platform {one}"));
    let platforms: String = platforms.collect();
    let command = format!("tfoci mirror {provider}{version}{platforms}{rechecks} {options}");
    *finding = finding.clone().fixed_by(command);
}
