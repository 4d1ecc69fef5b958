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
