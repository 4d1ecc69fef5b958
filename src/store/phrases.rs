//! Phrases in the messages of errors.

use crate::error::printable;

pub(super) fn said(answer: &str) -> String {
    if answer.is_empty() {
        String::new()
    } else {
        format!(" ({answer})")
    }
}

pub(super) fn unauthorized(tried: Option<&str>) -> &'static str {
    match tried {
        Some(_) => "the registry refused the credentials",
        None => "the registry requires credentials",
    }
}

pub(super) fn user(username: Option<&str>) -> String {
    username.map_or_else(
        || "the token".to_owned(),
        |name| format!("`{}`", printable(name)),
    )
}

pub(super) fn because(answer: &str) -> String {
    if answer.is_empty() {
        String::new()
    } else {
        format!(": {answer}")
    }
}

pub(super) fn by(token_server: Option<&str>) -> String {
    token_server.map_or_else(String::new, |host| format!("\n  token server {host}"))
}

pub(super) fn received_bytes(count: &Option<u64>) -> String {
    count.map_or_else(|| "no number".to_owned(), |count| format!("{count} bytes"))
}

/// The content of a file `oci-layout` that clients refuse.
pub(super) fn marker(content: Option<&[u8]>) -> String {
    // The start is enough to tell what it is.
    const MOST: usize = 80;
    match content {
        None => "no such file".to_owned(),
        Some([]) => "an empty file".to_owned(),
        Some(content) => {
            let start = String::from_utf8_lossy(content.get(..MOST).unwrap_or(content));
            printable(start.lines().next().unwrap_or_default())
        }
    }
}
