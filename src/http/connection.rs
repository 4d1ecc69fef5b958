//! Decides where a request may go, and over which kind of connection.

use std::collections::BTreeSet;

use url::Url;

use super::clients::{ConnectionKind, Trust};
use super::guard::{Guard, endpoint};
use super::{Error, Http, Settings, Shown, authority};

impl Http {
    /// The kind of connection for a URL, which errors show in the given form, and for the URL that the user named.
    pub(super) async fn connection(
        &self,
        url: &Url,
        shown: Shown,
        named: &Url,
    ) -> Result<ConnectionKind, Error> {
        let settings = &self.shared.settings;
        let Some(host) = authority(url) else {
            return Err(Error::Url { url: shown });
        };
        let trust = match url.scheme() {
            "https" if names(&settings.insecure, url) => Trust::Unchecked,
            "https" => Trust::Authorities,
            "http" if names(&settings.plain, url) => Trust::Plain,
            _ => {
                let was_tls = named.scheme() == "https";
                return Err(Error::Plain {
                    url: shown,
                    was_tls,
                });
            }
        };
        // A host counts as named by the user only with the same port.
        let is_same = endpoint(url) == endpoint(named);
        let allows = |url: &Url| names(&settings.private, url);
        let is_named = self.is_named(named);
        let guard = if is_same && is_named {
            Guard::Open
        } else if allows(url)
            || (is_named || allows(named)) && self.shared.resolved.is_private(named).await
        {
            Guard::NoLinks
        } else {
            Guard::Public
        };
        // The resolver accepts the hosts of proxies.
        let has_proxy = || {
            let host = url.host_str();
            host.is_some_and(|host| settings.proxies.contains(host))
        };
        if guard.refuses_literal(url)
            || guard == Guard::Public && has_proxy() && self.shared.resolved.is_private(url).await
        {
            return Err(match guard {
                Guard::NoLinks => Error::LinkLocal { url: shown },
                _ => Error::Private { url: shown },
            });
        }
        let is_shown =
            |host: &String| trust != Trust::Plain && settings.identities.contains_key(host);
        Ok(ConnectionKind {
            trust,
            guard,
            identity: Some(host).filter(is_shown),
        })
    }

    /// Whether the user named the host of a URL, by an option or otherwise.
    fn is_named(&self, url: &Url) -> bool {
        let Settings {
            plain,
            insecure,
            identities,
            ..
        } = &self.shared.settings;
        // An identity may be given for the port that the scheme implies.
        let has_identity = || {
            let (host, port) = endpoint(url)?;
            let is_given = identities.contains_key(&format!("{host}:{port}"));
            (is_given || port == 443 && identities.contains_key(&host)).then_some(())
        };
        if self.named.is_some() && self.named == endpoint(url) {
            return true;
        }
        let is_known = names(plain, url) || names(insecure, url) || has_identity().is_some();
        is_known || !self.shared.strangers.has(url)
    }
}

/// Whether a set contains the host of a URL, either with its port or without one.
fn names(set: &BTreeSet<String>, url: &Url) -> bool {
    let Some((host, port)) = endpoint(url) else {
        return false;
    };
    set.contains(&host) || set.contains(&format!("{host}:{port}"))
}
