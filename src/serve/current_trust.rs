//! The trust options of a running server. They are read again when one of their files changes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::watch;

use super::error::Error;
use super::watched_files::{Reader, WatchedFiles};
use crate::address::{ProviderAddr, ProviderPattern};
use crate::disk;
use crate::examine::TrustOptions;
use crate::release::Document;
use crate::text;
use crate::trust::{self, Policy, TrustFile};

/// The files that a policy comes from, and what the command line adds to it.
#[derive(Clone, Debug, Default)]
pub struct TrustFiles {
    /// The trust file, which may name files of keys.
    pub trust: Option<PathBuf>,
    /// Files of keys for every provider.
    pub keys: Vec<PathBuf>,
    /// Providers that may lack a usable key or signature.
    pub allow_unsigned: Vec<ProviderPattern>,
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
        let Some(path) = self.trust.as_ref().or(self.keys.first()).cloned() else {
            return Ok(None);
        };
        let load = move |reader: &mut Reader| {
            let policy = self.policy(reader)?;
            if !reader.is_unchanged() {
                apply(policy);
            }
            Ok(())
        };
        WatchedFiles::start(path, true, load).map(Some)
    }

    /// Reads the policy.
    fn policy(&self, reader: &mut Reader) -> Result<Policy, Error> {
        let mut policy = Policy::default();
        if let Some(path) = &self.trust {
            let bytes = reader.read(path)?;
            let text = text::decode(&bytes).map_err(|source| Error::Text {
                path: path.clone(),
                source,
            })?;
            let mut file = TrustFile::parse(text).map_err(at(path))?;
            file.path.clone_from(path);
            policy = file.resolve(|key| {
                let path = path.with_file_name(&key.path);
                if key.copy_of.is_some() && !disk::exists(&path)? {
                    return Ok(None);
                }
                let bytes = reader.read(&path)?.to_vec();
                key.check(&bytes).map_err(at(&path))?;
                Ok::<_, Error>(Some(bytes))
            })?;
        }
        let keys = self.keys.iter().map(|path| {
            let name = path.display().to_string();
            let bytes = reader.read(path)?.to_vec();
            trust::check_key_file(&name, &bytes).map_err(at(path))?;
            Ok(Document { name, bytes })
        });
        let keys = keys.collect::<Result<_, Error>>()?;
        let policy = policy.with_keys(keys);
        Ok(policy.with_allow_unsigned(self.allow_unsigned.clone()))
    }
}

/// Names the file of an error.
fn at(path: &Path) -> impl FnOnce(trust::Error) -> Error {
    let path = path.to_owned();
    |source| Error::Trust { path, source }
}
