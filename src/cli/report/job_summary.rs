//! The summary of a job of GitHub Actions: a table of the versions that changed or failed, in Markdown.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;

use indicatif::HumanBytes;

use tfoci::authentication::Authentication;
use tfoci::error::printable_path;
use tfoci::event::Subject;

use super::super::neutral;
use super::super::printer::Printer;
use super::Row;

/// The most rows. GitHub refuses summaries above 1 MiB.
const MOST_ROWS: usize = 2000;

const HEADER: &str = "\
| provider | version | packages | size | authentication | status |
| --- | --- | ---: | ---: | --- | --- |
";

/// Appends a table of what changed or failed to the summary of the job, if there are rows, and to a file. `left_out` is the number of versions
/// that succeeded and have no row.
pub(super) fn append(
    printer: &Printer,
    file: Option<&Path>,
    title: &str,
    rows: &[Row],
    left_out: usize,
) {
    let summary = printer.job_summary().filter(|_| !rows.is_empty());
    for path in summary.into_iter().chain(file) {
        if let Err(error) = write(path, &table(title, rows, left_out)) {
            let path = printable_path(path);
            printer.warning(&format!("cannot write the table to {path}: {error}"));
        }
    }
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(text.as_bytes())
}

fn table(title: &str, rows: &[Row], left_out: usize) -> String {
    let mut text = format!("### {}\n\n", escaped(title));
    // Failures come first, because the table may not have a line for every row.
    let (mut shown, others): (Vec<&Row>, Vec<&Row>) =
        rows.iter().partition(|row| row.error.is_some());
    if !shown.is_empty() {
        let all = rows.len() + left_out;
        text += &format!("**{} of {all} failed.**\n\n", shown.len());
    }
    shown.extend(others.into_iter().filter(|row| !row.is_unchanged()));
    if shown.is_empty() {
        return text;
    }
    text += HEADER;
    for row in shown.iter().take(MOST_ROWS) {
        let cells = cells(row).map(|cell| escaped(&cell));
        text += &format!("| {} |\n", cells.join(" | "));
    }
    let more = shown.len().saturating_sub(MOST_ROWS);
    if more > 0 {
        text += &format!("\n{more} more are not shown.\n");
    }
    text.push('\n');
    text
}

fn cells(row: &Row) -> [String; 6] {
    let version = row.subject.version.as_ref().map(ToString::to_string);
    let provider = Subject {
        version: None,
        ..row.subject.clone()
    };
    let authentication = row.authentication.as_ref().map(Authentication::to_string);
    let status = row.verb.to_lowercase();
    let totals = &row.totals;
    let (packages, size, status) = match &row.error {
        Some(error) => {
            let category = error.category().as_str();
            let why = error.kind().map_or(category, |kind| kind.kind);
            (String::new(), String::new(), format!("{status} ({why})"))
        }
        None if !row.is_news() => (String::new(), String::new(), row.count.clone()),
        None if totals.packages == 0 => (row.count.clone(), String::new(), status),
        None => (
            totals.packages.to_string(),
            HumanBytes(totals.size).to_string(),
            status,
        ),
    };
    [
        provider.to_string(),
        version.unwrap_or_default(),
        packages,
        size,
        authentication.unwrap_or_default(),
        status,
    ]
}

/// Escapes text for Markdown and HTML: every character that could be markup becomes an entity.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in neutral::text(text).chars() {
        match c {
            '\n' => out.push(' '),
            '.' | ',' | '-' | '/' | '(' | ')' | ' ' => out.push(c),
            char::REPLACEMENT_CHARACTER => out.push(c),
            c if c.is_alphanumeric() => out.push(c),
            c => out += &format!("&#{};", u32::from(c)),
        }
    }
    // GitHub makes a link of a text that begins like this.
    out.replace("www.", "www&#46;")
}

#[cfg(test)]
#[path = "job_summary_tests.rs"]
mod tests;
