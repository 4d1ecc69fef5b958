//! A file of docker or podman: a JSON object whose members keep their order and their bytes.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::secret::Secret;

/// A JSON object that keeps the order and bytes of its members. Values are unparsed JSON, and secret because they may contain passwords.
#[derive(Clone, Debug, Default)]
pub(super) struct DockerFile(Vec<(String, Secret)>);

impl DockerFile {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        // Docker and podman may leave an empty file if they are killed.
        if bytes.trim_ascii().is_empty() {
            return Ok(Self::default());
        }
        serde_json::from_slice(bytes)
    }

    /// The members of a nested object; empty if it is absent.
    pub(super) fn object(&self, name: &str) -> Result<Self, serde_json::Error> {
        let object: Option<Option<Self>> = self.get(name).map(serde_json::from_str).transpose()?;
        Ok(object.flatten().unwrap_or_default())
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.reveal())
    }

    pub(super) fn members(&self) -> impl Iterator<Item = (&str, &str)> {
        let members = self.0.iter();
        members.map(|(key, value)| (key.as_str(), value.reveal()))
    }

    /// Sets a member to JSON text, or appends it.
    pub(super) fn set(&mut self, name: &str, value: Secret) {
        match self.0.iter_mut().find(|(key, _)| key == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    pub(super) fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        self.0.retain(|(key, _)| keep(key));
    }

    /// The object in docker's format, indented with tabs. `depth` is its nesting depth.
    pub(super) fn print(&self, depth: usize) -> Result<Secret, serde_json::Error> {
        if self.0.is_empty() {
            return Ok("{}".into());
        }
        let (inner, outer) = ("\t".repeat(depth + 1), "\t".repeat(depth));
        let mut parts = Vec::new();
        for (key, value) in &self.0 {
            let start = if parts.is_empty() { "{\n" } else { ",\n" };
            let key = serde_json::to_string(key)?;
            parts.push((format!("{start}{inner}{key}: "), value.reveal()));
        }
        parts.push((format!("\n{outer}}}"), ""));
        let size = parts.iter().map(|(text, value)| text.len() + value.len());
        let mut text = String::with_capacity(size.sum());
        for (before, value) in parts {
            text.push_str(&before);
            text.push_str(value);
        }
        Ok(text.into())
    }
}

impl<'de> Deserialize<'de> for DockerFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = DockerFile;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<DockerFile, A::Error> {
                let mut members = DockerFile::default();
                while let Some((key, value)) = map.next_entry::<String, &RawValue>()? {
                    // Like clients, use the last of several members of the same name.
                    members.set(&key, value.get().into());
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Members)
    }
}
