//! JSON objects as clients read them, with every byte of what they do not understand kept.
//!
//! Clients are written in Go, whose decoder matches keys in any letter case, lets the last of duplicate keys win, ignores
//! unknown ones, and refuses a document in which any field that it knows has another type (contract 1.6). Whoever merges into
//! a document made by somebody else must read it the same way, and must give back unknown members unchanged: large
//! numbers too, which a round trip through `f64` would spoil.
//!
//! One liberty of Go's is not taken: it reads the second of two objects, or lists, over the first; here the second stands alone.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{DeserializeOwned, Deserializer, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::error::printable;

/// The deepest nesting that is read. Real documents have six levels; clients stop at 10 000.
const DEEPEST: usize = 100;

/// A JSON object: its members in their order, their values as they are written.
#[derive(Clone, Debug, Default)]
pub(super) struct Object {
    members: Vec<(String, Box<RawValue>)>,
    lenient: bool,
}

/// Bytes that are not JSON, or not of the kind that clients decode.
#[derive(Debug)]
pub struct Error {
    /// The member in which it was found; `None` where the whole document cannot be read.
    pub member: Option<&'static str>,
    mistake: serde_json::Error,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = printable(&self.mistake.to_string());
        match (self.member, text.split_once(" at line ")) {
            (None, _) => f.write_str(&text),
            // The place within a member would be taken for the place within the document.
            (Some(member), Some((text, _))) => write!(f, "`{member}`: {text}"),
            (Some(member), None) => write!(f, "`{member}`: {text}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<serde_json::Error> for Error {
    fn from(mistake: serde_json::Error) -> Self {
        Self {
            member: None,
            mistake,
        }
    }
}

impl Object {
    /// Reads a document that is exactly one object; white space may surround it, nothing else.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, Error> {
        if depth(bytes) > DEEPEST {
            let mistake = serde_json::Error::custom(format!("more than {DEEPEST} levels"));
            return Err(mistake.into());
        }
        Ok(serde_json::from_slice(bytes)?)
    }

    /// Takes a list or an object out. Absent and `null` are the same.
    pub(super) fn take<T: DeserializeOwned>(
        &mut self,
        name: &'static str,
    ) -> Result<Option<T>, Error> {
        Ok(self.remove(name)?.pop().flatten())
    }

    /// Takes text out; empty if absent. A `null` leaves standing what an earlier member of the name says.
    pub(super) fn text(&mut self, name: &'static str) -> Result<String, Error> {
        let last = self.remove(name)?.into_iter().flatten().next_back();
        Ok(last.unwrap_or_default())
    }

    /// Takes a whole number out; zero if absent. As [`Object::text`] with `null`.
    pub(super) fn integer(&mut self, name: &'static str) -> Result<i64, Error> {
        let last = self.remove(name)?.into_iter().flatten().next_back();
        Ok(last.unwrap_or_default())
    }

    /// Takes a map from text to text out. Its keys are what they are, in every letter case.
    pub(super) fn pairs(&mut self, name: &'static str) -> Result<BTreeMap<String, String>, Error> {
        let pairs: BTreeMap<String, Option<String>> = self.take(name)?.unwrap_or_default();
        let pairs = pairs.into_iter();
        Ok(pairs.map(|(k, v)| (k, v.unwrap_or_default())).collect())
    }

    /// Looks at a member that is of no interest but must have the right type, and leaves it there.
    pub(super) fn check<T: DeserializeOwned>(&mut self, name: &'static str) -> Result<(), Error> {
        self.read::<T>(name).map(|_| ())
    }

    /// Whether anything that was looked at so far had a duplicate or wrong-case key.
    pub(super) fn is_lenient(&self) -> bool {
        self.lenient
    }

    /// The members that were not taken.
    pub(super) fn into_rest(self) -> Vec<(String, Box<RawValue>)> {
        self.members
    }

    fn remove<T: DeserializeOwned>(&mut self, name: &'static str) -> Result<Vec<Option<T>>, Error> {
        let found = self.read(name)?;
        self.members.retain(|(key, _)| !is_named(key, name));
        Ok(found)
    }

    /// Every member of a name, in order: each must have the right type, even if a later one stands in its place.
    fn read<T: DeserializeOwned>(&mut self, name: &'static str) -> Result<Vec<Option<T>>, Error> {
        let mut found = Vec::new();
        for (key, value) in self.members.iter().filter(|(key, _)| is_named(key, name)) {
            self.lenient |= key != name || !found.is_empty();
            let value = serde_json::from_str(value.get()).map_err(|mistake| Error {
                member: Some(name),
                mistake,
            })?;
            found.push(value);
        }
        Ok(found)
    }
}

/// Compares as clients do: by Unicode's simple folding, in which two letters beyond ASCII equal one within.
fn is_named(key: &str, name: &str) -> bool {
    let folded = key.chars().map(|c| match c {
        '\u{017f}' => 's',
        '\u{212a}' => 'k',
        c => c.to_ascii_lowercase(),
    });
    folded.eq(name.chars().map(|c| c.to_ascii_lowercase()))
}

/// How deep brackets nest. Text that is not JSON may give any number.
fn depth(bytes: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut in_text, mut escaped) = (false, false);
    for byte in bytes {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'[' | b'{' if !in_text => depth += 1,
            b']' | b'}' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Object;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                let mut object = Object::default();
                while let Some(member) = map.next_entry()? {
                    object.members.push(member);
                }
                Ok(object)
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// The canonical bytes of something that tfoci writes: no white space, members in the order of declaration.
pub(super) fn to_raw(value: &impl Serialize) -> Result<Box<RawValue>, serde_json::Error> {
    serde_json::value::to_raw_value(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_duplicate_and_wrong_case_keys_wins_and_is_noted() {
        let mut object =
            Object::parse(br#"{"Size":1,"size":2,"\u017fize":3,"size":null}"#).unwrap();
        assert_eq!(object.integer("size").unwrap(), 3);
        assert!(object.is_lenient());
        let mut exact = Object::parse(br#"{"size":2,"other":null}"#).unwrap();
        assert_eq!(exact.integer("size").unwrap(), 2);
        assert_eq!(exact.take::<Vec<String>>("other").unwrap(), None);
        assert!(!exact.is_lenient());
    }

    #[test]
    fn a_wrong_type_spoils_the_document_even_where_it_does_not_count() {
        let mut object = Object::parse(br#"{"size":"1","size":2}"#).unwrap();
        assert_eq!(
            object.integer("size").unwrap_err().to_string(),
            "`size`: invalid type: string \"1\", expected i64"
        );
        let mut object = Object::parse(br#"{"a":{"X":null,"x":"1"},"b":{"x":1}}"#).unwrap();
        let pairs = object.pairs("a").unwrap();
        assert_eq!(
            pairs.into_iter().map(|(k, v)| k + &v).collect::<Vec<_>>(),
            ["X", "x1"]
        );
        assert!(object.pairs("b").is_err());
    }

    #[test]
    fn a_member_that_is_checked_stays() {
        let mut object = Object::parse(br#"{"a":["x"],"b":1}"#).unwrap();
        object.check::<Vec<String>>("a").unwrap();
        assert!(object.check::<Vec<String>>("b").is_err());
        let object = Object::parse(br#"{"a":["x"]}"#).unwrap();
        assert_eq!(object.into_rest().len(), 1);
    }

    #[test]
    fn unknown_members_keep_their_bytes() {
        let object =
            Object::parse(br#" {"b":12345678901234567890123.10, "a": {"x" : [1 ,2]}} "#).unwrap();
        let rest: Vec<_> = object
            .into_rest()
            .into_iter()
            .map(|(k, v)| format!("{k}={}", v.get()))
            .collect();
        assert_eq!(
            rest,
            ["b=12345678901234567890123.10", r#"a={"x" : [1 ,2]}"#]
        );
    }

    #[test]
    fn text_behind_the_object_and_other_values_are_refused() {
        for text in ["{} x", "[]", "", "null", "{\"a\":1", "\u{feff}{}"] {
            assert!(Object::parse(text.as_bytes()).is_err(), "{text:?}");
        }
    }

    #[test]
    fn nesting_is_bounded_and_brackets_in_text_do_not_nest() {
        let nested =
            |levels: usize| format!("{{\"a\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
        assert!(Object::parse(nested(DEEPEST - 1).as_bytes()).is_ok());
        assert_eq!(
            Object::parse(nested(1_000_000).as_bytes())
                .unwrap_err()
                .to_string(),
            "more than 100 levels"
        );
        let text = format!(r#"{{"a":"\"{}"}}"#, "[".repeat(DEEPEST));
        assert!(Object::parse(text.as_bytes()).is_ok());
    }

    #[test]
    fn messages_show_little_of_what_a_stranger_wrote() {
        let text = format!(r#"{{"a":"{}"}}"#, "\\u202ex".repeat(1000));
        let mut object = Object::parse(text.as_bytes()).unwrap();
        let message = object.integer("a").unwrap_err().to_string();
        assert!(
            message.chars().count() < 210 && !message.contains('\u{202e}'),
            "{message}"
        );
    }
}
