//! Entries of the block list, for people and in JSON.

use serde::Serialize;

use tfoci::error::printable;
use tfoci::trust::Denial;

use crate::cli::printer::Printer;

/// An entry of the block list.
#[derive(Serialize)]
pub(super) struct Denied {
    line: usize,
    #[serde(rename = "match")]
    pattern: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    versions: String,
    reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<String>,
}

impl From<&Denial> for Denied {
    fn from(denial: &Denial) -> Self {
        Self {
            line: denial.line,
            pattern: denial.pattern.to_string(),
            versions: denial.versions.to_string(),
            reason: denial.reason.clone(),
            until: denial.until.clone(),
        }
    }
}

impl Denied {
    pub(super) fn print(&self, printer: &Printer) {
        let (pattern, line) = (&self.pattern, self.line);
        printer.result(&format!("deny      {pattern}   line {line}"));
        let versions = match self.versions.as_str() {
            "" => "all",
            versions => versions,
        };
        let until = self.until.iter().map(|until| format!(", until {until}"));
        let until: String = until.collect();
        printer.result(&format!("versions  {versions}{until}"));
        printer.result(&format!("reason    {}", printable(&self.reason)));
    }
}
