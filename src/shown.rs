//! URLs as they may be shown: to a person, in a log, in JSON.
//!
//! Queries hold tokens and signatures, and some people put a name and password into a URL. None of it is ever printed.

use std::fmt;

use url::Url;

use crate::error::printable;

/// A URL without its query, its fragment, and a user's name or password. That there was a query shows as `?…`.
#[derive(Clone, PartialEq, Eq)]
pub struct Shown(String);

impl From<Url> for Shown {
    fn from(mut url: Url) -> Self {
        let query = url.query().is_some();
        url.set_query(None);
        url.set_fragment(None);
        // A URL that cannot have them has none.
        let _none = url.set_username("").and_then(|()| url.set_password(None));
        Self(printable(&format!(
            "{url}{}",
            if query { "?…" } else { "" }
        )))
    }
}

/// Text that need not be a URL. Where it cannot be told what of it is a password, none of it is shown.
impl From<&str> for Shown {
    fn from(text: &str) -> Self {
        if let Some(url) = Url::parse(text).ok().filter(Url::has_host) {
            return url.into();
        }
        let (before, after) = text.rsplit_once('@').unwrap_or(("", text));
        if before.contains(['?', '#']) {
            return Self("…".to_owned());
        }
        let bare = after.split(['?', '#']).next();
        Self(printable(bare.unwrap_or_default()))
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
                "https://h.example/a",
            ),
            ("https://h.example:5000/", "https://h.example:5000/"),
        ] {
            let url: Url = text.parse().unwrap();
            assert_eq!(Shown::from(url).to_string(), shown);
        }
        for (text, shown) in [
            ("//me:hunter2@[h/a?b", "[h/a"),
            ("https://me:hunter2@h.example/a?b", "https://h.example/a?…"),
            ("https://me:hunter2@/", "/"),
            ("https://me:hunt?er2@h.example/", "…"),
            ("h.example/a?token=hun@ter2", "…"),
            ("oci-layout:directory", "oci-layout:directory"),
        ] {
            assert_eq!(Shown::from(text).to_string(), shown);
        }
    }
}
