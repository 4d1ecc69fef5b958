//! `.netrc`: names and passwords of hosts, which clients send for packages.
//!
//! Words between white space: `machine HOST login NAME password PASSWORD`. A word may be quoted. `macdef` begins a macro, which ends
//! with a blank line; `#` at the start of a line begins a comment.
//!
//! `default`, the entry for every other host, is read and never used: where packages lie is for strangers to say, and none of them
//! may ask for a password by naming a host of their own.

use url::Url;

use crate::config::Hidden;

/// A file's entries, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Netrc(Vec<Machine>);

/// The name and password of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The host, with its port if it is for that alone.
    pub host: String,
    /// The name.
    pub login: String,
    /// The password.
    pub password: Hidden,
}

/// Text that is no such file. Nothing of it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: expected {expected}")]
pub struct Error {
    /// The line, from 1.
    pub line: usize,
    /// What should be there.
    pub expected: &'static str,
}

impl Netrc {
    /// Reads a file.
    ///
    /// # Errors
    /// A word that has no place there, or lacks what has to follow it.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut words = Words {
            text,
            line: 1,
            starts_line: true,
        };
        let mut machines = Vec::new();
        // `None` before the first entry.
        let mut open: Option<Entry> = None;
        while let Some(word) = words.next()? {
            match (word.as_str(), &mut open) {
                ("machine", _) => {
                    machines.extend(open.take().and_then(Entry::close));
                    open = Some(Entry::of(Some(words.value("a host")?)));
                }
                ("default", _) => {
                    machines.extend(open.take().and_then(Entry::close));
                    open = Some(Entry::of(None));
                }
                ("login", Some(entry)) => entry.login = Some(words.value("a name")?),
                ("password", Some(entry)) => entry.password = Some(words.value("a password")?),
                ("account", Some(_)) => drop(words.value("an account")?),
                ("macdef", _) => words.skip_macro(),
                _ => {
                    return Err(Error {
                        line: words.line,
                        expected: "`machine`, `default`, `login`, `password`, `account` or `macdef`",
                    });
                }
            }
        }
        machines.extend(open.and_then(Entry::close));
        Ok(Self(machines))
    }

    /// Its entries, in order.
    pub fn machines(&self) -> &[Machine] {
        &self.0
    }

    /// The first entry for the host and port of a URL, else the first for the host.
    pub fn find(&self, url: &Url) -> Option<&Machine> {
        let host = url.host_str()?;
        let exact = format!("{host}:{}", url.port_or_known_default()?);
        let of = |name: &str| {
            let mut machines = self.0.iter();
            machines.find(|machine| machine.host.eq_ignore_ascii_case(name))
        };
        of(&exact).or_else(|| of(host))
    }
}

/// An entry while it is read.
struct Entry {
    /// `None` is `default`.
    host: Option<String>,
    login: Option<String>,
    password: Option<String>,
}

impl Entry {
    fn of(host: Option<String>) -> Self {
        Self {
            host,
            login: None,
            password: None,
        }
    }

    /// The whole entry; `None` where it is for everybody, or says nothing.
    fn close(self) -> Option<Machine> {
        let (login, password) = (self.login, self.password);
        if login.is_none() && password.is_none() {
            return None;
        }
        Some(Machine {
            host: self.host?,
            login: login.unwrap_or_default(),
            password: Hidden::new(password.unwrap_or_default()),
        })
    }
}

/// The words of a file.
struct Words<'a> {
    /// What was not read yet.
    text: &'a str,
    line: usize,
    /// Whether nothing but white space stands before it in its line.
    starts_line: bool,
}

impl Words<'_> {
    /// The next word; `None` at the end.
    fn next(&mut self) -> Result<Option<String>, Error> {
        while let Some(next) = self.text.chars().next() {
            match next {
                '#' if self.starts_line => {
                    self.take_while(|c| c != '\n');
                }
                c if c.is_whitespace() => {
                    self.take();
                }
                '"' => return self.quoted().map(Some),
                _ => return Ok(Some(self.take_while(|c| !c.is_whitespace()).to_owned())),
            }
        }
        Ok(None)
    }

    /// The word that has to follow another.
    fn value(&mut self, expected: &'static str) -> Result<String, Error> {
        let line = self.line;
        self.next()?.ok_or(Error { line, expected })
    }

    fn quoted(&mut self) -> Result<String, Error> {
        let line = self.line;
        let open = || Error {
            line,
            expected: "a quote at the end of the word",
        };
        self.take();
        let mut word = String::new();
        loop {
            match self.take().ok_or_else(open)? {
                '"' => return Ok(word),
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

    /// Passes over a macro: everything up to the next blank line.
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

    /// What comes before the first character of another kind, of one line.
    fn take_while(&mut self, is_part: impl Fn(char) -> bool) -> &str {
        let end = self.text.find(|c| !is_part(c)).unwrap_or(self.text.len());
        let (part, rest) = self.text.split_at_checked(end).unwrap_or((self.text, ""));
        self.text = rest;
        self.starts_line &= part.is_empty();
        part
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn machine(host: &str, login: &str, password: &str) -> Machine {
        Machine {
            host: host.to_owned(),
            login: login.to_owned(),
            password: Hidden::new(password),
        }
    }

    #[test]
    fn entries_are_words_in_any_arrangement() {
        let text = "# mine\nmachine a.example login me password p#1 account x\n\
            machine b.example\n\tpassword \"two \\\"words\\\"\"\n\tlogin me\n\
            macdef init\nmachine evil.example login x password y\n\n\
            machine c.example password token\nmachine none.example\n\
            default login anonymous password x\n  # end\n";
        let netrc = Netrc::parse(text).unwrap();
        assert_eq!(
            netrc.machines(),
            [
                machine("a.example", "me", "p#1"),
                machine("b.example", "me", "two \"words\""),
                machine("c.example", "", "token"),
            ]
        );
        assert_eq!(Netrc::parse("").unwrap(), Netrc::default());
    }

    #[test]
    fn mistakes_are_at_a_line_and_show_nothing() {
        for (text, line) in [
            ("login me", 1),
            ("machine", 1),
            ("machine a login me\n\npassword", 3),
            ("machine a\nhunter2", 2),
            ("machine a\npassword \"hunter2", 2),
        ] {
            let error = Netrc::parse(text).unwrap_err();
            assert_eq!(error.line, line, "{text}");
            assert!(!error.to_string().contains("hunter2"));
        }
    }

    #[test]
    fn entries_belong_to_one_host_and_none_to_all() {
        let netrc = Netrc::parse(
            "default login d password d\n\
            machine a.example login any password 1\n\
            machine a.example:8443 login port password 2\n\
            machine a.example login late password 3\n",
        )
        .unwrap();
        let found = |url: &str| {
            let found = netrc.find(&url.parse().unwrap());
            found.map(|machine| machine.login.clone())
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
        fn anything_is_read_or_refused(
            text in "\\PC{0,60}|((machine|default|login|password|macdef|#|\"|\\\\|a)[ \n]){0,20}",
        ) {
            let _ = Netrc::parse(&text);
        }

        #[test]
        fn what_is_written_is_read(
            all in proptest::collection::vec(("[a-z.:0-9]{1,9}", "\\PC{0,9}", "(\\PC|\n){0,9}"), 0..4),
        ) {
            let written = all.iter().map(|(host, login, password)| {
                format!("machine {host} login {} password {}\n", quoted(login), quoted(password))
            });
            let wanted: Vec<_> = all
                .iter()
                .map(|(host, login, password)| machine(host, login, password))
                .collect();
            let read = Netrc::parse(&written.collect::<String>()).unwrap();
            prop_assert_eq!(read.machines(), &wanted[..]);
        }
    }
}
