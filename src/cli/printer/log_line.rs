//! The lines of a server's log as JSON.

use std::time::SystemTime;

use serde::Serialize;
use serde_json::json;

use super::super::json::object;
use super::Printer;
use tfoci::date::timestamp;

impl Printer {
    /// Makes every line a line of JSON on stdout, like the lines of a running server.
    pub(in crate::cli) fn into_log(mut self) -> Self {
        self.is_log = true;
        self
    }

    /// Prints a line of JSON, in JSON only.
    pub(in crate::cli) fn log_line(&self, event: &str, details: &impl Serialize) {
        // In UTC with milliseconds, as RFC 3339 writes it.
        let time = timestamp(SystemTime::now());
        let head = json!({"time": time, "event": event});
        self.document_line(&object([head, json!(details)]));
    }

    /// Prints a line about something that happened, in JSON only.
    pub(in crate::cli) fn log_message(&self, event: &str, message: &str) {
        self.log_line(event, &json!({"message": message}));
    }
}
