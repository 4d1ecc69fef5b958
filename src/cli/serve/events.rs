//! The lines of the log for events that are not requests.

use std::error::Error;
use std::path::Path;
use std::time::SystemTime;

use tfoci::error::{Hint, printable_path};
use tfoci::outcome::{Failure, Published};
use tfoci::serve::{self, Notice};

use crate::cli::date::date;
use crate::cli::error::CommandError;
use crate::cli::json;
use crate::cli::printer::Tone;

/// A line of the log.
pub(super) struct Event {
    /// The name in JSON.
    pub(super) name: &'static str,
    pub(super) tone: Tone,
    /// The word before the text at a terminal.
    pub(super) verb: &'static str,
    pub(super) text: String,
}

impl Event {
    pub(super) fn of(notice: &Notice<'_>) -> Self {
        let (name, tone, verb) = match notice {
            Notice::Hidden { .. } => ("hidden", Tone::Warning, "Hidden"),
            Notice::Unsigned { .. } => ("unsigned", Tone::Warning, "Unsigned"),
            Notice::Emptied { .. } => ("emptied", Tone::Warning, "Warning"),
            Notice::OtherProvider { .. } => ("other-provider", Tone::Warning, "Warning"),
            Notice::OtherNames { .. } => ("certificate-names", Tone::Warning, "Warning"),
            Notice::Expires { .. } => ("certificate-expires", Tone::Warning, "Warning"),
            Notice::StoreFailed { .. } => ("store-failed", Tone::Warning, "Failed"),
            Notice::StoreAnswers => ("store-answers", Tone::Done, "Reading"),
            Notice::NotFilled { .. } => ("not-mirrored", Tone::Warning, "Failed"),
            Notice::Filled { .. } => ("mirrored", Tone::Done, "Mirrored"),
            Notice::Unmatched { .. } => ("unmatched", Tone::Warning, "Warning"),
            Notice::PackageFailed { .. } => ("package-failed", Tone::Warning, "Failed"),
            Notice::Reloaded { .. } => ("reloaded", Tone::Done, "Reloaded"),
            Notice::Unchanged => ("unchanged", Tone::Plain, "Reloaded"),
            Notice::NoTokens { .. } => ("no-tokens", Tone::Warning, "Warning"),
            Notice::NotReloaded { .. } => ("not-reloaded", Tone::Warning, "Refused"),
            Notice::ReadOnce { .. } => ("read-once", Tone::Warning, "Keeping"),
            Notice::Handshake { .. } => ("handshake-failed", Tone::Plain, "Handshake"),
            Notice::TooManyConnections { .. } => ("too-many-connections", Tone::Warning, "Closed"),
            Notice::Draining => ("draining", Tone::Plain, "Refusing"),
        };
        Self {
            name,
            tone,
            verb,
            text: text(notice),
        }
    }
}

/// The words before a text that is a sentence without them.
const LABELS: [&str; 5] = ["Failed", "Handshake", "Hidden", "Unsigned", "Warning"];

/// A line of the log as a sentence, for readers who do not see the word before the text.
pub(super) fn message(verb: &str, text: String) -> String {
    match LABELS.contains(&verb) {
        true => text,
        false => format!("{verb} {text}"),
    }
}

fn text(notice: &Notice<'_>) -> String {
    match notice {
        Notice::Hidden {
            provider,
            version,
            problem,
        } => format!("{provider} {version}: {}", on_one_line(*problem)),
        Notice::Unsigned {
            provider,
            version,
            authentication,
        } => format!("{provider} {version}: {authentication}; on the network mirror only"),
        Notice::Emptied { provider } => {
            format!("the store has no version of {provider} any more")
        }
        Notice::OtherProvider {
            provider,
            version,
            others,
            made_for,
        } => {
            let older = match others {
                0 => String::new(),
                1 => " and an older version".to_owned(),
                _ => format!(" and {others} older versions"),
            };
            format!("{provider} {version}{older}: made for {made_for}")
        }
        Notice::OtherNames { path, host } => format!(
            "{} does not name {host}, the host of --url: clients will refuse to connect",
            printable_path(path)
        ),
        Notice::Expires { path, end, is_past } => of_certificate(path, *end, *is_past),
        Notice::StoreFailed { failure } => of_failure(failure),
        Notice::NotFilled { failure } => of_failure(failure),
        Notice::StoreAnswers => "the store again, which was unreachable".to_owned(),
        Notice::Filled { published } => filled(published),
        Notice::Unmatched { provider } => format!(
            "no entry of the trust file matches {provider}: served although no key is pinned for it; add an entry, or `--require-pinned` hides such providers"
        ),
        Notice::PackageFailed { file, error } => format!("{file}: {}", on_one_line(error)),
        Notice::Reloaded { path } => printable_path(path),
        Notice::NoTokens { path } => {
            format!(
                "{} has no token: every client is refused",
                printable_path(path)
            )
        }
        Notice::Unchanged => "nothing: no file has changed".to_owned(),
        Notice::NotReloaded { path, error } => format!(
            "{}, which stays in use as it was: {}",
            printable_path(path),
            without_path(error)
        ),
        Notice::ReadOnce { path, pipe } => read_once(path, pipe),
        Notice::Handshake { client, reason } => format!("{client}: {reason}"),
        Notice::TooManyConnections { client } => format!(
            "a connection of {client}, which has half of --max-connections; further ones are not logged for a minute"
        ),
        Notice::Draining => "new connections; downloads may complete".to_owned(),
    }
}

fn filled(published: &Published) -> String {
    let (provider, version) = (&published.provider, &published.version);
    match &published.authentication {
        Some(authentication) => format!("{provider} {version}: {authentication}"),
        None => format!("{provider} {version}"),
    }
}

fn of_certificate(path: &Path, end: SystemTime, is_past: bool) -> String {
    let (path, day) = (printable_path(path), date(end));
    match is_past {
        true => format!("the certificate in {path} expired on {day}: clients refuse to connect"),
        false => format!(
            "the certificate in {path} expires on {day}: clients will then refuse to connect"
        ),
    }
}

fn read_once(path: &Path, pipe: &Path) -> String {
    let (path, pipe) = (printable_path(path), printable_path(pipe));
    let reason = "no regular file, and is read only at the start";
    match path == pipe {
        true => format!("{path} until a restart: it is {reason}"),
        false => format!("{path} until a restart: {pipe}, which is used with it, is {reason}"),
    }
}

fn of_failure(failure: &Failure) -> String {
    with_hint(failure, &failure.clone().into())
}

/// An error with the hint for it, as one line.
pub(super) fn with_hint(error: &dyn Error, hinted: &CommandError) -> String {
    let mut text = on_one_line(error);
    if let Some(hint) = hinted.hint() {
        text.push_str(&format!("; hint: {}", joined(&hint)));
    }
    text
}

/// The reason why a file is refused, without the path that the line begins with.
fn without_path(error: &serve::Error) -> String {
    match error {
        // It may name another file: the key of the certificate.
        serve::Error::Disk(_) => on_one_line(error),
        _ => on_one_line(error.source().unwrap_or(error)),
    }
}

/// An error and its causes as one line, without the excerpt of a TOML file: marks are under their place in lines of their own only.
fn on_one_line(error: &dyn Error) -> String {
    // The margin, the line of the file, and the mark below it.
    const EXCERPT: usize = 3;
    let text = json::sentence(error);
    let mut lines: Vec<&str> = text.lines().collect();
    if let Some(begin) = lines.iter().position(|line| line.trim() == "|") {
        lines.drain(begin..lines.len().min(begin + EXCERPT));
    }
    joined(&lines.join("\n"))
}

fn joined(text: &str) -> String {
    text.lines().map(str::trim).collect::<Vec<_>>().join(", ")
}
