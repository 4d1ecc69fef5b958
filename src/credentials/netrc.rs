//! `.netrc`: usernames and passwords by host, which clients send to hosts of packages.
//!
//! The file consists of words separated by white space: `machine HOST login NAME password PASSWORD`. `macdef` begins a macro, which ends with a
//! blank line; `#` at the start of a line begins a comment. As for clients, quotation marks are part of a word.
//!
//! `default`, the entry for all other hosts, is parsed and never used. A provider registry chooses the hosts of packages, and must not make
//! tfoci send a password to a host of its choice.

use std::borrow::Cow;

use url::Url;
use zeroize::Zeroizing;

use crate::secret::Secret;

/// The entries of a file, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Netrc(Vec<NetrcEntry>);

/// The username and password for a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetrcEntry {
    /// `HOST`, or `HOST:PORT` if the entry is for that port only.
    pub host: String,
    /// The username; empty if the entry has none.
    pub login: String,
    /// The password; empty if the entry has none.
    pub password: Secret,
}

/// A text that is not a `.netrc`. The message does not quote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: expected `machine HOST login NAME password PASSWORD`")]
pub struct NetrcError {
    /// The line, from 1.
    pub line: usize,
}

impl Netrc {
    /// Parses a file. Bytes that are not UTF-8 are replaced.
    ///
    /// # Errors
    /// The file contains an unknown word, or a word without its value.
    pub fn parse(bytes: &[u8]) -> Result<Self, NetrcError> {
        match String::from_utf8_lossy(bytes) {
            Cow::Borrowed(text) => Self::parse_text(text),
            Cow::Owned(text) => Self::parse_text(&Zeroizing::new(text)),
        }
    }

    fn parse_text(text: &str) -> Result<Self, NetrcError> {
        let mut entries: Vec<NetrcEntry> = Vec::new();
        // The keyword whose value comes next.
        let mut open: Option<(&str, NetrcError)> = None;
        let mut lines = text.lines().zip(1..);
        while let Some((text, line)) = lines.next() {
            if text.trim_start().starts_with('#') {
                continue;
            }
            for word in text.split_whitespace() {
                let new = |host: &str| NetrcEntry {
                    host: host.to_owned(),
                    login: String::new(),
                    password: Secret::default(),
                };
                match (open.take(), word, entries.last_mut()) {
                    (Some(("machine", _)), host, _) => entries.push(new(host)),
                    (Some(("login", _)), name, Some(entry)) => name.clone_into(&mut entry.login),
                    (Some(("password", _)), word, Some(entry)) => entry.password = word.into(),
                    (Some(_), _, _) => {}
                    (None, "default", _) => entries.push(new("")),
                    (None, "macdef", _) => {
                        lines.by_ref().find(|(text, _)| text.trim().is_empty());
                        break;
                    }
                    (None, "machine", _) | (None, "login" | "password" | "account", Some(_)) => {
                        open = Some((word, NetrcError { line }));
                    }
                    (None, ..) => return Err(NetrcError { line }),
                }
            }
        }
        if let Some((_, error)) = open {
            return Err(error);
        }
        // An entry without username and password counts for nothing.
        let is_empty = |one: &NetrcEntry| one.login.is_empty() && one.password.is_empty();
        entries.retain(|one| !one.host.is_empty() && !is_empty(one));
        Ok(Self(entries))
    }

    /// The first entry for the host and port of a URL, otherwise the first entry for the host.
    pub fn find(&self, url: &Url) -> Option<&NetrcEntry> {
        let host = url.host_str()?;
        let exact = format!("{host}:{}", url.port_or_known_default()?);
        let of = |name: &str| {
            let mut entries = self.0.iter();
            entries.find(|entry| entry.host.eq_ignore_ascii_case(name))
        };
        of(&exact).or_else(|| of(host))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry(host: &str, login: &str, password: &str) -> NetrcEntry {
        NetrcEntry {
            host: host.to_owned(),
            login: login.to_owned(),
            password: password.into(),
        }
    }

    #[test]
    fn entries_are_words_in_any_arrangement() {
        let text = "# mine\nmachine a.example login me password p#1 account x\n\
            machine b.example\n\tpassword \"one\"\n\tlogin me\n\
            macdef init\nmachine evil.example login x password y\n\n\
            machine c.example password token\nmachine none.example\n\
            default login anonymous password x\n  # end\n";
        let netrc = Netrc::parse(text.as_bytes()).unwrap();
        assert_eq!(
            netrc.0,
            [
                entry("a.example", "me", "p#1"),
                entry("b.example", "me", "\"one\""),
                entry("c.example", "", "token"),
            ]
        );
        assert_eq!(Netrc::parse(b"").unwrap(), Netrc::default());
    }

    #[test]
    fn parse_errors_name_the_line_and_show_nothing_of_it() {
        for (text, line) in [
            ("login me", 1),
            ("machine", 1),
            ("machine a login me\n\npassword", 3),
            ("machine a\nhunter2", 2),
        ] {
            let error = Netrc::parse(text.as_bytes()).unwrap_err();
            assert_eq!(error.line, line, "{text}");
            assert!(!error.to_string().contains("hunter2"));
        }
    }

    #[test]
    fn an_entry_is_for_one_host_and_default_for_none() {
        let netrc = Netrc::parse(
            b"default login d password d\n\
            machine a.example login any password 1\n\
            machine a.example:8443 login port password 2\n\
            machine a.example login late password 3\n",
        )
        .unwrap();
        let found = |url: &str| {
            let found = netrc.find(&url.parse().unwrap());
            found.map(|entry| entry.login.clone())
        };
        assert_eq!(found("https://a.example/x").as_deref(), Some("any"));
        assert_eq!(found("https://A.example:9443/x").as_deref(), Some("any"));
        assert_eq!(found("https://a.example:8443/x").as_deref(), Some("port"));
        for other in [
            "https://b.example/",
            "https://a.example.b.example/",
            "https://sub.a.example/",
            "https://example/",
        ] {
            assert_eq!(found(other), None, "{other}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(
            text in "\\PC{0,60}|((machine|default|login|password|macdef|#|\"|\\\\|a)[ \n]){0,20}",
        ) {
            let _ = Netrc::parse(text.as_bytes());
        }

        #[test]
        fn words_are_read_back(
            all in proptest::collection::vec(("[a-z.:0-9]{1,9}", "[!-~]{1,9}", "[!-~]{1,9}"), 0..4),
        ) {
            let written = all.iter().map(|(host, login, password)| {
                format!("machine {host} login {login} password {password}\n")
            });
            let wanted: Vec<_> = all
                .iter()
                .map(|(host, login, password)| entry(host, login, password))
                .collect();
            let read = Netrc::parse(written.collect::<String>().as_bytes()).unwrap();
            prop_assert_eq!(&read.0, &wanted);
        }
    }
}
