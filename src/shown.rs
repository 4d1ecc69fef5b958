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
mod tests {
    use super::*;

    #[test]
    fn names_and_passwords_are_found_and_nothing_else() {
        for (text, user) in [
            ("https://me:hunter2@h.example/x", Some("me:hunter2")),
            ("network-mirror:https://me:h@h", Some("me:h")),
            ("oci-layout:https://me:h@h", Some("me:h")),
            ("me:hun/t@er2@h.example/x", Some("me:hun/t@er2")),
            ("me:123@h.example/x", Some("me:123")),
            ("network-mirror:me:h@h", Some("me:h")),
            ("//me:h@h.example/x", Some("me:h")),
            (":h@h.example/x", Some(":h")),
            ("h.example:8443/acme/demo@1.0.0", None),
            ("h.example:8443/demo@sha256:00", None),
            ("h.example:8443/tofu/h.example/acme/demo@1.0.0", None),
            ("me:123/x@10.0.0.1", Some("me:123/x")),
            ("acme/demo@1.0.0", None),
            ("oci-layout:/home/me@work", None),
            ("/home/a:b@c", None),
            ("h.example:8443/x", None),
        ] {
            assert_eq!(userinfo(text), user, "{text}");
        }
    }

    #[test]
    fn secrets_are_hidden_in_the_path_and_do_not_hide_the_host() {
        let long = "x".repeat(190);
        for (text, shown) in [
            (
                "https://hunter2.example/a/hunter2/b",
                "https://hunter2.example/a/…/b",
            ),
            (
                "https://h.example/%68unter2?hunter2",
                "https://h.example/…?…",
            ),
            (&format!("/{long}/hunter2"), &format!("/{long}/…")),
            ("/hunter2?hunter2", "/…"),
        ] {
            let hidden = Shown::hiding(&["hunter2".into()], text);
            assert_eq!(hidden.to_string(), shown);
        }
    }

    #[test]
    fn nothing_that_may_be_secret_is_left() {
        for (text, shown) in [
            (
                "https://h.example/v2/a?token=hunter2",
                "https://h.example/v2/a?…",
            ),
            (
                "https://me:hunter2@h.example/a#hunter2",
                "https://…@h.example/a",
            ),
            ("https://me@h.example/", "https://…@h.example/"),
            ("https://h.example:5000/", "https://h.example:5000/"),
        ] {
            let url: Url = text.parse().unwrap();
            assert_eq!(Shown::from(url).to_string(), shown);
            assert_eq!(Shown::from(text).to_string(), shown);
        }
        for (text, shown) in [
            ("//me:hunter2@[h/a?b", "…@[h/a"),
            ("https://[h/a?b", "https://[h/a"),
            ("a/b#c", "a/b"),
            ("https://me:hunter2@/", "…@/"),
            ("x:https://me:hunter2@h.example/", "…@h.example/"),
            ("https://me:hunt?er2@h.example/", "…"),
            ("h.example/a?token=hun@ter2", "…"),
            ("oci-layout:directory", "oci-layout:directory"),
        ] {
            assert_eq!(Shown::from(text).to_string(), shown);
        }
    }
}
