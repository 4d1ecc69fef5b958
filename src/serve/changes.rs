//! Reports changes of a provider's list of versions to the operator.

use super::listing::ProviderListing;
use super::metrics::Metrics;
use super::notice::{Notice, Observer};

/// Reports each version that is hidden, unsigned, or made for another provider, unless the old list had it in the same state; and that the store
/// has no version any more. A registry that lost everything answers as one that never had it.
pub(super) fn report(
    new: &ProviderListing,
    old: Option<&ProviderListing>,
    metrics: &Metrics,
    observer: &dyn Observer,
) {
    for (version, served) in &new.versions {
        let known = old.and_then(|old| old.versions.get(version));
        if !served.is_signed() && known.is_none_or(|known| known.is_signed()) {
            metrics.unsigned.inc();
            observer.notice(&Notice::Unsigned {
                provider: &new.provider,
                version,
                authentication: &served.authentication,
            });
        }
    }
    for (version, hidden) in &new.hidden {
        let was_hidden = old.is_some_and(|old| old.hidden.contains_key(version));
        if !was_hidden {
            metrics.hidden.inc();
            observer.notice(&Notice::Hidden {
                provider: &new.provider,
                version,
                problem: &hidden.problem,
            });
        }
    }
    let had_any = |old: &ProviderListing| !old.versions.is_empty();
    if old.is_some_and(had_any) && new.versions.is_empty() && new.hidden.is_empty() {
        let provider = &new.provider;
        observer.notice(&Notice::Emptied { provider });
    }
    report_others(new, old, observer);
}

/// Reports versions that were made for another provider. A repository template that leaves out a part of the address gives two providers the
/// same repository, and every version of one is then listed for the other. Only the newest is named, since there may be hundreds.
fn report_others(new: &ProviderListing, old: Option<&ProviderListing>, observer: &dyn Observer) {
    let is_new = |version| old.is_none_or(|old| !old.versions.contains_key(version));
    let mut others = new.versions.iter().filter_map(|(version, served)| {
        let other = served.made_for.as_ref().filter(|_| is_new(version))?;
        Some((version, other))
    });
    if let Some((version, other)) = others.next_back() {
        observer.notice(&Notice::OtherProvider {
            provider: &new.provider,
            version,
            others: others.count(),
            made_for: other,
        });
    }
}
