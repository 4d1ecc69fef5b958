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

/// Text that need not be a URL.
impl From<&str> for Shown {
    fn from(text: &str) -> Self {
        if let Ok(url) = Url::parse(text) {
            return url.into();
        }
        let bare = text.split(['?', '#']).next().unwrap_or_default();
        Self(match bare.rsplit_once('@') {
            Some((_, bare)) => format!("…@{}", printable(bare)),
            None => printable(bare),
        })
    }
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
        ] {
            assert_eq!(Shown::from(text).to_string(), shown);
        }
    }
}
