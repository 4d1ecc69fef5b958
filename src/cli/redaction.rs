//! Redaction: a password that somebody wrote into an argument is not repeated.
//!
//! No argument takes a password, and every message about an argument repeats it. Parsers refuse such an address without showing it;
//! this is for every other way.

use std::ffi::OsString;

use tfoci::error::printable;
use tfoci::shown::{Shown, userinfo};

/// Text that must not be printed, with what is printed in its place. The longest comes first.
#[derive(Clone, Debug, Default)]
pub(super) struct Redaction(Vec<(String, String)>);

impl Redaction {
    /// Of everything that these arguments, and the variables that stand for arguments, hold before an `@`.
    pub(super) fn of(arguments: &[OsString]) -> Self {
        let variables =
            std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TFOCI_"));
        let variables = variables.map(|(_, value)| value);
        let mut found = Vec::new();
        for argument in arguments.iter().cloned().chain(variables) {
            let argument = argument.to_string_lossy();
            let text = value(&argument);
            let Some(user) = userinfo(text) else { continue };
            let whole = Shown::from(text).to_string();
            found.push((printable(text), whole.clone()));
            found.push((text.to_owned(), whole));
            let password = user.split_once(':').map(|(_, password)| password);
            let parts = [Some(user), password].into_iter().flatten();
            found.extend(parts.map(|part| (part.to_owned(), "…".to_owned())));
        }
        found.retain(|(secret, _)| secret.len() > 2);
        found.sort_by_key(|(secret, _)| std::cmp::Reverse(secret.len()));
        found.dedup();
        Self(found)
    }

    /// The text without them.
    pub(super) fn apply(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (secret, shown) in &self.0 {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), shown);
            }
        }
        text
    }
}

/// What an argument gives, be it `VALUE`, `--name=VALUE` or `-nVALUE`.
fn value(argument: &str) -> &str {
    match argument.strip_prefix('-') {
        None => argument,
        Some(long) if long.starts_with('-') => long.split_once('=').map_or("", |(_, value)| value),
        Some(short) => {
            let mut rest = short.chars();
            rest.next();
            rest.as_str()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redacted(argument: &str) -> String {
        Redaction::of(&[argument.into()]).apply(&format!("got '{argument}'"))
    }

    #[test]
    fn passwords_are_left_out_and_nothing_else() {
        for (argument, expected) in [
            (
                "https://me:hunter2@h.example/x",
                "got 'https://…@h.example/x'",
            ),
            ("me:hunter2@h.example/x", "got '…@h.example/x'"),
            ("me:hun/ter@2@h.example/x", "got '…@h.example/x'"),
            ("--to=me:hunter2@h.example/x", "got '--to=…@h.example/x'"),
            ("-jme:hunter2@h", "got '-j…@h'"),
            (
                "h.example:8443/acme/demo@1.0.0",
                "got 'h.example:8443/acme/demo@1.0.0'",
            ),
            ("acme/demo@~> 1.0", "got 'acme/demo@~> 1.0'"),
            ("oci-layout:/home/me@work", "got 'oci-layout:/home/me@work'"),
            ("./a:b@c", "got './a:b@c'"),
        ] {
            assert_eq!(redacted(argument), expected);
        }
        let redaction = Redaction::of(&["https://me:hunter2@h.example".into()]);
        assert_eq!(redaction.apply("me:hunter2, hunter2"), "…, …");
    }
}
