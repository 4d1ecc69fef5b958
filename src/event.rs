//! Events: what journeys report while they run.
//!
//! The library never prints. It tells a [`Reporter`] what is happening; bars, lines or silence are chosen outside.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::address::ProviderAddr;
use crate::authentication::Authentication;
use crate::digest::Digest;
use crate::platform::Platform;
use crate::shown::Shown;
use crate::version::Version;

/// A provider, one of its versions, or one of its packages.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Subject {
    /// The provider.
    pub provider: ProviderAddr,
    /// The version, as soon as one is chosen.
    pub version: Option<Version>,
    /// The platform, if it is one package.
    pub platform: Option<Platform>,
    /// The repository that it is mirrored to, where there are several.
    pub destination: Option<String>,
}

impl Subject {
    /// A whole provider.
    pub fn provider(provider: &ProviderAddr) -> Self {
        Self {
            provider: provider.clone(),
            version: None,
            platform: None,
            destination: None,
        }
    }

    /// One version of a provider.
    pub fn version(provider: &ProviderAddr, version: &Version) -> Self {
        Self {
            version: Some(version.clone()),
            ..Self::provider(provider)
        }
    }

    /// The same, in one of several destinations.
    pub(crate) fn to(mut self, destination: Option<&str>) -> Self {
        self.destination = destination.map(str::to_owned).or(self.destination);
        self
    }

    /// The same, without its destination if that has this name.
    pub(crate) fn unless_to(mut self, name: Option<&str>) -> Self {
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

/// What became of a package on its way into a store or onto a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Transfer {
    /// Its bytes were moved.
    Copied,
    /// Its bytes were already in another repository of the store, and are shared.
    Mounted,
    /// It was there.
    Present,
    /// It would be moved, were this not a dry run.
    Planned,
}

/// An HTTP request that came to its end, one way or another.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The method.
    pub method: String,
    /// Where it went.
    pub url: Shown,
    /// Which bytes were asked for, as `Range` says it; `None` if all of them.
    pub range: Option<String>,
    /// The status of the answer; `None` if there was none.
    pub status: Option<u16>,
    /// How many bytes of a body were sent.
    pub sent: u64,
    /// How many bytes of a body were received.
    pub received: u64,
    /// From the first byte sent to the last one received.
    pub elapsed: Duration,
}

/// One moment of a journey.
#[derive(Clone, Debug)]
pub enum Event {
    /// Another process holds a lock file; this one waits for it.
    Waiting {
        /// The lock file.
        path: PathBuf,
    },
    /// A version was chosen among those that match.
    Selected {
        /// Provider and version.
        subject: Subject,
        /// How many versions matched.
        matching: usize,
    },
    /// The proof of a release was checked.
    Verified {
        /// Provider and version.
        subject: Subject,
        /// What was found.
        authentication: Authentication,
    },
    /// The bytes of a package begin to move.
    Started {
        /// The package.
        subject: Subject,
        /// Its size in bytes.
        size: u64,
    },
    /// More bytes of a package have moved.
    Advanced {
        /// The package.
        subject: Subject,
        /// How many bytes since the last such event.
        bytes: u64,
    },
    /// Nothing more will happen to a package.
    Finished {
        /// The package.
        subject: Subject,
        /// Its size in bytes.
        size: u64,
        /// What became of it.
        transfer: Transfer,
        /// How it was authenticated.
        authentication: Authentication,
    },
    /// Nothing more will happen to a blob that another tool put beside the packages, and that nothing proves.
    Carried {
        /// Provider and version.
        subject: Subject,
        /// The blob.
        digest: Digest,
        /// Its size in bytes.
        size: u64,
        /// What became of it.
        transfer: Transfer,
    },
    /// A version is there as it should be, so that nothing of it was read.
    Settled {
        /// Provider and version.
        subject: Subject,
    },
    /// A source of credentials was considered.
    Considered {
        /// The source, and what it has.
        source: String,
    },
    /// The credentials for a registry were chosen.
    Introduced {
        /// The registry.
        host: String,
        /// Where the credentials were found; `None` if there are none.
        origin: Option<String>,
    },
    /// A registry was asked to share a blob of another of its repositories.
    Mounting {
        /// The blob.
        digest: Digest,
        /// The other repository, as it is called in its registry.
        from: String,
        /// Whether it did. Otherwise the bytes were sent.
        shared: bool,
    },
    /// A request will be tried again.
    Retrying {
        /// Where it went.
        url: Shown,
        /// What went wrong, in lower case, without a final stop.
        reason: String,
        /// How long until then.
        pause: Duration,
    },
    /// A download that was cut goes on.
    Resuming {
        /// Where it comes from.
        url: Shown,
        /// How many bytes are there already.
        from: u64,
    },
    /// A request came to its end.
    Requested(Exchange),
    /// Something was accepted that the user should know about.
    Warning {
        /// What it is about.
        subject: Subject,
        /// What was found, in lower case, without a final stop.
        message: String,
    },
}

impl Event {
    /// The subject, of an event that has one.
    pub fn subject_mut(&mut self) -> Option<&mut Subject> {
        match self {
            Self::Selected { subject, .. }
            | Self::Verified { subject, .. }
            | Self::Started { subject, .. }
            | Self::Advanced { subject, .. }
            | Self::Finished { subject, .. }
            | Self::Carried { subject, .. }
            | Self::Settled { subject }
            | Self::Warning { subject, .. } => Some(subject),
            Self::Waiting { .. }
            | Self::Considered { .. }
            | Self::Introduced { .. }
            | Self::Mounting { .. }
            | Self::Retrying { .. }
            | Self::Resuming { .. }
            | Self::Requested(_) => None,
        }
    }
}

/// Receives events. It is called from many tasks at once, and must not block.
pub trait Reporter: Send + Sync {
    /// Receives one event.
    fn report(&self, event: Event);
}

/// Ignores every event.
impl Reporter for () {
    fn report(&self, _: Event) {}
}
