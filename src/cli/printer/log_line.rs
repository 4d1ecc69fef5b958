//! The lines of a server's log as JSON.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

use super::Printer;

#[derive(Serialize)]
struct LogLine<'a, E> {
    /// Seconds since 1970, with milliseconds.
    time: f64,
    event: &'a str,
    #[serde(flatten)]
    details: &'a E,
}

#[derive(Serialize)]
struct About<'a> {
    message: &'a str,
}

impl Printer {
    /// Makes every line a line of JSON on stdout, as those of the server that runs.
    pub(in crate::cli) fn into_log(self) -> Self {
        Self {
            is_log: true,
            ..self
        }
    }

    /// Prints a line of JSON, in JSON only.
    pub(in crate::cli) fn log_line(&self, event: &str, details: &impl Serialize) {
        let time = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let time = (time.as_secs_f64() * 1e3).round() / 1e3;
        self.document_line(&LogLine {
            time,
            event,
            details,
        });
    }

    /// Prints a line about something that happened, in JSON only.
    pub(in crate::cli) fn log_message(&self, event: &str, message: &str) {
        self.log_line(event, &About { message });
    }
}
