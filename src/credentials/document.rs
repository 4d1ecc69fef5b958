//! A JSON object whose members keep their order and their bytes: the file belongs to others, who put more into it than
//! we know.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of an object.
#[derive(Clone, Debug, Default)]
pub(super) struct Document(Vec<(String, Box<RawValue>)>);

impl Document {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        // Docker and podman leave an empty file behind when they are stopped at the wrong moment.
        if bytes.trim_ascii().is_empty() {
            return Ok(Self::default());
        }
        serde_json::from_slice(bytes)
    }

    /// The members of another object within, none if there is no such object.
    pub(super) fn object(&self, name: &str) -> Result<Self, serde_json::Error> {
        let found = self
            .get(name)
            .map(|value| serde_json::from_str(value.get()));
        let object: Option<Option<Self>> = found.transpose()?;
        Ok(object.flatten().unwrap_or_default())
    }

    pub(super) fn get(&self, name: &str) -> Option<&RawValue> {
        let found = self.0.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| &**value)
    }

    pub(super) fn members(&self) -> impl Iterator<Item = (&str, &RawValue)> {
        self.0.iter().map(|(key, value)| (key.as_str(), &**value))
    }

    /// Puts a value in the place of the one of that name, or behind all.
    pub(super) fn set(&mut self, name: &str, value: Box<RawValue>) {
        match self.0.iter_mut().find(|(key, _)| key == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    pub(super) fn retain(&mut self, keep: impl Fn(&str, &RawValue) -> bool) {
        self.0.retain(|(key, value)| keep(key, value));
    }

    /// The object as docker writes it, with tabs, at a depth within another one.
    pub(super) fn print(&self, depth: usize) -> Result<String, serde_json::Error> {
        if self.0.is_empty() {
            return Ok("{}".to_owned());
        }
        let (inner, outer) = ("\t".repeat(depth + 1), "\t".repeat(depth));
        let mut lines = Vec::new();
        for (key, value) in &self.0 {
            let key = serde_json::to_string(key)?;
            lines.push(format!("{inner}{key}: {}", value.get()));
        }
        Ok(format!("{{\n{}\n{outer}}}", lines.join(",\n")))
    }
}

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Document;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Document, A::Error> {
                let mut members: Vec<(String, Box<RawValue>)> = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                // The last of a name counts, as for clients.
                let mut seen = HashSet::new();
                let last: Vec<bool> = members
                    .iter()
                    .rev()
                    .map(|(key, _)| seen.insert(key.clone()))
                    .collect();
                let mut last = last.into_iter().rev();
                members.retain(|_| last.next().unwrap_or(true));
                Ok(Document(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}
