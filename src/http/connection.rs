//! Decides where a request may go, and over which kind of connection.

use url::Url;

use super::clients::{ConnectionKind, Trust};
use super::guard::Guard;
use super::{Error, Http, Settings, authority, names};

impl Http {
    /// The kind of connection for a URL, given the URL that the user named.
    pub(super) async fn connection(&self, url: &Url, named: &Url) -> Result<ConnectionKind, Error> {
        let settings = &self.0.settings;
        let text = || url.clone().into();
        let host = authority(url).ok_or_else(|| Error::Url { url: text() })?;
        let endpoint = endpoint_of(url);
        let trust = match url.scheme() {
            "https" if names(&settings.insecure, &endpoint) => Trust::Unchecked,
            "https" => Trust::Authorities,
            "http" if names(&settings.plain, &endpoint) => Trust::Plain,
            _ => return Err(Error::Plain { url: text(), host }),
        };
        // A host counts as named by the user only with the same port.
        let is_same = (url.host(), url.port_or_known_default())
            == (named.host(), named.port_or_known_default());
        let allows = |endpoint: &str| names(&settings.private, endpoint);
        let named_endpoint = endpoint_of(named);
        let is_named = self.is_named(named, &named_endpoint);
        let guard = if is_same && is_named {
            Guard::Open
        } else if allows(&endpoint)
            || (is_named || allows(&named_endpoint)) && self.0.private.has(named).await
        {
            Guard::NoLinks
        } else {
            Guard::Public
        };
        if guard.refuses_literal(url) || guard == Guard::Public && self.is_proxy(url).await {
            return Err(match guard {
                Guard::NoLinks => Error::LinkLocal { url: text() },
                _ => Error::Private { url: text(), host },
            });
        }
        let shown = |host: &String| trust != Trust::Plain && settings.identities.contains_key(host);
        Ok(ConnectionKind {
            trust,
            guard,
            identity: Some(host).filter(shown),
        })
    }

    /// Whether a URL has the host of a proxy, at a private address. The guard accepts the hosts of proxies.
    async fn is_proxy(&self, url: &Url) -> bool {
        let names_proxy = url
            .host_str()
            .is_some_and(|host| self.0.settings.proxies.contains(host));
        names_proxy && self.0.private.has(url).await
    }

    /// Whether the user named the host of a URL, by an option or otherwise.
    fn is_named(&self, url: &Url, endpoint: &str) -> bool {
        let Settings {
            plain,
            insecure,
            identities,
            ..
        } = &self.0.settings;
        let is_known = names(plain, endpoint)
            || names(insecure, endpoint)
            || identities.contains_key(endpoint)
            || endpoint
                .strip_suffix(":443")
                .is_some_and(|host| identities.contains_key(host));
        is_known || !self.0.strangers.has(url)
    }
}

/// The host of a URL with its port, even where that is the scheme's own: an option may name it.
fn endpoint_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port_or_known_default()
        .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}
