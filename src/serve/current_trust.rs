//! The trust options of a running server. They are read again when one of their files changes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::watch;

use super::error::{Error, PolicyError};
use super::watched_files::{Reader, WatchedFiles};
use crate::address::ProviderAddr;
use crate::disk;
use crate::examine::TrustOptions;
use crate::trust::Policy;

/// Reads a file, and notes that it has to be watched.
pub type ReadFile<'a> = &'a mut dyn FnMut(&Path) -> Result<Vec<u8>, disk::Error>;

/// Reads a policy, and each of its files only with the given function.
pub type ReadPolicy = dyn Fn(ReadFile<'_>) -> Result<Policy, PolicyError> + Send + Sync;

/// The files that a policy comes from.
#[derive(Clone)]
pub struct TrustFiles {
    /// The file that messages name; `None` if there are no files.
    pub path: Option<PathBuf>,
    /// Reads the policy.
    pub read: Arc<ReadPolicy>,
}

/// The trust options that apply now.
pub(super) struct CurrentTrust(watch::Sender<Arc<TrustOptions>>);

impl CurrentTrust {
    pub(super) fn new(options: TrustOptions) -> Self {
        Self(watch::Sender::new(Arc::new(options)))
    }

    /// The options that apply now. One listing is read with the same options from beginning to end.
    pub(super) fn options(&self) -> Arc<TrustOptions> {
        self.0.borrow().clone()
    }

    /// Whether these options, which applied before, have the rule for a provider that applies now.
    pub(super) fn still_says(&self, before: &Arc<TrustOptions>, provider: &ProviderAddr) -> bool {
        let now = self.options();
        Arc::ptr_eq(&now, before) || now.policy.is_same_for(&before.policy, provider)
    }

    /// Applies another policy.
    pub(super) fn replace(&self, policy: Policy) {
        let options = self.options();
        self.0.send_replace(Arc::new(TrustOptions {
            policy,
            ..TrustOptions::clone(&options)
        }));
    }
}

impl TrustFiles {
    /// Watches the files, and calls `apply` with the policy of their contents: at once, and after each change. `None` if there are none. The
    /// caller has read them before. If one of them is a pipe, such as `<(program)`, its policy stays in use, because a pipe cannot be read twice.
    ///
    /// # Errors
    /// A file cannot be used.
    pub(super) fn watched(
        self,
        apply: impl Fn(Policy) + Send + Sync + 'static,
    ) -> Result<Option<WatchedFiles>, Error> {
        let Some(path) = self.path else {
            return Ok(None);
        };
        let policy = self.read;
        let load = move |reader: &mut Reader| {
            let mut read = |path: &Path| reader.read(path).map(|bytes| bytes.to_vec());
            let policy = policy(&mut read).map_err(Error::Policy)?;
            if !reader.is_unchanged() {
                apply(policy);
            }
            Ok(())
        };
        WatchedFiles::start(path, true, load).map(Some)
    }
}
