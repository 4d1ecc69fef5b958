//! The difference between a lock file and a configuration.

use std::path::PathBuf;

use tfoci::address::ProviderAddr;
use tfoci::error::printable_path;
use tfoci::lockfile::Client;

use super::construction::required_by;

/// How a lock file differs from a configuration.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub(in crate::cli) enum LockDifference {
    /// There is no lock file.
    #[error("there is no such file")]
    NoFile,
    /// A required provider is not in the file.
    #[error("{provider} is not in it{}", required_by(.stated))]
    Missing {
        provider: ProviderAddr,
        /// The lines of files that require it.
        stated: Vec<String>,
        /// The client of `--client`, if the file is not one of it.
        client: Option<Client>,
    },
    /// A provider that clients would find in a directory, if something required it.
    #[error("{provider} is not in it, and {} has packages of it", printable_path(.directory))]
    Offered {
        provider: ProviderAddr,
        directory: PathBuf,
    },
    /// The file has no `h1` of a required provider.
    #[error("the entry of {provider} has no `h1`, by which clients check what is installed")]
    NoH1 { provider: ProviderAddr },
    /// A provider in the file is not required.
    #[error("{provider} is in it, and is not required")]
    Unrequired {
        provider: ProviderAddr,
        client: Client,
    },
}
