//! Docker Hub, which has four names.
//!
//! Its files call it `https://index.docker.io/v1/`, references `docker.io`, and its API is elsewhere. To clients these are
//! strangers, and they send it no credentials
//! ([clients: repository addresses](crate::clients#repository-addresses)); to us they are one place.

use crate::config::RepositoryPrefix;

/// What docker calls it in its files and towards helpers.
pub(super) const KEY: &str = "https://index.docker.io/v1/";

/// What we call it.
const DOMAIN: &str = "docker.io";

/// One name for each registry.
pub(super) fn canonical(domain: &str) -> &str {
    match domain {
        "index.docker.io" | "registry-1.docker.io" => DOMAIN,
        other => other,
    }
}

/// What the key of an entry is for, if it is for anything.
pub(super) fn prefix(key: &str) -> Option<RepositoryPrefix> {
    let key = if key == KEY { DOMAIN } else { key };
    let prefix = RepositoryPrefix::parse(key).ok()?;
    Some(one_name(prefix))
}

/// The same under the one name of its registry.
pub(super) fn one_name(prefix: RepositoryPrefix) -> RepositoryPrefix {
    let domain = canonical(prefix.domain()).to_owned();
    prefix.at(&domain)
}

/// The key under which docker keeps a registry.
pub(super) fn key(domain: &str) -> &str {
    if canonical(domain) == DOMAIN {
        KEY
    } else {
        domain
    }
}
