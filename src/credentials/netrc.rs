//! `.netrc`: usernames and passwords by host, which clients send to hosts of packages.
//!
//! The file consists of words separated by white space: `machine HOST login NAME password PASSWORD`. A word may be quoted. `macdef` begins
//! a macro, which ends with a blank line; `#` at the start of a line begins a comment.
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
#[error("line {line}: expected {expected}")]
pub struct NetrcError {
    /// The line, from 1.
    pub line: usize,
    /// The word or value that the parser expected.
    pub expected: &'static str,
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
        let mut words = Words {
            text,
            line: 1,
            starts_line: true,
        };
        let mut entries: Vec<NetrcEntry> = Vec::new();
        // Whether the last one has neither a username nor a password, and counts for nothing.
        let mut is_bare = false;
        while let Some(word) = words.next()? {
            match (word.reveal(), entries.last_mut()) {
                (word @ ("machine" | "default"), _) => {
                    entries.truncate(entries.len() - usize::from(is_bare));
                    entries.push(NetrcEntry {
                        // That of `default` is empty.
                        host: match word {
                            "machine" => words.value("a host")?.reveal().to_owned(),
                            _ => String::new(),
                        },
                        login: String::new(),
                        password: Secret::default(),
                    });
                    is_bare = true;
                }
                ("login", Some(entry)) => {
                    words.value("a name")?.reveal().clone_into(&mut entry.login);
                    is_bare = false;
                }
                ("password", Some(entry)) => {
                    entry.password = words.value("a password")?;
                    is_bare = false;
                }
                ("account", Some(_)) => drop(words.value("an account")?),
                ("macdef", _) => words.skip_macro(),
                _ => {
                    return Err(NetrcError {
                        line: words.line,
                        expected: "`machine`, `default`, `login`, `password`, `account` or `macdef`",
                    });
                }
            }
        }
        entries.truncate(entries.len() - usize::from(is_bare));
        entries.retain(|one| !one.host.is_empty());
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

/// The words of a file. Each of them may be a password.
struct Words<'a> {
    /// The rest of the file.
    text: &'a str,
    line: usize,
    /// Whether the text follows a line break and optional white space.
    starts_line: bool,
}

impl Words<'_> {
    /// The next word; `None` at the end of the file.
    fn next(&mut self) -> Result<Option<Secret>, NetrcError> {
        while let Some(next) = self.text.chars().next() {
            match next {
                '#' if self.starts_line => {
                    self.take_while(|c| c != '\n');
                }
                c if c.is_whitespace() => {
                    self.take();
                }
                '"' => return self.quoted().map(Some),
                _ => return Ok(Some(self.take_while(|c| !c.is_whitespace()).into())),
            }
        }
        Ok(None)
    }

    /// The value that must follow a keyword.
    fn value(&mut self, expected: &'static str) -> Result<Secret, NetrcError> {
        let line = self.line;
        self.next()?.ok_or(NetrcError { line, expected })
    }

    fn quoted(&mut self) -> Result<Secret, NetrcError> {
        let line = self.line;
        let open = || NetrcError {
            line,
            expected: "a quote at the end of the word",
        };
        self.take();
        // Reallocation would leave copies of a password in memory.
        let mut word = Zeroizing::new(String::with_capacity(quoted_length(self.text)));
        loop {
            match self.take().ok_or_else(open)? {
                '"' => return Ok(word.as_str().into()),
                '\\' => word.push(match self.take().ok_or_else(open)? {
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    other => other,
                }),
                other => word.push(other),
            }
        }
    }

    /// Skips a macro, up to the next blank line.
    fn skip_macro(&mut self) {
        self.take_while(|c| c != '\n');
        while self.take().is_some() {
            if self.take_while(|c| c != '\n').trim().is_empty() {
                return;
            }
        }
    }

    fn take(&mut self) -> Option<char> {
        let mut chars = self.text.chars();
        let next = chars.next()?;
        self.text = chars.as_str();
        self.line += usize::from(next == '\n');
        self.starts_line = next == '\n' || (self.starts_line && next.is_whitespace());
        Some(next)
    }

    /// Reads the characters up to the first that does not satisfy `is_part`.
    fn take_while(&mut self, is_part: impl Fn(char) -> bool) -> &str {
        let end = self.text.find(|c| !is_part(c)).unwrap_or(self.text.len());
        let (part, rest) = self.text.split_at_checked(end).unwrap_or((self.text, ""));
        self.text = rest;
        self.starts_line &= part.is_empty();
        part
    }
}

/// The number of bytes before the quotation mark that ends a word, including escapes.
fn quoted_length(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.find(|c| {
        let ends = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends
    });
    end.unwrap_or(text.len())
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
            machine b.example\n\tpassword \"two \\\"words\\\"\"\n\tlogin me\n\
            macdef init\nmachine evil.example login x password y\n\n\
            machine c.example password token\nmachine none.example\n\
            default login anonymous password x\n  # end\n";
        let netrc = Netrc::parse(text.as_bytes()).unwrap();
        assert_eq!(
            netrc.0,
            [
                entry("a.example", "me", "p#1"),
                entry("b.example", "me", "two \"words\""),
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
            ("machine a\npassword \"hunter2", 2),
        ] {
            let error = Netrc::parse(text.as_bytes()).unwrap_err();
            assert_eq!(error.line, line, "{text}");
            assert!(!error.to_string().contains("hunter2"));
        }
        let open = Netrc::parse(b"machine a password \"hunter2").unwrap_err();
        assert_eq!(open.expected, "a quote at the end of the word");
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

    fn quoted(word: &str) -> String {
        format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\""))
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(
            text in "\\PC{0,60}|((machine|default|login|password|macdef|#|\"|\\\\|a)[ \n]){0,20}",
        ) {
            let _ = Netrc::parse(text.as_bytes());
        }

        #[test]
        fn quoted_words_are_read_back(
            all in proptest::collection::vec(("[a-z.:0-9]{1,9}", "\\PC{0,9}", "(\\PC|\n){0,9}"), 0..4),
        ) {
            let written = all.iter().map(|(host, login, password)| {
                format!("machine {host} login {} password {}\n", quoted(login), quoted(password))
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
