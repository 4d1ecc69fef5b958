//! The lines of a server's log as JSON.

use std::time::SystemTime;

use serde::Serialize;
use serde_json::json;

use super::Printer;
use tfoci::date::timestamp;

#[derive(Serialize)]
struct LogLine<'a, E> {
    /// In UTC with milliseconds, as RFC 3339 writes it.
    time: String,
    event: &'a str,
    #[serde(flatten)]
    details: &'a E,
}

impl Printer {
    /// Makes every line a line of JSON on stdout, like the lines of a running server.
    pub(in crate::cli) fn into_log(mut self) -> Self {
        self.is_log = true;
        self
    }

    /// Prints a line of JSON, in JSON only.
    pub(in crate::cli) fn log_line(&self, event: &str, details: &impl Serialize) {
        self.document_line(&LogLine {
            time: timestamp(SystemTime::now()),
            event,
            details,
        });
    }

    /// Prints a line about something that happened, in JSON only.
    pub(in crate::cli) fn log_message(&self, event: &str, message: &str) {
        self.log_line(event, &json!({"message": message}));
    }
}
