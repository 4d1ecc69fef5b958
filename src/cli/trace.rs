//! Prints HTTP events: decisions with `-v`, every request with `-vv`.

use std::time::Duration;

use tfoci::event::{Event, Exchange, Reporter};

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
            // Each refresh of a list by `serve --fill` warns of it.
            Event::Warning { subject, warning } if subject.version.is_none() => {
                printer.warn_once(format!("{subject}: {warning}"));
            }
            Event::Decided { verb, text } => printer.detail(Tone::Plain, verb, &text),
            Event::Retrying { url, reason, pause } => {
                let text = format!("{url} after {:.1}s: {reason}", pause.as_secs_f64());
                if pause < LONG {
                    printer.detail(Tone::Plain, "Retrying", &text);
                } else {
                    printer.line(Tone::Warning, "Retrying", &text);
                }
            }
            Event::Requested(exchange) => printer.request("Requested", &line(&exchange)),
            _ => {}
        }
    }
}

fn line(exchange: &Exchange) -> String {
    let Exchange {
        method,
        url,
        status,
        sent,
        received,
        elapsed,
    } = exchange;
    let status = status.map_or_else(|| "no answer".to_owned(), |status| status.to_string());
    let milliseconds = elapsed.as_millis();
    format!("{method} {url}: {status}, {sent} B out, {received} B in, {milliseconds} ms")
}
