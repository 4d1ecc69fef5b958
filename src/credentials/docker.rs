//! The credential files of docker and podman: `auths`, `credHelpers`, `credsStore` ([clients: credential
//! files](crate::clients#credential-files)).
//!
//! An invalid entry does not affect the others. The files belong to other programs, and may contain members that tfoci does not know. A
//! [`DockerFile`] therefore keeps the order and bytes of all members.
//!
//! Docker Hub has four names: `https://index.docker.io/v1/` in these files, `docker.io` in references, and other hosts for its API. Clients
//! treat them as different registries and send no credentials ([clients: repository addresses](crate::clients#repository-addresses)). tfoci
//! treats them as one.

use std::collections::HashSet;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use zeroize::Zeroizing;

use super::registry::EntryValue;
use super::{CredentialKind, EntryError};
use crate::config::{HelperName, RepositoryPrefix};
use crate::secret::Secret;

/// The key of Docker Hub in `auths`, and its server URL for helpers.
const HUB_KEY: &str = "https://index.docker.io/v1/";

/// The name of Docker Hub in references.
const HUB_DOMAIN: &str = "docker.io";

/// The canonical name of a registry: all names of Docker Hub become `docker.io`.
pub(super) fn canonical(domain: &str) -> &str {
    match domain {
        "index.docker.io" | "registry-1.docker.io" => HUB_DOMAIN,
        other => other,
    }
}

/// Replaces the registry of a prefix by its canonical name.
pub(super) fn one_name(prefix: RepositoryPrefix) -> RepositoryPrefix {
    let domain = canonical(prefix.domain()).to_owned();
    prefix.at(&domain)
}

/// The registry and path of a key in `auths` or `credHelpers`.
pub(super) fn prefix_of_key(key: &str) -> Option<RepositoryPrefix> {
    let key = if key == HUB_KEY { HUB_DOMAIN } else { key };
    let prefix = RepositoryPrefix::parse(key).ok()?;
    Some(one_name(prefix))
}

/// The key under which docker stores the credentials for a registry.
pub(super) fn key_of(domain: &str) -> &str {
    if canonical(domain) == HUB_DOMAIN {
        HUB_KEY
    } else {
        domain
    }
}

/// The entries of a file.
#[derive(Debug, Default)]
pub(super) struct DockerConfig {
    /// The entries of `auths`, followed by those of `credHelpers`.
    pub(super) entries: Vec<DockerEntry>,
    /// `credsStore`, the helper for all other registries.
    pub(super) store: Option<Result<HelperName, EntryError>>,
    /// Keys that match no registry. Clients ignore them too.
    pub(super) passed_over: Vec<String>,
}

/// An entry of `auths` or `credHelpers`.
#[derive(Debug)]
pub(super) struct DockerEntry {
    /// The key, as in the file.
    pub(super) key: String,
    pub(super) prefix: RepositoryPrefix,
    pub(super) value: Result<EntryValue, EntryError>,
}

/// The value of an entry of `auths`. Other members are ignored.
#[derive(Default, Deserialize)]
#[serde(default)]
struct AuthValue {
    auth: Option<Secret>,
    identitytoken: Option<Secret>,
    registrytoken: Option<Secret>,
}

impl DockerConfig {
    /// Parses the content of a file.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        Self::read(&DockerFile::parse(bytes)?)
    }

    /// Reads the entries of a parsed file.
    pub(super) fn read(file: &DockerFile) -> Result<Self, serde_json::Error> {
        let mut config = Self::default();
        for (key, value) in file.object("auths")?.members() {
            if let Some(value) = auth(value).transpose() {
                config.add_auth(key, value);
            }
        }
        for (key, value) in file.object("credHelpers")?.members() {
            config.add_helper(key, value);
        }
        config.store = file.get("credsStore").and_then(helper);
        Ok(config)
    }

    fn add_auth(&mut self, key: &str, kind: Result<CredentialKind, EntryError>) {
        let key = key.to_owned();
        match prefix_of_key(&key) {
            None => self.passed_over.push(key),
            Some(prefix) => self.entries.push(DockerEntry {
                key,
                prefix,
                value: kind.map(EntryValue::Inline),
            }),
        }
    }

    fn add_helper(&mut self, key: &str, value: &str) {
        let Some(name) = helper(value) else {
            return;
        };
        let key = key.to_owned();
        match prefix_of_key(&key).filter(|prefix| prefix.depth() == 0) {
            None => self.passed_over.push(key),
            Some(prefix) => self.entries.push(DockerEntry {
                key,
                prefix,
                value: name.map(EntryValue::Helper),
            }),
        }
    }
}

/// The name of a helper; `None` if it is empty.
fn helper(value: &str) -> Option<Result<HelperName, EntryError>> {
    match serde_json::from_str::<Option<String>>(value) {
        Ok(None) => None,
        Ok(Some(name)) if name.is_empty() => None,
        Ok(Some(name)) => Some(HelperName::parse(&name).map_err(|_| EntryError::HelperName)),
        Err(_) => Some(Err(EntryError::HelperName)),
    }
}

/// The credential in a value of `auths`; `None` if it is null or empty, or its username is empty.
fn auth(value: &str) -> Result<Option<CredentialKind>, EntryError> {
    let value: Option<AuthValue> = serde_json::from_str(value).map_err(|_| EntryError::Shape)?;
    let value = value.unwrap_or_default();
    let given = |secret: Option<Secret>| secret.filter(|secret| !secret.is_empty());
    if let Some(token) = given(value.identitytoken) {
        return Ok(Some(CredentialKind::IdentityToken(token)));
    }
    if let Some(token) = given(value.registrytoken) {
        return Ok(Some(CredentialKind::AccessToken(token)));
    }
    let Some(auth) = given(value.auth) else {
        return Ok(None);
    };
    let bytes = STANDARD.decode(auth.reveal());
    let bytes = Zeroizing::new(bytes.map_err(|_| EntryError::Base64)?);
    let text = str::from_utf8(&bytes).map_err(|_| EntryError::Base64)?;
    let (username, password) = text.split_once(':').ok_or(EntryError::NoColon)?;
    Ok((!username.is_empty()).then(|| CredentialKind::Password {
        username: username.to_owned(),
        password: password.into(),
    }))
}

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
                let mut members: Vec<(String, Secret)> = Vec::new();
                while let Some((key, value)) = map.next_entry::<String, &RawValue>()? {
                    members.push((key, value.get().into()));
                }
                // Like clients, use the last of several members of the same name.
                let mut seen = HashSet::new();
                let last: Vec<bool> = members
                    .iter()
                    .rev()
                    .map(|(key, _)| seen.insert(key.clone()))
                    .collect();
                let mut last = last.into_iter().rev();
                members.retain(|_| last.next().unwrap_or(true));
                Ok(DockerFile(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}
