//! Hints about what a repository or a directory has of a version.

use tfoci::address::DEFAULT_HOST;
use tfoci::constraint::VersionConstraints;
use tfoci::error::printable_path;
use tfoci::outcome::{At, Problem, spelling};
use tfoci::source::filesystem_mirror::nearby;
use tfoci::store::Endpoint;
use tfoci::trust::{self, AskedBy, SignatureErrorKind};
use tfoci::version::Version;

use super::{places, proof};

/// Suggests what to do about the version that is there, or that is not.
pub(super) fn hint(problem: &Problem, address: &str) -> Option<String> {
    let text = match problem {
        Problem::NoEvidence => {
            "the version was published without evidence, or the evidence was removed: find out which before you use it. `tfoci mirror --recheck`, or publishing the signed release again, writes its evidence"
        }
        Problem::Evidence { source } => return Some(evidence(source, address)),
        Problem::Weaker { .. } | Problem::PerhapsWeaker { .. } => {
            return Some(format!(
                "nothing of this version was changed. Push the release with its signature and key. Only `--existing replace` makes evidence weaker, where a policy accepts that: `unsigned = \"allow\"` for `{address}` in a trust file"
            ));
        }
        Problem::NoPin {
            allows_unsigned: true,
        } => {
            return Some(format!(
                "{address} is allowed without a signature, which `--require-pinned` does not accept: it needs a run of its own, without that option"
            ));
        }
        Problem::NoPin { .. } => {
            return Some(format!(
                "pin its fingerprint or key file for `{address}` in a trust file; or name the key with `--key FILE`, which replaces the key files of a trust file{}",
                other_host(address)
            ));
        }
        Problem::NoVersion { available, .. } if available.is_empty() => {
            return Some(format!(
                "`tfoci versions {address} --from STORE --all` lists other tags, if there are any"
            ));
        }
        Problem::NotCanonical { .. } => {
            return Some(format!(
                "pushing the version again gives it that tag; `tfoci versions {address} --from STORE --all` explains the others"
            ));
        }
        Problem::NoVersion {
            constraints,
            available,
        } => {
            return Some(match prerelease(constraints, available) {
                Some(version) => {
                    format!("pre-releases are chosen only by name, such as `{version}`")
                }
                None => "choose among these by other constraints".to_owned(),
            });
        }
        Problem::CapitalLetters => "install it with `--unpacked`",
        problem => not_written(problem)?,
    };
    Some(text.to_owned())
}

/// A note that the user may mean a provider of another host, if the address is on the host that tfoci adds.
pub(super) fn other_host(address: &str) -> String {
    match without_host(address) {
        Some(short) => format!(
            ". Without a host, `{short}` means {address}: `--default-host registry.terraform.io` is for Terraform's"
        ),
        None => String::new(),
    }
}

/// How a user may have written the address of a provider on the default host.
pub(super) fn without_host(address: &str) -> Option<&str> {
    address.strip_prefix(DEFAULT_HOST)?.strip_prefix('/')
}

/// Suggests what to do about a version or package that was not written because of what is there.
fn not_written(problem: &Problem) -> Option<&'static str> {
    Some(match problem {
        Problem::Contended { .. } => "nothing of this version was changed. Run it again",
        Problem::Unproven { .. } => {
            "this version was not copied. `--rebuild-index` copies its packages and their evidence, and leaves out the rest, such as attestations"
        }
        Problem::Exists => {
            "without `--existing fail`, missing platforms are added, the same zips are left alone, and different zips are refused"
        }
        Problem::OtherPackage { .. } | Problem::Uncovered { .. } => {
            "nothing of this version was changed. Versions are immutable, since lock files pin their zips. Release a new version; or, if no configuration uses this one, `--existing replace`"
        }
        Problem::OtherProvider { .. } => {
            "nothing of this version was changed. Both addresses lead to this repository: a template with `{hostname}`, `{namespace}` and `{type}` tells them apart"
        }
        Problem::OtherProviders { .. } => {
            "nothing of this version was written. Clients would take the newest version of both for one provider: a template with `{hostname}`, `{namespace}` and `{type}` tells them apart. If the provider only has a new address, `--existing replace`"
        }
        Problem::Taken { .. } => {
            "nothing of this version was changed. `--existing replace` puts the provider in its place"
        }
        Problem::Occupied { .. } => {
            "nothing was replaced. Remove it, or install into another directory"
        }
        Problem::OtherForm { .. } => {
            "clients would choose between the two forms by accident. Remove one, or install in the same form"
        }
        Problem::Spelling(spelling::Error::Other { .. }) => {
            "nothing was installed. Clients do not tell the two apart, and may run what was received: remove it"
        }
        _ => return None,
    })
}

/// The newest pre-release that the constraints would admit if it were a release, or whose release they would admit.
pub(super) fn prerelease<'a>(
    constraints: &VersionConstraints,
    available: &'a [Version],
) -> Option<&'a Version> {
    let is_meant = |version: &&Version| {
        let release = Version::new(version.major(), version.minor(), version.patch());
        version.is_prerelease() && (constraints.spans(version) || constraints.spans(&release))
    };
    let meant = available.iter().filter(is_meant);
    meant.max_by(|a, b| a.cmp_precedence(b))
}

/// What to do about evidence that does not prove the packages beside it. The key may be a new one of the author.
fn evidence(error: &trust::Error, address: &str) -> String {
    let reason = match error {
        // This is no sign of an attack: many releases of public origins have no signature.
        trust::Error::NotSigned {
            asked_by,
            is_allowed,
            ..
        } => return unsigned(asked_by.as_ref(), *is_allowed, address),
        trust::Error::Refused(refusal) => Some(&refusal.reason),
        trust::Error::Mismatch(_) => {
            const MIXED: &str = "do not use these packages: either the store was tampered with, or a replacement of this version was interrupted. `--existing replace` of `tfoci push`, or of `tfoci copy` from a store that is whole, completes it";
            return MIXED.to_owned();
        }
        _ => None,
    };
    let (advice, expected) = match reason {
        Some(SignatureErrorKind::Revoked { .. }) => {
            const REVOKED: &str = "its owner has revoked this key. Do not use these packages until their author has signed the release by another key, and it is pushed or mirrored again";
            return REVOKED.to_owned();
        }
        Some(SignatureErrorKind::NotPinned { expected, received }) => {
            (proof::pin_too(expected, received, address), expected)
        }
        // The signature is good, and a rule of the user refuses it.
        Some(SignatureErrorKind::Expired { .. }) => {
            const EXPIRED: &str = "the trust file refuses expired keys. If the signature was made while the key was in use, `expired = \"warn\"` lets it pass, as clients do; else do not use these packages";
            return EXPIRED.to_owned();
        }
        Some(SignatureErrorKind::WeakDocument { .. }) => {
            const WEAK: &str =
                "`weak = \"warn\"` in a trust file lets it pass; else do not use these packages";
            return WEAK.to_owned();
        }
        Some(SignatureErrorKind::OtherKey { expected, .. }) => {
            let advice = proof::name_too(expected, address);
            (format!("If its author has a new key, {advice}"), expected)
        }
        _ => {
            const TAMPERED: &str = "do not use these packages: either the store was tampered with, or the key that you named is not the author's";
            return TAMPERED.to_owned();
        }
    };
    let verified = verified(expected.asked_by.as_ref(), address);
    format!(
        "this version is not signed by a key that you named. {advice}; else do not use these packages. {verified}"
    )
}

/// What to do about a version without a signature, whose provider has a pinned key.
fn unsigned(asked_by: Option<&AskedBy>, is_allowed: bool, address: &str) -> String {
    let accept = proof::unpin(asked_by, address);
    let verified = verified(asked_by, address);
    let overruled = match is_allowed {
        true => format!(", and {}", proof::OVERRULED),
        false => String::new(),
    };
    format!(
        "it was stored without a signature{overruled}. If its author does not sign, {accept}; else do not use these packages. {verified}"
    )
}

/// The command that shows which other versions can be used.
fn verified(asked_by: Option<&AskedBy>, address: &str) -> String {
    let trust = match asked_by {
        Some(AskedBy::Option) => "--key",
        Some(AskedBy::TrustFile { .. }) | None => "--trust",
    };
    format!(
        "`tfoci versions {address} --from STORE {trust} FILE` lists the versions that verify; `'{address}@!= VERSION'` leaves this one out"
    )
}

/// Users forget the host most often: an address of two parts is on the default host. A layout may also lie in a directory nearby.
pub(super) fn no_provider(address: &str, at: &At) -> String {
    let place = match at {
        At::From { store, .. } => store.name(),
        At::Source(_) | At::To { .. } | At::Here => "",
    };
    let endpoint = Endpoint::parse(place, false).ok();
    let directory = endpoint.as_ref().and_then(Endpoint::directory);
    if let Some(directory) = directory.filter(|directory| nearby::is_mirror(directory)) {
        return places::is_mirror(directory);
    }
    let meant = endpoint.and_then(|endpoint| endpoint.likely_directory());
    let meant = meant.map(|directory| format!("oci-layout:{}", printable_path(&directory)));
    if let Some(meant) = meant.filter(|meant| meant != place) {
        return format!("did you mean {meant}?");
    }
    match without_host(address) {
        Some(short) => format!(
            "perhaps it was not mirrored or pushed there yet; `tfoci list --from STORE` lists the providers. Without a host, `{short}` means {address}: for another host write HOST/{short}, or `--default-host HOST`"
        ),
        None => "`tfoci list --from STORE` lists the providers of the store, with their hosts"
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_that_a_rule_refuses_is_no_sign_of_an_attack() {
        let key = "A".repeat(40);
        let reason = SignatureErrorKind::WeakDocument {
            key: key.parse().expect("a fingerprint"),
        };
        let signature = "SHA256SUMS.sig".to_owned();
        let error = trust::Error::Refused(trust::SignatureError { signature, reason });
        assert_eq!(
            evidence(&error, "ADDR"),
            "`weak = \"warn\"` in a trust file lets it pass; else do not use these packages"
        );
    }
}
