//! Phrases in the messages of errors.

use std::path::Path;

use crate::credentials::FoundIn;
use crate::error::{Category, printable, printable_path};
use crate::json;
use crate::oci;

pub(super) fn unauthorized(tried: Option<&FoundIn>) -> &'static str {
    match tried {
        Some(_) => "the registry refused the credentials",
        None => "the registry requires credentials",
    }
}

pub(super) fn sent(found_in: Option<&FoundIn>) -> String {
    match found_in {
        Some(found_in) => found_in.to_string(),
        None => "no credentials, since there are none that can be used".to_owned(),
    }
}

pub(super) fn user(username: Option<&str>) -> String {
    username.map_or_else(
        || "the token".to_owned(),
        |name| format!("`{}`", printable(name)),
    )
}

pub(super) fn by(token_server: Option<&str>) -> String {
    token_server.map_or_else(String::new, |host| format!("\n  token server {host}"))
}

/// Where a document has a duplicate member, if that is what is wrong with it.
pub(super) fn repeated(error: &json::Error, document: &str) -> String {
    match error.category() {
        Category::Untrusted => format!("\n{}", error.facts(document)),
        _ => String::new(),
    }
}

pub(super) fn received_bytes(count: &Option<u64>) -> String {
    count.map_or_else(|| "no number".to_owned(), |count| format!("{count} bytes"))
}

/// What a file `oci-layout` is that clients refuse. Another content than a version is not shown: the file may be any file, even one with a
/// password.
pub(super) fn marker(content: Option<&[u8]>) -> String {
    let Some(content) = content else {
        return "no such file".to_owned();
    };
    match oci::tags::layout_version(content) {
        Some(version) => format!("the version `{}`", printable(&version)),
        None if content.is_empty() => "an empty file".to_owned(),
        None => format!("a file of {} bytes without a version", content.len()),
    }
}

/// Names a bundle and its member, as far as they can be named.
pub(super) fn of_member(path: Option<&Path>, member: &str) -> String {
    let path = path.map(|path| format!(" {}", printable_path(path)));
    let member = (!member.is_empty()).then(|| format!("\n  member {}", printable(member)));
    format!("{}{}", path.unwrap_or_default(), member.unwrap_or_default())
}
