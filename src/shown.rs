//! URLs as they may be shown: to a person, in a log, in JSON.
//!
//! Queries hold tokens and signatures, and some people put a name and password into a URL. None of it is ever printed.

use std::fmt;

use url::Url;

use crate::error::printable;

/// A URL without its query, its fragment, and a user's name or password. That there was a query shows as `?…`, and that there was a
/// user as `…@`.
#[derive(Clone, PartialEq, Eq)]
pub struct Shown(String);

impl From<Url> for Shown {
    fn from(mut url: Url) -> Self {
        let user = !url.username().is_empty() || url.password().is_some();
        let query = url.query().is_some();
        url.set_query(None);
        url.set_fragment(None);
        // A URL that cannot have them has none.
        let _none = url.set_username("").and_then(|()| url.set_password(None));
        let mut text = printable(url.as_str());
        if user {
            text = text.replacen("://", "://…@", 1);
        }
        if query {
            text += "?…";
        }
        Self(text)
    }
}

/// Text that need not be a URL. Where it cannot be told what of it is a password, none of it is shown.
impl From<&str> for Shown {
    fn from(text: &str) -> Self {
        if let Some(url) = Url::parse(text).ok().filter(Url::has_host) {
            return url.into();
        }
        let Some((user, rest)) = text.rsplit_once('@') else {
            return Self(before_query(text));
        };
        Self(match user.contains(['?', '#']) {
            true => "…".to_owned(),
            false => format!("…@{}", before_query(rest)),
        })
    }
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
