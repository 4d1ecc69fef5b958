//! Credentials for registries: where they are found, which of them counts, and where they are kept.
//!
//! Sources are read once, in [the order of clients](crate::clients#credential-files): `--authfile` before all,
//! `oci_credentials` of the CLI configuration, its helper, then the files of docker and podman. Whatever matches a
//! repository more closely wins, and of equals the first ([`Credentials::find`]). A source that cannot be read hides no
//! other: it is [considered](Credentials::considered) broken, and passed over. Clients are stricter: one bad file of
//! the default places hides all of them from them.
//!
//! [`Hosts`] is the same for those whom providers come from: tokens for provider registries and network mirrors, and the
//! logins of `.netrc` for packages.
//!
//! Secrets are never printed, nor is anything that a helper wrote.

mod consideration;
mod discover;
mod docker;
mod document;
mod error;
mod helper;
mod hosts;
mod hub;
mod keeper;
mod means;
pub mod netrc;
mod places;
mod program;
#[cfg(test)]
mod tests;
mod token_helper;
pub mod tokens;

pub use consideration::{Consideration, State};
pub use error::{Action, Error, Mistake};
pub use hosts::{Hosts, Login, Token};
pub use keeper::{Keeper, Kept};
pub use places::{Environment, Places};

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::config::RepositoryPrefix;
use crate::error::printable_path;
use crate::http::Secret;
use helper::Helpers;
use means::Means;

/// Where a credential was found that somebody has just typed.
pub const TYPED: &str = "the command line";

/// A way to say who we are, and where it was found. Its secrets are never printed.
#[derive(Clone, PartialEq, Eq)]
pub enum Credential {
    /// A name and password.
    Basic {
        /// The name.
        username: String,
        /// The password.
        password: String,
        /// Where it was found.
        origin: String,
    },
    /// An identity token, which a token server turns into access tokens.
    Identity {
        /// The token.
        token: String,
        /// Where it was found.
        origin: String,
    },
    /// An access token, sent as it is to a registry that wants a bearer.
    Access {
        /// The token.
        token: String,
        /// Where it was found.
        origin: String,
    },
}

impl Credential {
    /// The name and password as a header, if that is what this is.
    pub fn basic(&self) -> Option<Secret> {
        match self {
            Self::Basic {
                username, password, ..
            } => Some(Secret::basic(username, password)),
            Self::Identity { .. } | Self::Access { .. } => None,
        }
    }

    /// The access token as a header, if that is what this is.
    pub fn access(&self) -> Option<Secret> {
        match self {
            Self::Access { token, .. } => Some(Secret::bearer(token)),
            Self::Basic { .. } | Self::Identity { .. } => None,
        }
    }

    /// Where it was found.
    pub fn origin(&self) -> &str {
        match self {
            Self::Basic { origin, .. }
            | Self::Identity { origin, .. }
            | Self::Access { origin, .. } => origin,
        }
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Credential(from {})", self.origin())
    }
}

/// All credentials that can be found. Cloning shares them, and what helpers told.
#[derive(Clone, Debug)]
pub struct Credentials(Arc<Sources>);

/// What was found, as soon as somebody has asked.
#[derive(Debug)]
struct Sources {
    places: Places,
    found: OnceLock<Result<Found, Error>>,
}

#[derive(Debug)]
struct Found {
    sources: Vec<Consideration>,
    candidates: Vec<Candidate>,
    helpers: Helpers,
    used: Mutex<BTreeSet<usize>>,
    /// What could not be used when it was asked for, by source.
    failures: Mutex<Vec<(usize, Error)>>,
}

impl Found {
    fn new(sources: Vec<Consideration>, candidates: Vec<Candidate>, helpers: Helpers) -> Self {
        Self {
            sources,
            candidates,
            helpers,
            used: Mutex::default(),
            failures: Mutex::default(),
        }
    }
}

/// Something that may be the answer for some repositories.
#[derive(Clone, Debug)]
struct Candidate {
    /// What it is for; `None` means everything.
    prefix: Option<RepositoryPrefix>,
    means: Result<Means, Mistake>,
    /// As it is written in its source.
    key: String,
    /// Which source.
    source: usize,
}

impl Candidate {
    /// How closely it matches, if it does: a domain and segments before a domain before everything
    /// ([clients: credential selection](crate::clients#credential-selection)).
    fn closeness(&self, domain: &str, repository: &str) -> Option<usize> {
        match &self.prefix {
            None => Some(0),
            Some(prefix) => prefix
                .covers(domain, repository)
                .then(|| 1 + prefix.depth()),
        }
    }
}

impl Credentials {
    /// None at all.
    pub fn none() -> Self {
        let helpers = Helpers::new(None, helper::PATIENCE);
        Self::of(Found::new(Vec::new(), Vec::new(), helpers))
    }

    /// Reads every source when somebody asks for a credential, and not before: whoever never does needs none of them.
    pub fn at(places: Places) -> Self {
        Self(Arc::new(Sources {
            places,
            found: OnceLock::new(),
        }))
    }

    /// Reads every source now.
    ///
    /// # Errors
    /// A file that the user named cannot be used: `--authfile`, `--cli-config`, or one of `docker_style_config_files`.
    pub fn discover(places: &Places) -> Result<Self, Error> {
        discover::discover(places, helper::PATIENCE).map(Self::of)
    }

    fn of(found: Found) -> Self {
        Self(Arc::new(Sources {
            places: Places::default(),
            found: Ok(found).into(),
        }))
    }

    fn found(&self) -> Result<&Found, Error> {
        let Sources { places, found } = &*self.0;
        let found = found.get_or_init(|| discover::discover(places, helper::PATIENCE));
        found.as_ref().map_err(Clone::clone)
    }

    /// The credential for a repository of a registry; `None` where there is none. The most specific source counts, of equals
    /// the first; one that knows nothing, or fails, leaves the answer to the next.
    ///
    /// # Errors
    /// Nothing answered, and something that might have cannot be used; or as [`Self::discover`].
    pub async fn find(&self, host: &str, repository: &str) -> Result<Option<Credential>, Error> {
        let Found {
            sources,
            candidates,
            helpers,
            used,
            failures,
        } = self.found()?;
        let domain = hub::canonical(host);
        let mut matching: Vec<(usize, &Candidate)> = candidates
            .iter()
            .filter_map(|candidate| Some((candidate.closeness(domain, repository)?, candidate)))
            .collect();
        matching.sort_by_key(|(closeness, _)| std::cmp::Reverse(*closeness));
        let mut failure = None;
        for (_, candidate) in matching {
            let path = sources
                .get(candidate.source)
                .map(|source| source.path.clone());
            let path: PathBuf = path.unwrap_or_default();
            let answer = match &candidate.means {
                Ok(means) => {
                    let origin = format!("{} ({})", printable_path(&path), candidate.key);
                    means.resolve(domain, &origin, helpers).await
                }
                Err(mistake) => Err(Error::Entry {
                    key: candidate.key.clone(),
                    path,
                    mistake: *mistake,
                }),
            };
            match answer {
                Ok(None) => {}
                Ok(Some(credential)) => {
                    let mut used = used.lock().unwrap_or_else(PoisonError::into_inner);
                    used.insert(candidate.source);
                    return Ok(Some(credential));
                }
                Err(error) => {
                    let mut failures = failures.lock().unwrap_or_else(PoisonError::into_inner);
                    failures.push((candidate.source, error.clone()));
                    failure = failure.or(Some(error));
                }
            }
        }
        failure.map_or(Ok(None), Err)
    }

    /// Every source in its order, what was found there, and what came of it so far; none as long as nobody has asked.
    pub fn considered(&self) -> Vec<Consideration> {
        let Some(Ok(found)) = self.0.found.get() else {
            return Vec::new();
        };
        let used = found.used.lock().unwrap_or_else(PoisonError::into_inner);
        let failures = found.failures.lock();
        let failures = failures.unwrap_or_else(PoisonError::into_inner);
        let mut sources = found.sources.clone();
        for (place, source) in sources.iter_mut().enumerate() {
            source.used = used.contains(&place);
            let own = failures.iter().filter(|(of, _)| *of == place);
            source.failures = own.map(|(_, error)| error.clone()).collect();
        }
        sources
    }
}
