//! The lines below the log of a terminal: a line for each package in transfer, and the total.

use std::time::Duration;

use console::{Alignment, measure_text_width, pad_str, truncate_str};

use tfoci::event::Subject;

use super::super::finished_line::store;
use super::ledger::{ActivePackage, Ledger, Totals, rate};

/// The widest bar, in columns.
const WIDEST_BAR: usize = 24;
/// Figures are left out before a bar becomes narrower.
const NARROWEST_BAR: usize = 5;
/// The columns of the figures: `1023/~1023 MiB`, `1023 KiB/s`, ` 99%`, `ETA 99h59m`.
const WIDTHS: [usize; 4] = [14, 10, 4, 10];
/// The figures that are shown, if they fit: the rate goes first, then the time left, which only the total has, then the size, and the bar never.
const FORMS: [[bool; 4]; 4] = [
    [true, true, true, true],
    [true, false, true, true],
    [true, false, true, false],
    [false, false, true, false],
];
const GAP: usize = 2;
/// After this time without a byte, a line names the host for which the run waits.
const QUIET: Duration = Duration::from_secs(2);
/// How long one picture of the spinner is shown, in milliseconds.
const SPIN: u128 = 100;
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const UNITS: [(&str, u64); 4] = [
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("B", 1),
];

/// One line before it is laid out.
struct Row {
    label: String,
    /// In thousandths.
    part: u64,
    /// The size, the rate, the percentage, and the time left.
    figures: [String; 4],
}

/// The lines for a terminal of so many rows and columns. No line is wider, and their number leaves room for a line of the log.
pub(super) fn draw(
    ledger: &mut Ledger,
    elapsed: Duration,
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
        let picture = usize::try_from(elapsed.as_millis() / SPIN).unwrap_or(0) % SPINNER.len();
        let picture = SPINNER.get(picture).unwrap_or(&" ");
        let text = match waits_for {
            Some(host) => format!("{picture} waiting for {host}"),
            None => format!("{picture} working"),
        };
        let text = truncate_str(&text, width, "…").into_owned();
        lines.insert(lines.len().saturating_sub(1), text);
    }
    lines
}

fn package_row(package: &ActivePackage) -> Row {
    let received = package.received();
    let part = received.saturating_mul(1000).checked_div(package.size);
    Row {
        label: label(&package.subject),
        part: part.unwrap_or(0),
        figures: [
            fraction(received, package.size, true),
            per_second(rate(&package.flow)),
            String::new(),
            String::new(),
        ],
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
    let left = totals.left.map(|left| format!("ETA {}", time(left)));
    Row {
        label: format!("total {finished}/{tilde}{packages} packages"),
        part: totals.part,
        figures: [
            fraction(totals.received, totals.bytes, totals.counts_all_bytes),
            per_second(totals.rate),
            format!("{}%", totals.part / 10),
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

/// The received part of a size: `7.9/15.0 MiB`. A size that is estimated has a tilde.
pub(super) fn fraction(received: u64, bytes: u64, is_known: bool) -> String {
    if bytes == 0 {
        return String::new();
    }
    let tilde = if is_known { "" } else { "~" };
    let (unit, scale) = unit(bytes);
    let (received, bytes) = (number(received, scale), number(bytes, scale));
    format!("{received}/{tilde}{bytes} {unit}")
}

/// A rate: `512 KiB/s`. Nothing if no bytes come.
fn per_second(bytes: u64) -> String {
    let (unit, scale) = unit(bytes);
    match bytes {
        0 => String::new(),
        bytes => format!("{} {unit}/s", number(bytes, scale)),
    }
}

/// A time: `0:20`, `12:05`, `3h07m`.
fn time(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3600, seconds / 60) {
        (0, minutes) => format!("{minutes}:{:02}", seconds % 60),
        (hours, minutes) if hours < 100 => format!("{hours}h{:02}m", minutes % 60),
        (hours, _) => format!("{}d", hours / 24),
    }
}

fn unit(bytes: u64) -> (&'static str, u64) {
    let mut units = UNITS.into_iter();
    units.find(|(_, scale)| bytes >= *scale).unwrap_or(("B", 1))
}

/// A number with at most three digits before the point, and a decimal below 100.
fn number(bytes: u64, scale: u64) -> String {
    let (whole, rest) = (bytes / scale, bytes % scale);
    if scale == 1 || whole >= 100 {
        return whole.to_string();
    }
    let tenth = u128::from(rest) * 10 / u128::from(scale);
    format!("{whole}.{tenth}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        assert_eq!(fraction(8 << 20, 15 << 20, true), "8.0/15.0 MiB");
        assert_eq!(fraction(139 << 20, 361 << 20, false), "139/~361 MiB");
        assert_eq!(fraction(5, 1023, true), "5/1023 B");
        assert_eq!(per_second(1536), "1.5 KiB/s");
        assert_eq!(time(Duration::from_secs(20)), "0:20");
        assert_eq!(time(Duration::from_secs(3 * 3600 + 7 * 60)), "3h07m");
    }
}
