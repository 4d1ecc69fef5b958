//! Warnings about providers that no entry of the trust file matches: a `match` may contain a typing mistake.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tfoci::address::ProviderAddr;
use tfoci::trust::Policy;

use crate::cli::arguments::ReadTrust;
use crate::cli::session::unmatched_line;

/// The most providers that are remembered. Clients name the providers that `--fill` mirrors, so there is no other limit.
const MOST_REMEMBERED: usize = 10_000;

/// The providers that no entry matches, each reported once.
pub(super) struct Unmatched {
    /// The trust file; `None` without `--trust`.
    file: Option<PathBuf>,
    policy: Policy,
    consequence: &'static str,
    reported: Mutex<HashSet<ProviderAddr>>,
}

impl Unmatched {
    pub(super) fn new(arguments: &ReadTrust, policy: Policy) -> Self {
        Self {
            file: arguments.trust.trust.clone(),
            policy,
            consequence: match arguments.require_pinned {
                true => "hidden by `--require-pinned`",
                false => {
                    "served although no key is pinned; add an entry, or `--require-pinned` hides such providers"
                }
            },
            reported: Mutex::default(),
        }
    }

    /// A line about those of the listed providers that were not reported yet; `None` if there are none.
    pub(super) fn of_listed(&self, providers: &[ProviderAddr]) -> Option<String> {
        let mut reported = self.reported();
        let new = providers.iter().filter(|one| !reported.contains(*one));
        let file = self.file.as_deref()?;
        let line = unmatched_line(file, &self.policy, new, self.consequence);
        reported.extend(providers.iter().take(MOST_REMEMBERED).cloned());
        line
    }

    /// Whether to report a provider that is served for the first time.
    pub(super) fn is_new(&self, provider: &ProviderAddr) -> bool {
        let mut reported = self.reported();
        self.file.is_some() && reported.len() < MOST_REMEMBERED && reported.insert(provider.clone())
    }

    fn reported(&self) -> MutexGuard<'_, HashSet<ProviderAddr>> {
        self.reported.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
