//! The lines below the log of a terminal: a line for each package in transfer, and the total.

use std::time::Duration;

use console::{Alignment, measure_text_width, pad_str, truncate_str};

use indicatif::{FormattedDuration, HumanBytes};

use tfoci::event::Subject;

use super::super::finished_line::store;
use super::ledger::{ActivePackage, Ledger, Totals};

/// The widest bar, in columns.
const WIDEST_BAR: usize = 24;
/// Figures are left out before a bar becomes narrower.
const NARROWEST_BAR: usize = 5;
/// The columns of the figures: ` 99%`, `1023.00 MiB of ~1023.00 MiB`, `1023.00 KiB/s`, `ETA 99:59:59`.
const WIDTHS: [usize; 4] = [4, 27, 13, 13];
/// The figures that are shown, if they fit: the size goes first, then the rate, then the time left, and the bar never.
const FORMS: [[bool; 4]; 4] = [
    [true, true, true, true],
    [true, false, true, true],
    [true, false, false, true],
    [true, false, false, false],
];
const GAP: usize = 2;
/// After this time without a byte, a line names the host for which the run waits.
const QUIET: Duration = Duration::from_secs(2);
/// One line before it is laid out.
struct Row {
    label: String,
    /// In thousandths.
    part: u64,
    /// The percentage, and of the total the size, the rate and the time left.
    figures: [String; 4],
}

/// The lines for a terminal of so many rows and columns. No line is wider, and their number leaves room for a line of the log.
pub(super) fn draw(
    ledger: &mut Ledger,
    (rows, columns): (u16, u16),
    waits_for: Option<&str>,
) -> Vec<String> {
    let width = usize::from(columns).saturating_sub(1);
    let mut lines = Vec::new();
    if let Some(totals) = ledger.totals() {
        let most = usize::from(rows).saturating_sub(3).max(1);
        let all = ledger.active.len();
        let shown = if all > most { most - 1 } else { all };
        let mut rows: Vec<Row> = ledger.active.iter().take(shown).map(package_row).collect();
        rows.push(total_row(&totals));
        lines = laid_out(&rows, width);
        if shown < all {
            lines.insert(shown, format!("and {} more", all - shown));
        }
    }
    if !ledger.flows(QUIET) {
        let text = match waits_for {
            Some(host) => format!("waiting for {host}"),
            None => "working".to_owned(),
        };
        let text = truncate_str(&text, width, "…").into_owned();
        lines.insert(lines.len().saturating_sub(1), text);
    }
    lines
}

fn package_row(package: &ActivePackage) -> Row {
    let part = package.received.saturating_mul(1000);
    let part = part.checked_div(package.size).unwrap_or(0);
    let none = String::new;
    Row {
        label: label(&package.subject),
        part,
        figures: [format!("{}%", part / 10), none(), none(), none()],
    }
}

/// The label of a package. It omits the host and the namespace, because they rarely differ between packages.
fn label(subject: &Subject) -> String {
    let mut label = subject.provider.type_name().to_owned();
    if let Some(version) = &subject.version {
        label += &format!(" {version}");
    }
    if let Some(platform) = &subject.platform {
        label += &format!(" {platform}");
    }
    if subject.destination.is_some() {
        label += &format!(" to {}", store(subject));
    }
    label
}

fn total_row(totals: &Totals) -> Row {
    let tilde = if totals.counts_all_packages { "" } else { "~" };
    let (finished, packages) = (totals.finished, totals.packages);
    let rate = (totals.rate > 0).then(|| format!("{}/s", HumanBytes(totals.rate)));
    let left = totals
        .left
        .map(|left| format!("ETA {}", FormattedDuration(left)));
    Row {
        label: format!("total {finished}/{tilde}{packages} packages"),
        part: totals.part,
        figures: [
            format!("{}%", totals.part / 10),
            fraction(totals),
            rate.unwrap_or_default(),
            left.unwrap_or_default(),
        ],
    }
}

/// Bars shrink first, then figures are left out, and labels are cut last.
fn laid_out(rows: &[Row], width: usize) -> Vec<String> {
    let labels = rows.iter().map(|row| measure_text_width(&row.label));
    let label = labels.max().unwrap_or(0);
    let room = width.saturating_sub(label + GAP);
    let figures = |form: &[bool; 4]| -> usize {
        let shown = form.iter().zip(WIDTHS).filter(|(is_shown, _)| **is_shown);
        shown.map(|(_, width)| GAP + width).sum()
    };
    let mut forms = FORMS.into_iter();
    let form = forms.find(|form| figures(form) + NARROWEST_BAR <= room);
    let form = form.unwrap_or_default();
    let bar = room.saturating_sub(figures(&form));
    let bar = bar.clamp(NARROWEST_BAR, WIDEST_BAR);
    let label = label.min(width.saturating_sub(GAP + NARROWEST_BAR));
    let line = |row: &Row| {
        let part = usize::try_from(row.part).unwrap_or(0);
        let full = ((bar * part + 500) / 1000).min(bar);
        let name = pad_str(&row.label, label, Alignment::Left, Some("…"));
        let mut line = format!("{name}  {}{}", "█".repeat(full), "░".repeat(bar - full));
        for ((text, width), is_shown) in row.figures.iter().zip(WIDTHS).zip(form) {
            if is_shown {
                line += &format!("  {text:>width$}");
            }
        }
        line.trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// The received part of a size: `7.90 MiB of 15.00 MiB`. A size that is estimated has a tilde.
pub(super) fn fraction(totals: &Totals) -> String {
    let tilde = if totals.counts_all_bytes { "" } else { "~" };
    let (received, bytes) = (HumanBytes(totals.received), HumanBytes(totals.bytes));
    format!("{received} of {tilde}{bytes}")
}
