//! The log of the server: a line for each request and event, as text on stderr or as JSON on stdout.

use std::net::SocketAddr;

use indicatif::HumanBytes;
use serde::Serialize;

use tfoci::address::{Hostname, ProviderAddr};
use tfoci::error::counted;
use tfoci::serve::{Denied, Notice, Observer, RequestRecord};

use super::events::{Event, message, with_hint};
use super::unmatched::Unmatched;
use crate::cli::arguments::Format;
use crate::cli::error::CommandError;
use crate::cli::printer::{Printer, Tone};
use crate::cli::session::Everything;

/// Prints the reports of the server.
pub(super) struct Log {
    pub(super) printer: Printer,
    pub(super) unmatched: Unmatched,
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

    /// Prints how many providers the store has, and which of them no entry of the trust file matches. With `--fill`, the store may be empty.
    /// Returns the providers.
    pub(super) fn contents(
        &self,
        listed: Result<Everything, CommandError>,
        fills: bool,
    ) -> Vec<ProviderAddr> {
        let providers = match listed {
            Ok(everything) => {
                if let Some(text) = everything.incomplete() {
                    self.event("incomplete-layout", Tone::Warning, "Warning", text);
                }
                everything.providers
            }
            Err(CommandError::Empty { .. }) if fills => Vec::new(),
            Err(error) => {
                let text = with_hint(&error, &error);
                self.event("no-providers", Tone::Warning, "Warning", text);
                return Vec::new();
            }
        };
        let text = counted(providers.len(), "provider");
        self.event("serving", Tone::Done, "Serving", text);
        if let Some(text) = self.unmatched.of_listed(&providers) {
            self.event("unmatched", Tone::Warning, "Warning", text);
        }
        providers
    }

    /// Warns if the registry has a port, and the store has providers of the same host without one, which clients do not find here.
    pub(super) fn warn_of_port(&self, registry: Option<&Hostname>, providers: &[ProviderAddr]) {
        let Some((registry, (host, _port))) =
            registry.and_then(|host| Some((host, host.as_ascii().split_once(':')?)))
        else {
            return;
        };
        let is_of = |name: &str| {
            providers
                .iter()
                .any(|one| one.hostname().as_ascii() == name)
        };
        if is_of(host) && !is_of(registry.as_ascii()) {
            let text = format!(
                "no provider begins with {registry}/. Those that begin with {host}/ need port 443, or `--registry-host {host}`"
            );
            self.event("port", Tone::Warning, "Warning", text);
        }
    }

    /// Says that the provider registry serves nothing, if the store has no provider of the host of the URL, which is its host by default.
    pub(super) fn note_of_host(&self, registry: Option<&Hostname>, providers: &[ProviderAddr]) {
        let Some(registry) = registry.filter(|_| !providers.is_empty()) else {
            return;
        };
        let name = registry.as_ascii();
        // A warning is about those that only lack the port.
        let name_alone = name.split_once(':').map_or(name, |(host, _)| host);
        let mut hosts = providers.iter().map(|one| one.hostname().as_ascii());
        if hosts.all(|host| host != name && host != name_alone) {
            let text = format!(
                "the store has no provider of {registry}, so the provider registry serves none, and the network mirror all; `--registry-host HOST` is for those of another host"
            );
            self.event("no-registry", Tone::Plain, "Note", text);
        }
    }

    /// Prints which URL the pages name, if only the proxy in front of the server has it.
    pub(super) fn unnamed(&self, provider_host: Option<&Hostname>) {
        let named = match provider_host {
            Some(host) => format!("https://{host}"),
            None => "https:// and the host of each request".to_owned(),
        };
        let text = format!("{named} on the pages; set `--url` to the address that clients use");
        self.event("unnamed", Tone::Plain, "Naming", text);
    }

    /// Prints which providers are mirrored from their origins.
    pub(super) fn filling(&self, include: &[String]) {
        let text = format!("{}, from their origins", include.join(", "));
        self.event("filling", Tone::Plain, "Filling", text);
    }

    fn event(&self, event: &'static str, tone: Tone, verb: &str, text: String) {
        let printer = &self.printer;
        if printer.format == Format::Json {
            printer.log_message(event, &message(verb, text));
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
        if let Some(denied) = record.denied {
            text.push_str(&format!(", {}", why(denied)));
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

    fn notice(&self, notice: &Notice<'_>) {
        let printer = &self.printer;
        let Event {
            name,
            tone,
            verb,
            text,
        } = Event::of(notice);
        match notice {
            Notice::Unmatched { provider } if !self.unmatched.is_new(provider) => {}
            // Health checks and scanners open connections without a handshake, so a terminal shows them only with `-v`.
            Notice::Handshake { .. } if printer.format != Format::Json => {
                printer.detail(verb, &text);
            }
            _ => self.event(name, tone, verb, text),
        }
    }
}

/// The reason why a request was denied, in the text of the log.
fn why(denied: Denied) -> &'static str {
    match denied {
        Denied::NoToken => "no token",
        Denied::UnknownToken => "an unknown token",
        Denied::OtherProvider => "the token is for other providers",
        Denied::Link => "the link has expired, or was signed by another key",
    }
}
