//! The files of docker and podman: `auths`, `credHelpers`, `credsStore`
//! ([clients: credential files](crate::clients#credential-files)).
//!
//! An entry that cannot be used spoils itself and nothing else.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::document::Document;
use super::error::Mistake;
use super::hub;
use super::means::Means;
use crate::config::{HelperName, Hidden, RepositoryPrefix};

/// What a file says.
#[derive(Debug, Default)]
pub(super) struct DockerFile {
    /// By registry, or part of one, in order: `auths`, then `credHelpers`.
    pub(super) entries: Vec<Entry>,
    /// `credsStore`: for every registry.
    pub(super) store: Option<Result<HelperName, Mistake>>,
    /// Keys that are for no registry, as clients see it too.
    pub(super) passed_over: Vec<String>,
}

/// What a file says about one registry, or a part of one.
#[derive(Debug)]
pub(super) struct Entry {
    /// As it is written.
    pub(super) key: String,
    pub(super) prefix: RepositoryPrefix,
    pub(super) means: Result<Means, Mistake>,
}

/// An entry of `auths`. What else is in it is for others.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Auth {
    auth: Option<String>,
    identitytoken: Option<String>,
    registrytoken: Option<String>,
}

impl DockerFile {
    /// Reads a file.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        Self::read(&Document::parse(bytes)?)
    }

    /// Reads what was parsed.
    pub(super) fn read(document: &Document) -> Result<Self, serde_json::Error> {
        let mut file = Self::default();
        for (key, value) in document.object("auths")?.members() {
            if let Some(means) = auth(value).transpose() {
                file.insert(key, means);
            }
        }
        for (key, value) in document.object("credHelpers")?.members() {
            file.insert_helper(key, value);
        }
        file.store = document.get("credsStore").and_then(helper);
        Ok(file)
    }

    fn insert(&mut self, key: &str, means: Result<Means, Mistake>) {
        let Some(prefix) = hub::prefix(key) else {
            self.passed_over.push(key.to_owned());
            return;
        };
        self.entries.push(Entry {
            key: key.to_owned(),
            prefix,
            means,
        });
    }

    fn insert_helper(&mut self, key: &str, value: &RawValue) {
        let prefix = hub::prefix(key).filter(|prefix| prefix.depth() == 0);
        match (prefix, helper(value)) {
            (_, None) => {}
            (None, Some(_)) => self.passed_over.push(key.to_owned()),
            (Some(prefix), Some(name)) => self.entries.push(Entry {
                key: key.to_owned(),
                prefix,
                means: name.map(Means::Helper),
            }),
        }
    }
}

/// The name of a helper; `None` where there is none.
fn helper(value: &RawValue) -> Option<Result<HelperName, Mistake>> {
    match serde_json::from_str::<Option<String>>(value.get()) {
        Ok(None) => None,
        Ok(Some(name)) if name.is_empty() => None,
        Ok(Some(name)) => Some(HelperName::parse(&name).map_err(|_| Mistake::HelperName)),
        Err(_) => Some(Err(Mistake::HelperName)),
    }
}

/// The means of an entry; `None` where it is null, empty, or of an empty name.
fn auth(value: &RawValue) -> Result<Option<Means>, Mistake> {
    let entry: Option<Auth> = serde_json::from_str(value.get()).map_err(|_| Mistake::Shape)?;
    let entry = entry.unwrap_or_default();
    let given = |text: Option<String>| text.filter(|text| !text.is_empty());
    if let Some(token) = given(entry.identitytoken) {
        return Ok(Some(Means::Identity(Hidden::new(token))));
    }
    if let Some(token) = given(entry.registrytoken) {
        return Ok(Some(Means::Access(Hidden::new(token))));
    }
    let Some(auth) = given(entry.auth) else {
        return Ok(None);
    };
    let bytes = STANDARD.decode(auth).map_err(|_| Mistake::Base64)?;
    let text = String::from_utf8(bytes).map_err(|_| Mistake::Base64)?;
    let (username, password) = text.split_once(':').ok_or(Mistake::NoColon)?;
    Ok((!username.is_empty()).then(|| Means::Password {
        username: username.to_owned(),
        password: Hidden::new(password),
    }))
}
