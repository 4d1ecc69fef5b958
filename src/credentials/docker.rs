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
use super::entry::{Entry, EntryValue};
use super::hub;
use crate::config::HelperName;
use crate::secret::Secret;

const NO_AUTH: &str = "its `auth` is not base64 of NAME:PASSWORD";
const NO_HELPER: &str = "it does not name a credential helper";

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

/// The entries of a file: `auths`, `credHelpers`, and `credsStore`, the helper for all other registries.
pub(super) fn entries(file: &DockerFile) -> Result<Vec<Entry>, serde_json::Error> {
    let mut entries = Vec::new();
    let mut add = |key: &str, prefix, value| {
        entries.push(Entry {
            key: key.to_owned(),
            prefix,
            value,
            source: 0,
        });
    };
    for (key, value) in file.object("auths")?.members() {
        // Clients ignore keys that match no registry too.
        let prefix = hub::prefix_of_any_key(key);
        if let Some((value, (prefix, is_loose))) = auth(value).transpose().zip(prefix) {
            let value = value.map(|value| match value {
                EntryValue::Inline(kind) if is_loose => EntryValue::Loose(kind),
                value => value,
            });
            add(key, Some(prefix), value);
        }
    }
    for (key, value) in file.object("credHelpers")?.members() {
        let prefix = hub::prefix_of_key(key).filter(|prefix| prefix.depth() == 0);
        if let Some((name, prefix)) = helper(value).zip(prefix) {
            add(key, Some(prefix), name);
        }
    }
    if let Some(name) = file.get("credsStore").and_then(helper) {
        add("credsStore", None, name);
    }
    Ok(entries)
}

/// The name of a helper; `None` if it is empty.
fn helper(value: &str) -> Option<Result<EntryValue, &'static str>> {
    match serde_json::from_str::<Option<String>>(value) {
        Ok(None) => None,
        Ok(Some(name)) if name.is_empty() => None,
        Ok(Some(name)) => {
            let name = HelperName::docker(&name);
            Some(name.map(EntryValue::Helper).map_err(|_| NO_HELPER))
        }
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
