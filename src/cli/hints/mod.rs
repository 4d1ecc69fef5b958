//! Hints: suggestions that follow an error. They depend on the variant of the error, never on its text.
//!
//! The library states what happened. Only this module knows which option or command helps. An error has no hint if the user can do
//! nothing about it, or if its message already says what to do.

mod arguments;
mod files;
mod folders;
pub(super) mod interruption;
mod keys;
mod locking;
mod mirroring;
pub(super) mod notes;
mod origins;
mod places;
mod proof;
mod reach;
mod serve;
mod stores;
pub(super) mod traps;
mod versions;

use tfoci::blob;
use tfoci::oci;
use tfoci::outcome::{At, Failure, Problem};
use tfoci::place::Place;
use tfoci::platform::Platform;
use tfoci::store;
use tfoci::trust;

use super::error::{CommandError, Journey, JourneyFailure};

/// What the command would have done with the version that failed.
#[derive(Clone, Copy)]
enum Effect {
    /// Written it. The hint begins by saying that it did not.
    Unwritten,
    /// Shown it.
    ReadOnly,
}

impl Effect {
    /// The hint with this advice, which begins with a capital letter. If the command writes, the hint begins by saying that it did not.
    fn hint(self, advice: &str) -> String {
        match self {
            Self::Unwritten => format!("nothing of this version was written. {advice}"),
            Self::ReadOnly => {
                let mut rest = advice.chars();
                let first = rest.next().into_iter().flat_map(char::to_lowercase);
                first.chain(rest).collect()
            }
        }
    }
}

/// A suggestion for this error, if there is one.
pub(super) fn of(error: &CommandError) -> Option<String> {
    let all = [
        files::unexpanded,
        of_journey,
        locking::command,
        arguments::hint,
        places::hint,
        keys::hint,
        serve::hint,
        files::permission,
        files::no_room,
    ];
    all.into_iter().find_map(|hint| hint(error))
}

/// Suggests what to do about an operation that failed.
fn of_journey(error: &CommandError) -> Option<String> {
    let (failure, of) = match error {
        CommandError::Journey(JourneyFailure { failure, of }) => (failure, *of),
        CommandError::NotLocked { failure, .. } if matches!(failure.at, At::From { .. }) => {
            let own = proof::not_locked_in_store(&failure.problem);
            return own.or_else(|| journey(failure, Effect::Unwritten));
        }
        CommandError::NotLocked { failure, .. } => (failure, Journey::Mirroring),
        CommandError::NotSelected { failure, .. } => (failure, Journey::Locking),
        CommandError::Credentials(error) => return reach::credentials(error),
        CommandError::WrongPassword { .. } => return Some(reach::WRONG_PASSWORD.to_owned()),
        CommandError::MirrorFile {
            source,
            default_host,
            ..
        } => return Some(mirroring::file(source, default_host)),
        _ => return None,
    };
    let effect = Effect::Unwritten;
    let own = match of {
        Journey::Any => None,
        Journey::OpeningAll => stores::of_all(&failure.problem),
        Journey::Pushing => folders::pushing(failure),
        Journey::Inspecting => return inspecting(failure),
        Journey::Mirroring | Journey::MirroringNamed => {
            let is_named = of == Journey::MirroringNamed;
            mirroring::without_origin(failure, is_named)
                .or_else(|| mirroring::hint(failure, effect))
        }
        Journey::Filling => mirroring::filling(failure),
        Journey::Locking => {
            let own = locking::hint(failure).or_else(|| mirroring::with_store(failure));
            return own.or_else(|| journey(failure, Effect::ReadOnly));
        }
    };
    own.or_else(|| journey(failure, effect))
}

/// The hint of `mirror`, without what is about writing: `inspect` only reads.
fn inspecting(failure: &Failure) -> Option<String> {
    let effect = Effect::ReadOnly;
    let why = match &*failure.problem {
        Problem::Trust(trust::Error::NoKey) => effect.hint(mirroring::NO_KEY) + ". Without it,",
        Problem::Trust(trust::Error::NoSignature | trust::Error::NoDocument) => {
            "nothing proves who made it.".to_owned()
        }
        Problem::NoPin { .. } => return journey(failure, effect),
        _ => return mirroring::hint(failure, effect).or_else(|| journey(failure, effect)),
    };
    let provider = &failure.subject.as_ref()?.provider;
    Some(format!(
        "{why} `tfoci mirror` and `tfoci lock` take it only with `--allow-unsigned {provider}`"
    ))
}

/// Suggests the platform that is meant by the name that another tool has for it.
fn meant_platform<'p>(platforms: impl IntoIterator<Item = &'p Platform>) -> Option<String> {
    let meant = platforms.into_iter().find_map(Platform::probably_meant)?;
    Some(format!("did you mean the platform `{meant}`?"))
}

fn journey(failure: &Failure, effect: Effect) -> Option<String> {
    let provider = failure
        .subject
        .as_ref()
        .map(|subject| subject.provider.to_string());
    let address = provider.unwrap_or_else(|| "ADDR".to_owned());
    let text = match &*failure.problem {
        Problem::Endpoint(error) => return stores::address(error),
        Problem::Mapping(error) => return stores::mapping(error),
        Problem::Source(error) => return origins::of_provider(error, &address, effect),
        Problem::Package { source, .. } => return origins::of_package(source, effect),
        // A blob that this machine or the network kept from tfoci may be whole.
        Problem::Unread(error @ (store::Error::Blob { .. } | store::Error::Missing { .. }))
            if !error.is_about_access() =>
        {
            let repair = stores::damaged(error, &failure.at);
            return Some(format!("{repair}. This version was not copied"));
        }
        Problem::Store(error @ (store::Error::Blob { .. } | store::Error::Missing { .. }))
            if !error.is_about_access() =>
        {
            return Some(stores::damaged(error, &failure.at));
        }
        Problem::Store(error) | Problem::Unread(error) => return stores::store(error),
        Problem::Blob(blob::Error::Http(error)) => return reach::host(error),
        Problem::Trust(error) => return proof::untrusted(error, &address, effect),
        Problem::Folder(error) => return folders::in_folder(error, &address),
        Problem::Unreadable(error @ store::Error::Refusal(oci::Refusal::Repeated { .. })) => {
            return stores::store(error);
        }
        // A push without options trusts what a registry has.
        Problem::Unreadable(error @ (store::Error::Blob { .. } | store::Error::Missing { .. }))
            if matches!(failure.at.place(), Some(Place::Registry(_))) =>
        {
            return Some(stores::damaged(error, &failure.at));
        }
        Problem::Unreadable(_) => {
            "evidence that cannot be read proves nothing. `tfoci mirror --recheck` writes it anew, and so does pushing the release again, or `tfoci copy` from a store that is whole"
        }
        Problem::Archive { source, .. } => return folders::in_zip(source),
        Problem::OtherProvider { stored, .. } if matches!(failure.at, At::From { .. }) => {
            let host = stored.hostname();
            return Some(format!(
                "name the provider that the packages were made for. Where the names of repositories have no host, `--default-host {host}` names it"
            ));
        }
        Problem::NoProvider => return Some(versions::no_provider(&address, &failure.at)),
        problem => return versions::hint(problem, &address),
    };
    Some(text.to_owned())
}
