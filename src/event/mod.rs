//! Events that journeys report while they run.
//!
//! The library never prints. It reports events to a [`Reporter`], and the program that uses the library decides how to show them.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::address::ProviderAddr;
use crate::authentication::Authentication;
use crate::digest::Digest;
use crate::platform::Platform;
use crate::shown::Shown;
use crate::version::Version;

mod warning;

pub use warning::Warning;

/// A provider, one of its versions, or one of its packages.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Subject {
    /// Every subject has a provider.
    pub provider: ProviderAddr,
    /// The version, once it is selected.
    pub version: Option<Version>,
    /// The platform, if the subject is one package.
    pub platform: Option<Platform>,
    /// The destination repository, if there are several.
    pub destination: Option<String>,
}

impl Subject {
    /// A provider, and none of its versions in particular.
    pub fn provider(provider: &ProviderAddr) -> Self {
        Self {
            provider: provider.clone(),
            version: None,
            platform: None,
            destination: None,
        }
    }

    /// A version as a whole, and not one of its packages.
    pub fn version(provider: &ProviderAddr, version: &Version) -> Self {
        Self {
            version: Some(version.clone()),
            ..Self::provider(provider)
        }
    }

    /// The version of this package.
    pub fn whole_version(&self) -> Self {
        Self {
            platform: None,
            ..self.clone()
        }
    }

    /// This subject, without its destination if that has this name.
    pub(crate) fn without_destination(mut self, name: Option<&str>) -> Self {
        self.destination = self.destination.filter(|one| Some(one.as_str()) != name);
        self
    }

    /// One package of this version.
    pub fn platform(&self, platform: &Platform) -> Self {
        Self {
            platform: Some(platform.clone()),
            ..self.clone()
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.provider)?;
        if let Some(version) = &self.version {
            write!(f, " {version}")?;
        }
        if let Some(platform) = &self.platform {
            write!(f, " {platform}")?;
        }
        if let Some(destination) = &self.destination {
            write!(f, " to {destination}")?;
        }
        Ok(())
    }
}

/// The result of transferring a package into a store or onto a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Transfer {
    /// Its bytes were transferred.
    Copied,
    /// Its bytes are shared with another repository of the store, or with the store of a site.
    Mounted,
    /// The destination already had it.
    Present,
    /// A dry run: it would be transferred.
    Planned,
}

/// An HTTP request that has ended.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The HTTP method, in capitals.
    pub method: String,
    /// The URL of the request, with secrets removed.
    pub url: Shown,
    /// The HTTP status; `None` if there was no response.
    pub status: Option<u16>,
    /// The bytes sent as request body.
    pub sent: u64,
    /// The bytes received as response body.
    pub received: u64,
    /// From the first byte sent to the last one received.
    pub elapsed: Duration,
}

/// Something that happened in a journey.
#[derive(Clone, Debug)]
pub enum Event {
    /// Another process holds a lock file, and this process waits for it.
    Waiting {
        /// The lock file.
        path: PathBuf,
    },
    /// The versions of a provider to transfer were selected. The destination may already have some of them.
    VersionsSelected {
        /// The provider.
        subject: Subject,
        /// Each version with the number of its packages, if that is known already.
        versions: Vec<(Version, Option<usize>)>,
    },
    /// The sizes of all packages of a version are known, and its transfer begins.
    Planned {
        /// Provider and version.
        subject: Subject,
        /// The number of packages.
        packages: usize,
        /// Their total size in bytes.
        bytes: u64,
    },
    /// A release was verified.
    Verified {
        /// Provider and version.
        subject: Subject,
        /// The result of the verification.
        authentication: Authentication,
    },
    /// The transfer of a package began.
    Started {
        /// Provider, version and platform.
        subject: Subject,
        /// Its size in bytes.
        size: u64,
    },
    /// More bytes of a package were transferred.
    Advanced {
        /// Provider, version and platform.
        subject: Subject,
        /// The number of bytes since the last such event.
        bytes: u64,
    },
    /// The transfer of a package is complete.
    Finished {
        /// Provider, version and platform.
        subject: Subject,
        /// Its size in bytes.
        size: u64,
        /// The result of the transfer.
        transfer: Transfer,
        /// The result of the package's verification.
        authentication: Authentication,
    },
    /// The transfer of a blob that another tool attached is complete. No signature covers it.
    AttachedFinished {
        /// Provider and version.
        subject: Subject,
        /// The digest of the blob.
        digest: Digest,
        /// Its size in bytes.
        size: u64,
        /// The result of the transfer.
        transfer: Transfer,
    },
    /// A source of credentials is ignored, because it cannot be used, or is not read by clients. The same message may come more than once.
    CredentialsIgnored {
        /// The source and the reason, in one line.
        message: String,
    },
    /// A decision about a request, such as the credential that it uses.
    Decided {
        /// What was done, in one word.
        verb: &'static str,
        /// The rest of the line, with secrets removed.
        text: String,
    },
    /// A request will be retried.
    Retrying {
        /// The URL of the request, with secrets removed.
        url: Shown,
        /// The failure, in lower case, without a full stop.
        reason: String,
        /// The time until the retry.
        pause: Duration,
    },
    /// A request has ended.
    Requested(Exchange),
    /// The journey accepted an irregularity that users should know about.
    Warning {
        /// The provider, version or package concerned.
        subject: Subject,
        /// The irregularity.
        warning: Warning,
    },
}

impl Event {
    /// The transfer of packages of these sizes begins.
    pub fn planned(subject: Subject, sizes: impl IntoIterator<Item = u64>) -> Self {
        let add =
            |(packages, bytes): (usize, u64), size| (packages + 1, bytes.saturating_add(size));
        let (packages, bytes) = sizes.into_iter().fold((0, 0), add);
        Self::Planned {
            subject,
            packages,
            bytes,
        }
    }

    /// The subject, if the event has one.
    pub fn subject_mut(&mut self) -> Option<&mut Subject> {
        match self {
            Self::VersionsSelected { subject, .. }
            | Self::Planned { subject, .. }
            | Self::Verified { subject, .. }
            | Self::Started { subject, .. }
            | Self::Advanced { subject, .. }
            | Self::Finished { subject, .. }
            | Self::AttachedFinished { subject, .. }
            | Self::Warning { subject, .. } => Some(subject),
            _ => None,
        }
    }
}

/// Receives events. Many tasks call it concurrently, and it must not block.
pub trait Reporter: Send + Sync {
    /// The operation goes on when it returns.
    fn report(&self, event: Event);

    /// Reports an irregularity that the journey accepts.
    fn warn(&self, subject: Subject, warning: Warning) {
        self.report(Event::Warning { subject, warning });
    }
}

/// Ignores every event.
impl Reporter for () {
    fn report(&self, _: Event) {}
}
