//! The log of the server: a line for each event, as text on stderr or as JSON on stdout.

use std::net::SocketAddr;
use std::time::{SystemTime, UNIX_EPOCH};

use indicatif::HumanBytes;
use serde::Serialize;

use tfoci::address::ProviderAddr;
use tfoci::error::printable_path;
use tfoci::outcome::Failure;
use tfoci::serve::{Denied, Notice, Observer, RequestRecord};

use crate::cli::args::Format;
use crate::cli::error::CommandError;
use crate::cli::hints;
use crate::cli::json;
use crate::cli::printer::{Printer, Tone};

/// Prints what the server reports.
pub(super) struct Log(pub(super) Printer);

/// A line of JSON.
#[derive(Serialize)]
struct Line<'a, E> {
    /// Seconds since 1970, with milliseconds.
    time: f64,
    event: &'static str,
    #[serde(flatten)]
    details: &'a E,
}

#[derive(Serialize)]
struct RequestLine<'a> {
    id: &'a str,
    client: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    denied: Option<&'static str>,
    method: &'a str,
    path: &'a str,
    route: &'a str,
    status: u16,
    bytes: u64,
    seconds: f64,
    stale: bool,
    complete: bool,
    agent: &'a str,
}

#[derive(Serialize)]
struct About {
    message: String,
}

impl Log {
    /// Prints that the server is ready.
    pub(super) fn listening(&self, url: &str, address: SocketAddr) {
        let Self(printer) = self;
        let bound = match url.ends_with(&format!("//{address}")) {
            true => String::new(),
            false => format!(" (bound to {address})"),
        };
        printer.result(&format!("Listening on {url}{bound}"));
        #[derive(Serialize)]
        struct Listening<'a> {
            url: &'a str,
            address: SocketAddr,
        }
        self.line("listening", &Listening { url, address });
    }

    /// Prints how many providers the store has. A store that `--fill` fills may have none yet.
    pub(super) fn contents(&self, listed: Result<Vec<ProviderAddr>, CommandError>, fills: bool) {
        let providers = match listed {
            Ok(providers) => providers.len(),
            Err(CommandError::EmptyStore { .. }) if fills => 0,
            Err(error) => {
                let mut text = on_one_line(&error);
                if let Some(hint) = hints::of(&error) {
                    text.push_str(&format!("; hint: {}", joined(&hint)));
                }
                return self.event("no-providers", Tone::Warning, "Warning", text);
            }
        };
        let s = if providers == 1 { "" } else { "s" };
        let text = format!("{providers} provider{s}");
        self.event("serving", Tone::Done, "Serving", text);
    }

    fn line(&self, event: &'static str, details: &impl Serialize) {
        let time = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let time = (time.as_secs_f64() * 1e3).round() / 1e3;
        self.0.document_line(&Line {
            time,
            event,
            details,
        });
    }

    fn failure(&self, event: &'static str, failure: &Failure) {
        let mut text = on_one_line(failure);
        if let Some(hint) = hints::of(&CommandError::Journey(failure.clone())) {
            text.push_str(&format!("; hint: {}", joined(&hint)));
        }
        self.event(event, Tone::Warning, "Failed", text);
    }

    fn event(&self, event: &'static str, tone: Tone, verb: &str, message: String) {
        let Self(printer) = self;
        if printer.format == Format::Json {
            self.line(event, &About { message });
        } else {
            printer.line(tone, verb, &message);
        }
    }
}

impl Observer for Log {
    fn request(&self, record: &RequestRecord<'_>) {
        let Self(printer) = self;
        let seconds = record.duration.as_secs_f64();
        if printer.format == Format::Json {
            return self.line(
                "request",
                &RequestLine {
                    id: record.id,
                    client: record.client.to_string(),
                    token: record.token,
                    denied: record.denied.map(code),
                    method: record.method,
                    path: record.path,
                    route: record.route,
                    status: record.status,
                    bytes: record.bytes,
                    seconds,
                    stale: record.is_stale,
                    complete: record.is_complete,
                    agent: record.agent,
                },
            );
        }
        let mut text = format!(
            "{} {}: {} in {seconds:.3}s to {}",
            record.method,
            record.path,
            HumanBytes(record.bytes),
            record.client,
        );
        if let Some(token) = record.token {
            text.push_str(&format!(" ({token})"));
        }
        if let Some(denied) = record.denied {
            text.push_str(&format!(", {}", why(denied)));
        }
        for (is, mark) in [
            (record.is_stale, ", older than --max-age"),
            (!record.is_complete, ", cut before its end"),
            (
                record.status == 429,
                "; the next such lines of this client are left out for a minute",
            ),
        ] {
            if is {
                text.push_str(mark);
            }
        }
        let tone = match record.status {
            ..400 if record.is_complete && !record.is_stale => Tone::Plain,
            _ => Tone::Warning,
        };
        printer.line(tone, &record.status.to_string(), &text);
    }

    fn notice(&self, notice: &Notice<'_>) {
        match notice {
            Notice::Hidden {
                provider,
                version,
                problem,
            } => {
                let text = format!("{provider} {version}: {}", on_one_line(*problem));
                self.event("hidden", Tone::Warning, "Hidden", text);
            }
            Notice::Unsigned {
                provider,
                version,
                authentication,
            } => {
                let text =
                    format!("{provider} {version}: {authentication}; on the network mirror only");
                self.event("unsigned", Tone::Warning, "Unsigned", text);
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
                let text = format!("{provider} {version}{older}: made for {made_for}");
                self.event("other-provider", Tone::Warning, "Warning", text);
            }
            Notice::OtherNames { path, host } => {
                let text = format!(
                    "{} does not name {host}, the host of --url: clients will refuse to connect",
                    printable_path(path)
                );
                self.event("certificate-names", Tone::Warning, "Warning", text);
            }
            Notice::StoreFailed { failure } => {
                self.failure("store-failed", failure);
            }
            Notice::NotFilled { failure } => {
                self.failure("not-mirrored", failure);
            }
            Notice::PackageFailed { file, reason } => {
                let text = format!("{file}: {}", joined(reason));
                self.event("package-failed", Tone::Warning, "Failed", text);
            }
            Notice::Reloaded { path } => {
                let text = printable_path(path);
                self.event("reloaded", Tone::Done, "Reloaded", text);
            }
            Notice::NotReloaded { path, reason } => {
                let text = format!(
                    "{}, which stays in use as it was: {}",
                    printable_path(path),
                    joined(reason)
                );
                self.event("not-reloaded", Tone::Warning, "Refused", text);
            }
            Notice::Handshake { client, reason } => {
                let Self(printer) = self;
                // Health checks and scanners open connections without a handshake.
                if printer.format == Format::Json {
                    let message = format!("{client}: {reason}");
                    self.line("handshake-failed", &About { message });
                } else {
                    printer.detail("Handshake", &format!("{client}: {reason}"));
                }
            }
            Notice::TooManyConnections { client } => {
                let text = format!(
                    "a connection of {client}, which has half of --max-connections; further ones are not logged for a minute"
                );
                self.event("too-many-connections", Tone::Warning, "Closed", text);
            }
            Notice::Draining => {
                let text = "new connections; downloads may end".to_owned();
                self.event("draining", Tone::Plain, "Refusing", text);
            }
        }
    }
}

/// Why a request may not ask, in the text of the log.
fn why(denied: Denied) -> &'static str {
    match denied {
        Denied::NoToken => "no token",
        Denied::UnknownToken => "an unknown token",
        Denied::OtherProvider => "the token is for other providers",
        Denied::Link => "the link has expired, or is of another key",
    }
}

/// The same in JSON.
fn code(denied: Denied) -> &'static str {
    match denied {
        Denied::NoToken => "no-token",
        Denied::UnknownToken => "unknown-token",
        Denied::OtherProvider => "other-provider",
        Denied::Link => "invalid-link",
    }
}

/// An error and its causes as one line.
fn on_one_line(error: &dyn std::error::Error) -> String {
    joined(&json::sentence(error))
}

fn joined(text: &str) -> String {
    text.lines().map(str::trim).collect::<Vec<_>>().join(", ")
}
