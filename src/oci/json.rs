//! JSON objects as clients read them, with every byte of what they do not understand kept.
//!
//! Clients are written in Go, whose decoder matches keys in any letter case, lets the last of duplicate keys win, and
//! ignores unknown ones (contract 1.6). Whoever merges into a document made by somebody else must read it the same way, and
//! must give back unknown members unchanged: large numbers too, which a round trip through `f64` would spoil.

use std::fmt;

use serde::de::{DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A JSON object: its members in their order, their values as they are written.
#[derive(Clone, Debug, Default)]
pub(super) struct Object {
    members: Vec<(String, Box<RawValue>)>,
    lenient: bool,
}

impl Object {
    /// Reads a document that is exactly one object; white space may surround it, nothing else.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(bytes)
    }

    /// Takes a member out. Absent and `null` are the same, as they are to clients.
    pub(super) fn take<T: DeserializeOwned>(
        &mut self,
        name: &str,
    ) -> Result<Option<T>, serde_json::Error> {
        let mut found = None;
        for (key, value) in std::mem::take(&mut self.members) {
            if key.eq_ignore_ascii_case(name) {
                self.lenient |= key != name || found.is_some();
                found = Some(value);
            } else {
                self.members.push((key, value));
            }
        }
        found.map_or(Ok(None), |value| serde_json::from_str(value.get()))
    }

    /// Whether anything that was taken so far had a duplicate or wrong-case key.
    pub(super) fn is_lenient(&self) -> bool {
        self.lenient
    }

    /// The members that were not taken.
    pub(super) fn into_rest(self) -> Vec<(String, Box<RawValue>)> {
        self.members
    }
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
        let mut object = Object::parse(br#"{"Size":1,"size":2}"#).unwrap();
        assert_eq!(object.take::<u64>("size").unwrap(), Some(2));
        assert!(object.is_lenient());
        let mut exact = Object::parse(br#"{"size":2,"other":null}"#).unwrap();
        assert_eq!(exact.take::<u64>("size").unwrap(), Some(2));
        assert_eq!(exact.take::<u64>("other").unwrap(), None);
        assert!(!exact.is_lenient());
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
}
