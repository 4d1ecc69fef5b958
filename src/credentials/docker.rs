//! The credential files of docker and podman: `auths`, `credHelpers`, `credsStore` ([clients: credential
//! files](crate::clients#credential-files)).
//!
//! An invalid entry does not affect the others. The files belong to other programs, and may contain members that tfoci does not know. A
//! [`DockerFile`] therefore keeps the order and bytes of all members.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use zeroize::Zeroizing;

use super::CredentialKind;
use super::docker_file::DockerFile;
use super::entry::EntryValue;
use super::hub;
use crate::config::{HelperName, RepositoryPrefix};
use crate::secret::Secret;

const NO_AUTH: &str = "its `auth` is not base64 of NAME:PASSWORD";
const NO_HELPER: &str = "it does not name a credential helper";

/// The entries of a file.
#[derive(Debug, Default)]
pub(super) struct DockerConfig {
    /// The entries of `auths`, followed by those of `credHelpers`.
    pub(super) entries: Vec<DockerEntry>,
    /// `credsStore`, the helper for all other registries.
    pub(super) store: Option<Result<HelperName, &'static str>>,
}

/// An entry of `auths` or `credHelpers`.
#[derive(Debug)]
pub(super) struct DockerEntry {
    /// The key, as in the file.
    pub(super) key: String,
    pub(super) prefix: RepositoryPrefix,
    pub(super) value: Result<EntryValue, &'static str>,
}

/// The value of an entry of `auths`. Other members are ignored.
#[derive(Default, Deserialize)]
#[serde(default)]
struct AuthValue {
    auth: Option<Secret>,
    username: Option<Secret>,
    password: Option<Secret>,
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

    fn add_auth(&mut self, key: &str, value: Result<EntryValue, &'static str>) {
        // Clients ignore keys that match no registry too.
        let Some((prefix, is_loose)) = hub::prefix_of_any_key(key) else {
            return;
        };
        self.entries.push(DockerEntry {
            key: key.to_owned(),
            prefix,
            value: value.map(|value| match value {
                EntryValue::Inline(kind) if is_loose => EntryValue::Loose(kind),
                value => value,
            }),
        });
    }

    fn add_helper(&mut self, key: &str, value: &str) {
        let Some(name) = helper(value) else {
            return;
        };
        let prefix = hub::prefix_of_key(key).filter(|prefix| prefix.depth() == 0);
        self.entries.extend(prefix.map(|prefix| DockerEntry {
            key: key.to_owned(),
            prefix,
            value: name.map(EntryValue::Helper),
        }));
    }
}

/// The name of a helper; `None` if it is empty.
fn helper(value: &str) -> Option<Result<HelperName, &'static str>> {
    match serde_json::from_str::<Option<String>>(value) {
        Ok(None) => None,
        Ok(Some(name)) if name.is_empty() => None,
        Ok(Some(name)) => Some(HelperName::docker(&name).map_err(|_| NO_HELPER)),
        Err(_) => Some(Err(NO_HELPER)),
    }
}

/// The credential in a value of `auths`; `None` if it is null or empty, or its username is empty. Of those with a username, clients read `auth` alone,
/// in which they skip line ends.
fn auth(value: &str) -> Result<Option<EntryValue>, &'static str> {
    let value: Option<AuthValue> =
        serde_json::from_str(value).map_err(|_| "it is not an object whose members are text")?;
    let value = value.unwrap_or_default();
    let given = |secret: Option<Secret>| secret.filter(|secret| !secret.is_empty());
    let password = |username: &str, password| CredentialKind::Password {
        username: username.to_owned(),
        password,
    };
    let inline = |kind| Ok(Some(EntryValue::Inline(kind)));
    if let Some(token) = given(value.identitytoken) {
        return inline(CredentialKind::IdentityToken(token));
    }
    if let Some(token) = given(value.registrytoken) {
        return inline(CredentialKind::AccessToken(token));
    }
    let Some(auth) = given(value.auth) else {
        let pair = given(value.username).zip(given(value.password));
        return Ok(pair.map(|(name, word)| EntryValue::Loose(password(name.reveal(), word))));
    };
    let mut base64 = Zeroizing::new(auth.reveal().as_bytes().to_vec());
    base64.retain(|byte| !byte.is_ascii_whitespace());
    let bytes = STANDARD.decode(&*base64);
    let bytes = Zeroizing::new(bytes.map_err(|_| NO_AUTH)?);
    let text = str::from_utf8(&bytes).map_err(|_| NO_AUTH)?;
    let (username, word) = text.split_once(':').ok_or(NO_AUTH)?;
    let entry = match auth.reveal().contains([' ', '\t']) {
        true => EntryValue::Loose,
        false => EntryValue::Inline,
    };
    Ok((!username.is_empty()).then(|| entry(password(username, word.into()))))
}
