//! Redaction: removes passwords and queries of URLs in arguments from messages.
//!
//! No option takes a password, but URLs may contain one, and messages repeat arguments. Parsers refuse such addresses without showing them;
//! this covers all other messages.

use std::ffi::OsString;

use tfoci::error::printable;
use tfoci::shown::{Shown, query, userinfo};

/// Texts that must not be printed, longest first, each with its replacement.
#[derive(Clone, Debug, Default)]
pub(super) struct Redaction(Vec<(String, String)>);

impl Redaction {
    /// Redacts the part before an `@` and the query of URLs, in arguments and in variables that stand for arguments.
    pub(super) fn of(arguments: &[OsString]) -> Self {
        let variables =
            std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TFOCI_"));
        let variables = variables.map(|(_, value)| value);
        let mut found = Self::default();
        for argument in arguments.iter().cloned().chain(variables) {
            let argument = argument.to_string_lossy();
            let text = value(&argument);
            let (user, query) = (userinfo(text), query(text));
            if user.is_some() || query.is_some() {
                found.hide(text, &Shown::from(text).to_string());
            }
            for user in user.into_iter().flat_map(before_each_at) {
                found.hide(user, "…");
                let password = user.split_once(':').map(|(_, password)| password);
                found.hide(password.unwrap_or_default(), "…");
            }
            found.hide(query.unwrap_or_default(), "…");
        }
        let Self(found) = &mut found;
        found.sort_by_key(|(secret, _)| std::cmp::Reverse(secret.len()));
        found.dedup();
        Self(std::mem::take(found))
    }

    /// Redacts a secret, also in its escaped spellings.
    fn hide(&mut self, secret: &str, shown: &str) {
        // Shorter secrets would match parts of ordinary words.
        const SHORTEST: usize = 3;
        if secret.len() < SHORTEST {
            return;
        }
        let printed = printable(secret);
        for text in [secret, &printed] {
            let quoted = serde_json::Value::from(text).to_string();
            let in_json = quoted.get(1..quoted.len() - 1).unwrap_or(text);
            let ways = [text.to_owned(), in_json.to_owned()];
            self.0.extend(ways.map(|way| (way, shown.to_owned())));
        }
    }

    /// Replaces all secrets in the text.
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

/// Every part that ends before an `@`: parsers may split an address with a version at any of them.
fn before_each_at(user: &str) -> impl Iterator<Item = &str> {
    let parts = user.match_indices('@').filter_map(|(at, _)| user.get(..at));
    parts.chain([user])
}

/// The value of an argument of the form `VALUE`, `--name=VALUE` or `-nVALUE`.
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
            (
                "network-mirror:https://h.example/x?sig=hunter2",
                "got 'network-mirror:https://h.example/x'",
            ),
            (
                "--from=https://h.example/x#hunter2",
                "got '--from=https://h.example/x'",
            ),
        ] {
            assert_eq!(redacted(argument), expected);
        }
        let redaction = Redaction::of(&["https://me:hunter2@h.example".into()]);
        assert_eq!(redaction.apply("me:hunter2, hunter2"), "…, …");
        let redaction = Redaction::of(&["me:hun\"t\u{200b}er2@h.example/x@1.0.0".into()]);
        for printed in [
            "`me:hun\"t\u{200b}er2`",
            "`me:hun\"t\u{fffd}er2`",
            "`me:hun\\\"t\u{200b}er2`",
            "`me:hun\\\"t\u{fffd}er2`",
        ] {
            assert_eq!(redaction.apply(printed), "`…`");
        }
    }
}
