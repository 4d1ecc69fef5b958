//! The summary of a job of GitHub Actions: a table of the versions that changed or failed, in Markdown.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;

use indicatif::HumanBytes;

use tfoci::event::{Subject, Transfer};
use tfoci::install::Installed;
use tfoci::outcome::{Change, Published};

use super::super::neutral;
use super::outcome::Outcome;
use super::version_line;

/// The most rows. GitHub refuses summaries above 1 MiB.
const MOST_ROWS: usize = 2000;

const HEADER: &str = "\
| provider | version | packages | size | authentication | status |
| --- | --- | ---: | ---: | --- | --- |
";

/// Appends a table of what changed or failed to the summary of the job.
///
/// `left_out` is the number of versions that succeeded and have no outcome.
pub(super) fn append(
    path: &Path,
    title: &str,
    outcomes: &[Outcome],
    left_out: usize,
) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(table(title, outcomes, left_out).as_bytes())
}

fn table(title: &str, outcomes: &[Outcome], left_out: usize) -> String {
    let mut text = format!("### {}\n\n", escaped(title));
    let is_failure = |outcome: &&Outcome| matches!(outcome, Outcome::Failed(..));
    let failed = outcomes.iter().filter(is_failure).count();
    if failed > 0 {
        let all = outcomes.len() + left_out;
        text += &format!("**{failed} of {all} failed.**\n\n");
    }
    // Failures come first, because the table may not have a row for every outcome.
    let mut rows: Vec<&Outcome> = outcomes.iter().filter(is_failure).collect();
    let others = outcomes.iter().filter(|outcome| !is_failure(outcome));
    rows.extend(others.filter(|outcome| !outcome.is_unchanged()));
    if rows.is_empty() {
        return text;
    }
    text += HEADER;
    for outcome in rows.iter().take(MOST_ROWS) {
        let cells = cells(outcome).map(|cell| escaped(&cell));
        text += &format!("| {} |\n", cells.join(" | "));
    }
    let more = rows.len().saturating_sub(MOST_ROWS);
    if more > 0 {
        text += &format!("\n{more} more are not shown.\n");
    }
    text.push('\n');
    text
}

fn cells(outcome: &Outcome) -> [String; 6] {
    match outcome {
        Outcome::Published(published) => of_published(published),
        Outcome::Installed(installed) => of_installed(installed),
        Outcome::Failed(subject, error) => {
            let status = format!("failed ({})", error.category().as_str());
            row(subject, None, None, String::new(), status)
        }
    }
}

fn of_published(published: &Published) -> [String; 6] {
    let status = match published.status {
        Change::Copied => "copied",
        Change::Updated => "updated",
        Change::Present => "present",
        Change::WouldCopy | Change::WouldUpdate => "planned",
    };
    let sizes = published.packages.iter().filter_map(|package| package.size);
    let size = sizes.reduce(u64::saturating_add);
    let authentication = published.authentication.as_ref();
    row(
        &version_line::subject(published),
        Some(published.packages.len()),
        size,
        authentication.map(ToString::to_string).unwrap_or_default(),
        status.to_owned(),
    )
}

fn of_installed(installed: &Installed) -> [String; 6] {
    let mut transfers = installed.packages.iter().map(|package| package.transfer);
    let status = match transfers.find(|transfer| *transfer != Transfer::Present) {
        Some(Transfer::Planned) => "planned",
        Some(_) => "installed",
        None => "present",
    };
    let sizes = installed.packages.iter().map(|package| package.size);
    row(
        &Subject::version(&installed.provider, &installed.version),
        Some(installed.packages.len()),
        Some(sizes.fold(0, u64::saturating_add)),
        installed.authentication.to_string(),
        status.to_owned(),
    )
}

fn row(
    subject: &Subject,
    packages: Option<usize>,
    size: Option<u64>,
    authentication: String,
    status: String,
) -> [String; 6] {
    let version = subject.version.as_ref();
    let provider = Subject {
        version: None,
        platform: None,
        ..subject.clone()
    };
    [
        provider.to_string(),
        version.map(ToString::to_string).unwrap_or_default(),
        packages
            .map(|packages| packages.to_string())
            .unwrap_or_default(),
        size.map(|size| HumanBytes(size).to_string())
            .unwrap_or_default(),
        authentication,
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
mod tests {
    use super::*;
    use crate::cli::error::CommandError;

    #[test]
    fn text_is_no_markup() {
        for (given, expected) in [
            (
                "registry.opentofu.org/acme/demo",
                "registry.opentofu.org/acme/demo",
            ),
            ("2.0.0-rc.1+build_5", "2.0.0-rc.1&#43;build&#95;5"),
            ("a|b\n| c", "a&#124;b &#124; c"),
            (
                "<b>&lt;`*_~",
                "&#60;b&#62;&#38;lt&#59;&#96;&#42;&#95;&#126;",
            ),
            ("[x](https://h)", "&#91;x&#93;(https&#58;//h)"),
            ("a\u{202e}b", "a\u{fffd}b"),
            ("www.h.example", "www&#46;h.example"),
        ] {
            assert_eq!(escaped(given), expected);
        }
    }

    #[test]
    fn versions_that_are_left_out_are_counted() {
        let provider = "example.com/acme/demo".parse().unwrap();
        let failure = Outcome::Failed(
            Subject::provider(&provider),
            CommandError::usage("no provider is named"),
        );
        let text = table("mirror", &[failure], 3);
        assert!(text.contains("**1 of 4 failed.**"), "{text}");
    }

    #[test]
    fn a_long_table_says_how_many_rows_it_lacks() {
        let failure = |_| {
            let provider = "example.com/acme/demo".parse().unwrap();
            Outcome::Failed(
                Subject::provider(&provider),
                CommandError::usage("no provider is named"),
            )
        };
        let of = |count| table("mirror", &(0..count).map(failure).collect::<Vec<_>>(), 0);
        assert!(!of(MOST_ROWS).contains("more are not shown"));
        assert!(of(MOST_ROWS + 3).ends_with("\n\n3 more are not shown.\n\n"));
    }
}
