//! The log of the server: a line for each request and event, as text on stderr or as JSON on stdout.

use std::error::Error;
use std::net::SocketAddr;
use std::path::PathBuf;

use indicatif::HumanBytes;
use serde_json::json;

use tfoci::error::{Category, Hint as _, counted};
use tfoci::serve::{Observer, RequestRecord};
use tfoci::trust::Policy;

use crate::cli::arguments::Format;
use crate::cli::error::CommandError;
use crate::cli::json;
use crate::cli::printer::{Printer, Tone};
use crate::cli::session::{Everything, unmatched_line};

/// Prints the reports of the server.
pub(super) struct Log {
    pub(super) printer: Printer,
    /// The trust file with its policy.
    pub(super) trust_file: Option<(PathBuf, Policy)>,
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
        printer.log_line("listening", &json!({"url": url, "address": address}));
    }

    /// Prints how many providers the store has, and which of them no entry of the trust file matches. With `--fill`, the store may be empty.
    pub(super) fn contents(&self, listed: Result<Everything, CommandError>, fills: bool) {
        let providers = match listed {
            Ok(everything) => {
                if let Some(text) = everything.incomplete() {
                    self.event("incomplete-layout", Tone::Warning, "Warning", text);
                }
                everything.listed.providers
            }
            Err(error) if fills && error.category() == Category::NotFound => Vec::new(),
            Err(error) => {
                let text = hinted(&error, error.hint());
                self.event("no-providers", Tone::Warning, "Warning", text);
                return;
            }
        };
        let text = counted(providers.len(), "provider");
        self.event("serving", Tone::Done, "Serving", text);
        if let Some((file, policy)) = &self.trust_file
            && let Some(text) = unmatched_line(file, policy, &providers)
        {
            self.event("unmatched", Tone::Warning, "Warning", text);
        }
    }

    fn event(&self, event: &'static str, tone: Tone, verb: &str, text: String) {
        let printer = &self.printer;
        match printer.format {
            Format::Json => printer.log_message(event, &format!("{verb} {text}")),
            _ => printer.line(tone, verb, &text),
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
        if record.is_stale {
            text.push_str(", older than --max-age");
        }
        if !record.is_complete {
            text.push_str(", closed before its end");
        }
        let tone = match record.status {
            ..400 if record.is_complete && !record.is_stale => Tone::Plain,
            _ => Tone::Warning,
        };
        printer.line(tone, &record.status.to_string(), &text);
    }

    fn tell(&self, name: &'static str, verb: &'static str, text: String) {
        match name {
            // Health checks and scanners open connections without a handshake, so a terminal shows them only with `-v`.
            "handshake-failed" if self.printer.format != Format::Json => {
                self.printer.detail(Tone::Plain, verb, &text);
            }
            _ => self.event(name, Tone::Done, verb, text),
        }
    }

    fn warn(&self, name: &'static str, verb: &'static str, text: String) {
        self.event(name, Tone::Warning, verb, text);
    }

    fn fail(
        &self,
        name: &'static str,
        verb: &'static str,
        mut text: String,
        error: &dyn Error,
        hint: Option<String>,
    ) {
        if !text.is_empty() {
            text.push_str(": ");
        }
        self.warn(name, verb, text + &hinted(error, hint));
    }
}

/// An error with its causes and the hint for it, as one line.
fn hinted(error: &dyn Error, hint: Option<String>) -> String {
    let mut text = json::sentence(error);
    if let Some(hint) = hint {
        text.push_str(&format!("\nhint: {hint}"));
    }
    text.lines().map(str::trim).collect::<Vec<_>>().join(", ")
}
