//! Prints HTTP events: decisions with `-v`, every request with `-vv`.

use std::time::Duration;

use indicatif::HumanBytes;

use tfoci::event::{Event, Exchange, Reporter, Warning};

use super::printer::{Printer, Tone};

/// Retries after a longer pause are printed without `-v`, because the run seems to hang.
const LONG: Duration = Duration::from_secs(2);

/// Prints HTTP events. Their URLs are redacted already.
pub(super) struct Trace(pub(super) Printer);

impl Reporter for Trace {
    fn report(&self, event: Event) {
        let Self(printer) = self;
        match event {
            Event::CredentialsIgnored { message } => printer.warn_once(message),
            // Each refresh of a list and each run of `serve --fill` reports it.
            Event::Warning {
                subject,
                warning: warning @ Warning::SkippedVersions { .. },
            } => printer.warn_once(format!("{subject}: {warning}")),
            Event::CredentialSelected { host, found_in } => {
                let found_in = found_in.as_deref().unwrap_or("no credentials");
                printer.detail("Using", &format!("{found_in} for {host}"));
            }
            Event::Mounting {
                digest,
                from,
                shared: true,
            } => printer.detail("Mounted", &format!("{digest} from {from}")),
            Event::Mounting { digest, from, .. } => {
                printer.detail("Sent", &format!("{digest}, which was not shared by {from}"));
            }
            Event::Retrying { url, reason, pause } => {
                let text = format!("{url} after {:.1}s: {reason}", pause.as_secs_f64());
                if pause < LONG {
                    printer.detail("Retrying", &text);
                } else {
                    printer.line(Tone::Warning, "Retrying", &text);
                }
            }
            Event::Resuming { url, from } => {
                printer.detail("Resuming", &format!("{url} after {}", HumanBytes(from)));
            }
            Event::Requesting { host } => printer.pending.begin(host),
            Event::Requested(exchange) => {
                printer.pending.end(&exchange.host);
                printer.request("Requested", &line(&exchange));
            }
            _ => {}
        }
    }
}

fn line(exchange: &Exchange) -> String {
    let Exchange {
        host: _,
        method,
        url,
        range,
        status,
        sent,
        received,
        elapsed,
    } = exchange;
    let range = range.as_deref();
    let range = range.map_or_else(String::new, |range| format!(" (Range: {range})"));
    let status = status.map_or_else(|| "no answer".to_owned(), |status| status.to_string());
    let milliseconds = elapsed.as_millis();
    format!("{method} {url}{range}: {status}, {sent} B out, {received} B in, {milliseconds} ms")
}
