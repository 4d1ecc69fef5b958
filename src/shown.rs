//! URLs without their secrets, for messages, logs and JSON.
//!
//! Queries contain tokens and signatures, and URLs may contain a username and password. None of these is printed.

use std::fmt;

use url::Url;

use crate::error::printable;
use crate::secret::{self, Secret};

/// A URL without query, fragment, username and password. `?…` replaces a query, and `…@` replaces a user.
#[derive(Clone, PartialEq, Eq)]
pub struct Shown(String);

impl From<Url> for Shown {
    fn from(url: Url) -> Self {
        Self::of_url(&[], url)
    }
}

/// The text need not be a URL. If the password cannot be located, nothing is shown.
impl From<&str> for Shown {
    fn from(text: &str) -> Self {
        Self::hiding(&[], text)
    }
}

impl Shown {
    /// As from the text alone, and without these secrets, which a server that named the URL may have put into its path.
    pub(crate) fn hiding(secrets: &[Secret], text: &str) -> Self {
        if let Some(url) = Url::parse(text).ok().filter(Url::has_host) {
            return Self::of_url(secrets, url);
        }
        let text = secret::hide(secrets, text);
        let Some((user, rest)) = text.rsplit_once('@') else {
            return Self(before_query(&text));
        };
        Self(match user.contains(['?', '#']) {
            true => "…".to_owned(),
            false => format!("…@{}", before_query(rest)),
        })
    }

    fn of_url(secrets: &[Secret], mut url: Url) -> Self {
        let user = !url.username().is_empty() || url.password().is_some();
        let query = url.query().is_some();
        url.set_query(None);
        url.set_fragment(None);
        // This fails for URLs that cannot contain a user.
        let _none = url.set_username("").and_then(|()| url.set_password(None));
        let before = url.as_str().strip_suffix(url.path()).unwrap_or_default();
        let path = secret::hide(secrets, url.path());
        let mut text = printable(&format!("{before}{path}"));
        if user {
            text = text.replacen("://", "://…@", 1);
        }
        if query {
            text += "?…";
        }
        Self(text)
    }

    /// The host and port of the URL, or the whole text if it is not a URL.
    pub fn host(&self) -> &str {
        let rest = self
            .0
            .split_once("://")
            .map_or(self.0.as_str(), |(_, rest)| rest);
        let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
        rest.split('/').next().unwrap_or(rest)
    }

    /// Whether it is a URL of plain HTTP, without TLS.
    pub fn is_plain(&self) -> bool {
        self.0.starts_with("http://")
    }
}

/// The `name:password` in `https://name:password@host/…`, or in the same without a scheme, which is common for registries; `None` for a
/// provider with a port and a version such as `host:8443/acme/demo@1.0.0`, a digest, or a directory.
pub fn userinfo(text: &str) -> Option<&str> {
    let (before, after) = text.rsplit_once('@')?;
    if let Some((_, user)) = before.split_once("://") {
        return user.contains(':').then_some(user);
    }
    let before = before.strip_prefix("network-mirror:").unwrap_or(before);
    let before = before.strip_prefix("//").unwrap_or(before);
    let (name, password) = before.split_once(':')?;
    let is_odd = |c: char| c.is_whitespace() || "/\\<>\"'".contains(c);
    let directories = ["oci-layout", "filesystem-mirror"];
    let mut parts = password.split('/');
    let has_port = parts
        .next()
        .is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
    // An IP address has more dots than a version.
    let is_version = after.starts_with(|c: char| c.is_ascii_digit())
        && after.matches('.').count() < 3
        && !after.contains('/');
    let is_port = has_port && (parts.count() == 2 || is_version || after.starts_with("sha"));
    (!name.contains(is_odd) && !directories.contains(&name) && !is_port).then_some(before)
}

/// The part after `?` or `#` of a URL, which may contain tokens and signatures.
pub fn query(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("://")?;
    let (_, query) = rest.split_once(['?', '#'])?;
    Some(query).filter(|query| !query.is_empty())
}

fn before_query(text: &str) -> String {
    printable(text.split(['?', '#']).next().unwrap_or_default())
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests;
