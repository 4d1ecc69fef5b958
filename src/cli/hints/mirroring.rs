//! Hints for versions that are not mirrored. Users of `mirror` usually cannot sign or build the provider again.

use tfoci::address::{self, Hostname, ProviderAddr};
use tfoci::archive;
use tfoci::config::mirror::{self, MirrorEntryError};
use tfoci::constraint::VersionConstraints;
use tfoci::error::{Category, printable};
use tfoci::http::{self, Reason};
use tfoci::outcome::{Failure, PackageError, Problem};
use tfoci::source;
use tfoci::store;
use tfoci::trust::{self, AskedBy, SignatureErrorKind};
use tfoci::version::Version;

use super::{Effect, origins, proof, versions};

/// Which other versions are signed is not known without a request for each.
const OLDER: &str = "An older version may be signed: `ADDR@VERSION` names it";

/// The signature may be good.
pub(super) const NO_KEY: &str = "The origin serves no usable key. If you have the author's key, name its file with `--key FILE` or in the trust file";

pub(super) fn hint(failure: &Failure, effect: Effect) -> Option<String> {
    let provider = &failure.subject.as_ref()?.provider;
    let text = match &*failure.problem {
        Problem::Trust(trust::Error::Refused(refusal)) if failure.is_stored => {
            let address = provider.to_string();
            return of_stored(&refusal.reason, &address)
                .or_else(|| of_signature(&refusal.reason, &address, effect));
        }
        Problem::Trust(error) => {
            let advice = of_trust(error, provider, effect)?;
            return Some(advice + &until_then(failure, effect).unwrap_or_default());
        }
        Problem::Archive { source, .. }
        | Problem::Source(source::Error::Archive { source, .. }) => {
            return of_zip(source).map(str::to_owned);
        }
        Problem::OtherPackage { .. } | Problem::Uncovered { .. } => {
            let version = failure.subject.as_ref()?.version.as_ref()?;
            return Some(format!(
                "nothing of this version was changed. Versions are immutable, since lock files pin their zips: ask its author why this one was made again. Until then, the constraint `!= {version}` leaves it out; `tfoci help maintenance` says how to replace it"
            ));
        }
        Problem::Taken { .. } => {
            "nothing of this version was changed. Mirror into another repository, or delete the tag in the store first"
        }
        Problem::Weaker { .. } => {
            "nothing of this version was changed. Mirror it from where its author signs it"
        }
        Problem::Store(store::Error::Immutable { .. }) => {
            "the version is as it was. Mirror all platforms of a version at once, or have the registry's operator let the tags of this repository move"
        }
        Problem::NoVersion { available, .. } if available.is_empty() => {
            "the source knows the provider, and lists no version of it"
        }
        Problem::NoVersion {
            constraints,
            available,
        } => return Some(no_version(constraints, available)),
        Problem::NoPin {
            allows_unsigned: true,
        } => {
            return Some(format!(
                "{provider} is allowed without a signature, which `--require-pinned` does not accept: leave it out with `--exclude {provider}`, and mirror it in a second run without `--require-pinned`"
            ));
        }
        Problem::NoPin { .. } => {
            return Some(format!(
                "run it once with `--pin-new` instead of `--require-pinned`, and review the key that it pins for {provider}; or add an entry to the trust file by hand. `--trust FILE`, or `trust` in a mirror file, names the trust file{}",
                versions::other_host(&provider.to_string())
            ));
        }
        Problem::Withdrawn { .. } => {
            "it may have been withdrawn: lock another version, or copy this one with `tfoci copy` from a store that has it"
        }
        _ => return None,
    };
    Some(text.to_owned())
}

/// A hint of `lock` and `install` for a provider that perhaps has no origin.
pub(super) fn with_store(failure: &Failure) -> Option<String> {
    let Problem::Source(error) = &*failure.problem else {
        return None;
    };
    let advice = origins::at_source(error, Effect::ReadOnly).filter(|_| has_no_origin(error))?;
    Some(format!(
        "{advice}. If a store has the provider, `--from STORE` names it, or the client's configuration does (`tfoci cli-config`)"
    ))
}

/// A hint for a provider that perhaps has no origin. `is_named` says whether an argument names it, so that leaving it out does not help.
pub(super) fn without_origin(failure: &Failure, is_named: bool) -> Option<String> {
    let provider = &failure.subject.as_ref()?.provider;
    let Problem::Source(error) = &*failure.problem else {
        return None;
    };
    let advice = origins::at_source(error, Effect::Unwritten).filter(|_| has_no_origin(error))?;
    let exclude = match is_named {
        true => String::new(),
        false => format!("`--exclude {provider}` leaves it out, and "),
    };
    Some(format!(
        "{advice}. If {provider} has no origin, {exclude}`tfoci copy` copies it from a store"
    ))
}

/// Whether a host may only be a name in addresses: it does not exist, or has no provider registry.
fn has_no_origin(error: &source::Error) -> bool {
    match error {
        source::Error::Http(http::Error::Transport { error, .. }) => {
            error.proxy.is_none() && error.reason == Reason::UnknownHost
        }
        source::Error::NoService {
            configured, others, ..
        } => !configured && others.is_empty(),
        _ => false,
    }
}

/// Which of the available versions may be meant by constraints that admit none of them.
fn no_version(constraints: &VersionConstraints, available: &[Version]) -> String {
    match versions::prerelease(constraints, available) {
        Some(version) if constraints.spans(version) => {
            "pre-releases are chosen by name, or with `--prereleases`".to_owned()
        }
        Some(version) => format!("pre-releases are chosen by name, such as `{version}`"),
        None => "these are all that there are: choose among them by other constraints".to_owned(),
    }
}

/// A hint for a mirror file that cannot be used.
pub(super) fn file(error: &mirror::Error, default_host: &Hostname) -> String {
    const EXAMPLE: &str = "`tfoci help mirror-file` shows a mirror file";
    let (address, error) = match error {
        mirror::Error::Entry {
            address,
            source: MirrorEntryError::Address(error),
            ..
        } => (address, error),
        mirror::Error::Toml(error) if error.means_provider_table() => {
            return format!("did you mean `[[provider]]`? {EXAMPLE}");
        }
        mirror::Error::Toml(error) => {
            if let Some(meant) = error.meant_list() {
                return format!("did you mean `{meant}`? {EXAMPLE}");
            }
            let meant = match error.unknown_field() {
                // It is known at the top only.
                Some(field @ "trust") => {
                    return format!("`{field}` belongs above the first `[[provider]]`. {EXAMPLE}");
                }
                // The words of `required_providers`.
                Some("version" | "versions" | "constraint") => "constraints",
                Some("source" | "provider" | "name") => "address",
                _ => match error.meant_field() {
                    Some(meant) => meant,
                    None => return EXAMPLE.to_owned(),
                },
            };
            return format!("did you mean `{meant}`? {EXAMPLE}");
        }
        mirror::Error::Repeated { .. } => {
            return "remove one of the two tables, or give them different constraints".to_owned();
        }
        mirror::Error::Empty | mirror::Error::Entry { .. } => return EXAMPLE.to_owned(),
    };
    let shown = printable(address);
    match (error, address.split_once('@')) {
        (_, Some((provider, version))) => format!(
            "a version goes into `constraints`: `address = \"{}\"` and `constraints = \"{}\"`",
            printable(provider),
            printable(version)
        ),
        (address::Error::NoHost { .. }, None) if *default_host == Hostname::default_origin() => {
            format!(
                "write `{default_host}/{shown}`, or for Terraform `registry.terraform.io/{shown}`"
            )
        }
        (address::Error::NoHost { .. }, None) => format!("write `{default_host}/{shown}`"),
        _ => EXAMPLE.to_owned(),
    }
}

fn of_trust(error: &trust::Error, provider: &ProviderAddr, effect: Effect) -> Option<String> {
    let advice = match error {
        trust::Error::NoKey => {
            let advice = format!("{NO_KEY}. {}", without_proof(provider));
            return Some(effect.hint(&advice));
        }
        trust::Error::NoSignature => {
            let advice = format!("{}. {OLDER}", without_proof(provider));
            return Some(effect.hint(&advice));
        }
        trust::Error::NotSigned { .. } => {
            let (needs, unpin) = not_signed(error, provider)?;
            return Some(effect.hint(&format!(
                "{needs}: mirror it from where its author signs it. {OLDER}{unpin}"
            )));
        }
        trust::Error::NoPinnedKey { .. } => {
            "The origin does not serve the pinned key, which may be an attack: ask the author. If you have the key, name its file with `--key FILE`"
        }
        trust::Error::Costly => proof::COSTLY,
        trust::Error::NoDocument => {
            let advice = format!(
                "Mirrors have no signatures: check packages against a lock file with `--from-lock FILE`, or accept them unverified with `--allow-unsigned {provider}`"
            );
            return Some(effect.hint(&advice));
        }
        trust::Error::UnverifiedTransport { .. } => {
            "`--ca-file FILE` names the authority by which its origin's certificate can be verified; or pin by hand a key that reached you another way"
        }
        trust::Error::Refused(refusal) => {
            return of_signature(&refusal.reason, &provider.to_string(), effect);
        }
        trust::Error::Mismatch(_) => {
            "Clients refuse this release, too: its author has to publish it again"
        }
        trust::Error::NoLine { .. } => {
            "One checksum document has to list the packages of all platforms: its author has to publish it again"
        }
        trust::Error::OtherName { .. } => {
            "The package may be another version's: its author has to publish it again"
        }
        _ => return None,
    };
    Some(effect.hint(advice))
}

/// How to mirror what nothing proves.
fn without_proof(provider: &ProviderAddr) -> String {
    let (host, namespace) = (provider.hostname(), provider.namespace());
    format!(
        "To go without proof of who made it, `--allow-unsigned {provider}`, or a pattern such as `{host}/{namespace}/*`"
    )
}

/// What a release without a signature needs, and what helps if its author signs none. A pin that is about this provider alone was not meant for
/// others.
pub(super) fn not_signed(
    error: &trust::Error,
    provider: &ProviderAddr,
) -> Option<(String, String)> {
    let trust::Error::NotSigned {
        asked_by,
        is_allowed,
        ..
    } = error
    else {
        return None;
    };
    let needs = proof::needs_signature(*is_allowed);
    let unpin = match asked_by {
        Some(AskedBy::TrustFile {
            is_shared: true, ..
        }) => {
            let unpin = proof::unpin(asked_by.as_ref(), &provider.to_string());
            format!(". If its author never signs, {unpin}")
        }
        _ => String::new(),
    };
    Some((needs, unpin))
}

/// A hint of `serve --fill`. Clients choose the versions, and only the trust file says what is accepted.
pub(super) fn filling(failure: &Failure) -> Option<String> {
    let effect = Effect::Unwritten;
    let error = match &*failure.problem {
        Problem::Trust(error) => error,
        Problem::Package { source, .. } => return without_package(source, failure),
        _ => return hint(failure, effect),
    };
    let provider = &failure.subject.as_ref()?.provider;
    let accept = format!(
        "To serve it without proof of who made it, write an entry for {provider} with `unsigned = \"allow\"` into the trust file, above others that match it"
    );
    let advice = match error {
        trust::Error::NoKey => format!("{NO_KEY}. {accept}"),
        trust::Error::NoSignature => accept,
        trust::Error::NotSigned { .. } => {
            let (needs, unpin) = not_signed(error, provider)?;
            needs + &unpin
        }
        _ => return of_trust(error, provider, effect),
    };
    Some(effect.hint(&advice))
}

/// How to serve the other packages, or the other versions, until the origin serves the right bytes: one package blocks its version.
fn without_package(error: &PackageError, failure: &Failure) -> Option<String> {
    let advice = origins::of_package(error, Effect::Unwritten)?;
    let PackageError::Blob(_) = error else {
        return Some(advice);
    };
    let subject = failure.subject.as_ref()?;
    let (provider, version) = (&subject.provider, subject.version.as_ref()?);
    Some(format!(
        "{advice}. `--platform` mirrors the packages of other platforms, and `--exclude {provider}@{version}` leaves out this version"
    ))
}

/// How to leave out a version with a new key: otherwise a run every night fails until its author says whose key it is.
fn until_then(failure: &Failure, effect: Effect) -> Option<String> {
    let Problem::Trust(trust::Error::Refused(refusal)) = &*failure.problem else {
        return None;
    };
    let is_new = matches!(
        refusal.reason,
        SignatureErrorKind::NotPinned { .. } | SignatureErrorKind::OtherKey { .. }
    );
    let version = failure.subject.as_ref()?.version.as_ref()?;
    (is_new && matches!(effect, Effect::Unwritten))
        .then(|| format!("; until then, the constraint `!= {version}` leaves it out"))
}

/// The store has the version. Its key is not pinned any more, or the origin has another signature now.
fn of_stored(reason: &SignatureErrorKind, address: &str) -> Option<String> {
    let SignatureErrorKind::NotPinned { expected, received } = reason else {
        return None;
    };
    let pin = proof::pin(expected, received, address);
    Some(format!(
        "the store keeps its copy of this version, which clients install: `tfoci inspect` with the same trust file says whether that one verifies. If not, withdraw it (`tfoci help maintenance`); or, if its author says that this key is theirs, {pin}"
    ))
}

fn of_zip(error: &archive::Error) -> Option<&'static str> {
    Some(match error.category() {
        Category::Local => return None,
        Category::Untrusted => {
            "this version was not tagged. Two readers could see two packages in it: its author has to publish it again. `--platform` mirrors the others"
        }
        _ => {
            "this version was not tagged. Clients cannot install it either: its author has to publish it again. `--platform` mirrors the others"
        }
    })
}

fn of_signature(reason: &SignatureErrorKind, address: &str, effect: Effect) -> Option<String> {
    let advice = match reason {
        SignatureErrorKind::Malformed
        | SignatureErrorKind::Armoured
        | SignatureErrorKind::Altered { .. } => {
            "Clients refuse this release, too: its author has to sign it again"
        }
        SignatureErrorKind::OtherKey { expected, .. } => {
            let name_it = proof::name_too(expected, address);
            let advice = format!(
                "The origin does not serve the key that signed this; if you have it from its author, {name_it}"
            );
            return Some(effect.hint(&advice));
        }
        SignatureErrorKind::NotPinned { expected, received } => {
            let advice = proof::pin_too(expected, received, address);
            return Some(effect.hint(&advice));
        }
        SignatureErrorKind::Revoked { .. } | SignatureErrorKind::NotForSigning { .. } => {
            "The author has to sign the release with a key that is in use"
        }
        SignatureErrorKind::WeakDocument { .. } => "`weak = \"warn\"` in a trust file lets it pass",
        _ => return None,
    };
    Some(effect.hint(advice))
}
