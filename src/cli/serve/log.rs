//! The log of the server: a line for each request and event, as text on stderr or as JSON on stdout.

use std::collections::HashSet;
use std::error::Error;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::OnceLock;

use indicatif::HumanBytes;
use serde::Serialize;

use tfoci::address::{Hostname, ProviderAddr};
use tfoci::error::{Hint as _, counted};
use tfoci::serve::{Notice, Observer, RequestRecord};
use tfoci::trust::Policy;

use crate::cli::arguments::Format;
use crate::cli::error::CommandError;
use crate::cli::json;
use crate::cli::printer::{Printer, Tone};
use crate::cli::session::{Everything, unmatched_line};

/// Prints the reports of the server.
pub(super) struct Log {
    pub(super) printer: Printer,
    /// The trust file with its policy, and what happens to the providers that no entry matches; `None` without a trust file.
    pub(super) unmatched: Option<(PathBuf, Policy, &'static str)>,
    /// The providers of the store at the start, which are reported together.
    pub(super) listed: OnceLock<HashSet<ProviderAddr>>,
}

impl Log {
    /// Prints that the server is ready.
    pub(super) fn listening(&self, url: &str, address: SocketAddr) {
        let printer = &self.printer;
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
        printer.log_line("listening", &Listening { url, address });
    }

    /// Prints how many providers the store has, and which of them no entry of the trust file matches; and that the provider registry serves
    /// nothing, if the store has no provider of its host. With `--fill`, the store may be empty, and gets providers of any host.
    pub(super) fn contents(
        &self,
        listed: Result<Everything, CommandError>,
        fills: bool,
        registry: Option<&Hostname>,
    ) {
        let providers = match listed {
            Ok(everything) => {
                if let Some(text) = everything.incomplete() {
                    self.event("incomplete-layout", Tone::Warning, "Warning", text);
                }
                everything.listed.providers
            }
            Err(error) if fills && error.is_about_empty_store => Vec::new(),
            Err(error) => {
                let text = hinted(&error, error.hint());
                self.event("no-providers", Tone::Warning, "Warning", text);
                return;
            }
        };
        let text = counted(providers.len(), "provider");
        self.event("serving", Tone::Done, "Serving", text);
        let unmatched = self.unmatched.as_ref();
        let line = unmatched.and_then(|(file, policy, consequence)| {
            unmatched_line(file, policy, &providers, consequence)
        });
        if let Some(text) = line {
            self.event("unmatched", Tone::Warning, "Warning", text);
        }
        let has_none = |host: &&Hostname| {
            // A port is a part of a host.
            !fills && !providers.is_empty() && providers.iter().all(|one| one.hostname() != *host)
        };
        if let Some(registry) = registry.filter(has_none) {
            let text = format!(
                "the store has no provider of {registry}, so the provider registry serves none, and the network mirror all; `--registry-host HOST` names the host of the providers to serve"
            );
            self.event("no-registry", Tone::Plain, "Note", text);
        }
        let _first = self.listed.set(providers.into_iter().collect());
    }

    fn event(&self, event: &'static str, tone: Tone, verb: &str, text: String) {
        let printer = &self.printer;
        if printer.format == Format::Json {
            // Readers of JSON do not see the word before a text, which some texts need.
            let text = match LABELS.contains(&verb) {
                true => text,
                false => format!("{verb} {text}"),
            };
            printer.log_message(event, &text);
        } else {
            printer.line(tone, verb, &text);
        }
    }
}

impl Observer for Log {
    fn request(&self, record: &RequestRecord) {
        let printer = &self.printer;
        let is_probe = ["healthz", "readyz", "metrics"].contains(&record.route);
        if is_probe && record.status == 200 && !printer.is_verbose() {
            return;
        }
        if printer.format == Format::Json {
            return printer.log_line("request", record);
        }
        let mut text = format!(
            "{} {}: {} in {:.3}s to {}",
            record.method,
            record.path,
            HumanBytes(record.bytes),
            record.seconds,
            record.client,
        );
        if let Some(address) = record.forwarded_for {
            text.push_str(&format!(" (for {address})"));
        }
        if let Some(token) = &record.token {
            text.push_str(&format!(" ({token})"));
        }
        if let Some(reason) = &record.reason {
            text.push_str(&format!(": {reason}"));
        }
        for (applies, remark) in [
            (record.is_stale, ", older than --max-age"),
            (!record.is_complete, ", closed before its end"),
            (
                record.status == 429,
                "; the next such lines of this client are left out for a minute",
            ),
        ] {
            if applies {
                text.push_str(remark);
            }
        }
        let tone = match record.status {
            ..400 if record.is_complete && !record.is_stale => Tone::Plain,
            _ => Tone::Warning,
        };
        printer.line(tone, &record.status.to_string(), &text);
    }

    fn notice(&self, notice: Notice<'_>) {
        let printer = &self.printer;
        let is_known = notice.unmatched.is_some_and(|provider| {
            let listed = self.listed.get();
            self.unmatched.is_none() || listed.is_some_and(|listed| listed.contains(provider))
        });
        if is_known {
            return;
        }
        let (name, verb, mut text) = (notice.name, notice.verb, notice.text);
        if let Some(error) = notice.error {
            let colon = if text.is_empty() { "" } else { ": " };
            text.push_str(&format!("{colon}{}", hinted(error, notice.hint)));
        }
        let tone = match notice.is_warning {
            true => Tone::Warning,
            false => Tone::Done,
        };
        match name {
            // Health checks and scanners open connections without a handshake, so a terminal shows them only with `-v`.
            "handshake-failed" if printer.format != Format::Json => printer.detail(verb, &text),
            _ => self.event(name, tone, verb, text),
        }
    }
}

/// The words before a text that is a sentence without them.
const LABELS: [&str; 5] = ["Failed", "Handshake", "Hidden", "Unsigned", "Warning"];

/// An error with the hint for it, as one line.
fn hinted(error: &dyn Error, hint: Option<String>) -> String {
    let hint = hint.map(|hint| format!("; hint: {}", joined(&hint)));
    on_one_line(error) + &hint.unwrap_or_default()
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
