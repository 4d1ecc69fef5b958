//! Usage errors and help, which clap writes.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;

use super::super::neutral;
use super::super::redaction::Redaction;
use super::errors::wrong;

/// Prints clap's usage error or help. Both may repeat arguments or variables, so they are sanitised.
pub(in crate::cli) fn usage(error: clap::Error, arguments: &[OsString]) -> ExitCode {
    let redaction = Redaction::of(arguments);
    let plain = redaction.apply(&error.render().to_string());
    let lines: Vec<String> = plain.lines().map(neutral::quoted).collect();
    let text = neutral::text(&lines.join("\n"));
    let text = text.trim_end();
    let _closed = if error.use_stderr() {
        let begin = "error:";
        let rest = text.strip_prefix(begin);
        let begin = wrong().for_stderr().apply_to(rest.map_or("", |_| begin));
        writeln!(io::stderr(), "{begin}{}", rest.unwrap_or(text))
    } else {
        writeln!(io::stdout(), "{text}")
    };
    ExitCode::from(if error.use_stderr() { 2 } else { 0 })
}
