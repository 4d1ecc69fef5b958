//! The category of an error.

use tfoci::error::Category;
use tfoci::trust;

use super::CommandError;

impl CommandError {
    /// The category, which decides the exit code. Errors about arguments are usage errors.
    pub(in crate::cli) fn category(&self) -> Category {
        if let Some(failure) = self.failure() {
            return failure.category();
        }
        match self {
            Self::LockTarget(error) => error.category(),
            Self::LockDiffers { .. } => Category::Differs,
            Self::DataLink { .. } | Self::NoThreads { .. } => Category::Local,
            Self::ModuleMissing { .. } | Self::NotRequired { .. } | Self::NoMethod { .. } => {
                Category::NotFound
            }
            Self::NotPinned { source, .. } => source.category(),
            Self::KeyFile {
                error:
                    trust::Error::NotAKey { .. }
                    | trust::Error::EncodedKey { .. }
                    | trust::Error::SecretKey { .. },
                ..
            } => Category::Usage,
            Self::Trust(error) | Self::KeyFile { error, .. } => error.category(),
            Self::Credentials(error) | Self::Named { error, .. } => error.category(),
            Self::Serve(error) => error.category(),
            Self::Configuration(error) => error.category(),
            Self::Plain { category, .. } => *category,
            Self::NothingLocked(_) | Self::Empty { .. } => Category::NotFound,
            _ => Category::Usage,
        }
    }
}
