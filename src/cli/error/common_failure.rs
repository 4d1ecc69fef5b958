//! Failures of a host or a disk, which are not about one provider.

use std::mem::{Discriminant, discriminant};

use url::Url;

use tfoci::error::{Category, one_line};
use tfoci::outcome::Side;

use super::CommandError;

/// What is wrong with a host or a disk. Other providers fail in the same way.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::cli) struct CommonFailure {
    side: Discriminant<Side>,
    /// The error and its causes, without the names of files.
    text: String,
    /// The host; `None` for a disk.
    pub(in crate::cli) host: Option<String>,
}

impl CommonFailure {
    /// What an error says about a host or a disk; `None` for other errors.
    pub(in crate::cli) fn of(error: &CommandError) -> Option<Self> {
        let failure = error.failure()?;
        if !matches!(
            failure.category(),
            Category::Unreachable | Category::Unauthorized | Category::Local
        ) {
            return None;
        }
        let mut host = None;
        let text = one_line(&*failure.problem);
        let words = text.split_whitespace().map(|word| match Url::parse(word) {
            Ok(url) if url.has_host() => {
                host = Some(url.authority().to_owned());
                url.authority().to_owned()
            }
            _ if word.contains('/') => String::new(),
            _ => word.to_owned(),
        });
        Some(Self {
            side: discriminant(&failure.at),
            text: words.collect::<Vec<_>>().join(" "),
            host,
        })
    }
}
