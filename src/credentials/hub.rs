//! The names of Docker Hub.
//!
//! Docker Hub has four names: `https://index.docker.io/v1/` in the files of docker, `docker.io` in references, and other hosts for its API. Clients
//! treat them as different registries and send no credentials ([clients: repository addresses](crate::clients#repository-addresses)). tfoci
//! treats them as one.

use crate::config::RepositoryPrefix;

/// The key of Docker Hub in `auths`, and its server URL for helpers.
const HUB_KEY: &str = "https://index.docker.io/v1/";

/// The name of Docker Hub in references.
const HUB_DOMAIN: &str = "docker.io";

/// The canonical name of a registry: all names of Docker Hub become `docker.io`.
pub(super) fn canonical(domain: &str) -> &str {
    match domain {
        "index.docker.io" | "registry-1.docker.io" => HUB_DOMAIN,
        other => other,
    }
}

/// Replaces the registry of a prefix by its canonical name.
pub(super) fn one_name(prefix: RepositoryPrefix) -> RepositoryPrefix {
    let domain = canonical(prefix.domain()).to_owned();
    prefix.at(&domain)
}

/// The registry and path of a key of `auths`, also in a spelling that clients do not read but oras does: as a URL, of the registry's API too, or
/// with a slash at the end. The flag tells whether it is such a spelling.
pub(super) fn prefix_of_any_key(key: &str) -> Option<(RepositoryPrefix, bool)> {
    if let Some(prefix) = prefix_of_key(key) {
        return Some((prefix, false));
    }
    let schemes = ["https://", "http://"].into_iter();
    let bare = schemes.fold(key, |key, scheme| key.trim_start_matches(scheme));
    let ends = ["/", "/v1", "/v2"].into_iter();
    let bare = ends.fold(bare, |key, end| key.trim_end_matches(end));
    prefix_of_key(bare).map(|prefix| (prefix, true))
}

/// The registry and path of a key in `auths` or `credHelpers`.
pub(super) fn prefix_of_key(key: &str) -> Option<RepositoryPrefix> {
    let key = if key == HUB_KEY { HUB_DOMAIN } else { key };
    let prefix = RepositoryPrefix::parse(key).ok()?;
    Some(one_name(prefix))
}

/// The key under which docker stores the credentials for a registry.
pub(super) fn key_of(domain: &str) -> &str {
    if canonical(domain) == HUB_DOMAIN {
        HUB_KEY
    } else {
        domain
    }
}
