//! The lines below the log of a terminal: a line for each package in transfer, and the total.

use std::time::Duration;

use console::{measure_text_width, truncate_str};

use super::figures::{self, Whole};
use super::ledger::{ActivePackage, Ledger, Totals};
use super::subject::label;

/// The widest bar, in columns.
const WIDEST_BAR: usize = 24;
/// Figures are left out before a bar becomes narrower.
const NARROWEST_BAR: usize = 5;
/// `1023/~1023 MiB`
const SIZE: usize = 14;
/// `1023 KiB/s`
const RATE: usize = 10;
/// `ETA 99h59m`
const LEFT: usize = 10;
/// ` 99%`
const PERCENT: usize = 4;
const GAP: usize = 2;
/// After this time without a byte, a line names the host for which the run waits.
const QUIET: Duration = Duration::from_secs(2);
/// How long one picture of the spinner is shown, in milliseconds.
const SPIN: u128 = 100;
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// The size of a terminal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Screen {
    pub(super) columns: usize,
    pub(super) rows: usize,
}

/// One line before it is laid out.
struct Row {
    label: String,
    /// In thousandths.
    part: u64,
    size: String,
    rate: String,
    percent: String,
    left: String,
}

/// The columns that fit. Bars shrink first, then figures are left out, and labels are cut last.
struct Columns {
    label: usize,
    bar: usize,
    size: bool,
    rate: bool,
    percent: bool,
    left: bool,
}

/// The lines. No line is wider than the screen, and their number leaves room for a line of the log.
pub(super) fn draw(
    ledger: &mut Ledger,
    now: Duration,
    screen: Screen,
    waits_for: Option<&str>,
) -> Vec<String> {
    let totals = ledger.totals(now);
    let mut lines = Vec::new();
    if let Some(totals) = totals {
        let most = screen.rows.saturating_sub(3).max(1);
        let hidden = match ledger.active.len() {
            all if all > most => all - (most - 1),
            _ => 0,
        };
        let shown = ledger.active.len() - hidden;
        let packages = ledger.active.iter().take(shown);
        let mut rows: Vec<Row> = packages.map(|package| package_row(package, now)).collect();
        rows.push(total_row(&totals));
        let columns = Columns::of(&rows, screen.columns.saturating_sub(1));
        lines.extend(rows.iter().map(|row| columns.line(row)));
        if hidden > 0 {
            lines.insert(shown, format!("and {hidden} more"));
        }
    }
    if !ledger.flows(now, QUIET) {
        let waiting = waiting(now, waits_for, screen.columns.saturating_sub(1));
        lines.insert(lines.len().saturating_sub(1), waiting);
    }
    lines
}

fn waiting(now: Duration, host: Option<&str>, columns: usize) -> String {
    let picture = usize::try_from(now.as_millis() / SPIN).unwrap_or(0) % SPINNER.len();
    let picture = SPINNER.get(picture).unwrap_or(&" ");
    let text = match host {
        Some(host) => format!("{picture} waiting for {host}"),
        None => format!("{picture} working"),
    };
    truncate_str(&text, columns, "…").into_owned()
}

fn package_row(package: &ActivePackage, now: Duration) -> Row {
    let part = package.received.saturating_mul(1000);
    Row {
        label: label(&package.subject),
        part: part.checked_div(package.size).unwrap_or(0),
        size: figures::part(package.received, Whole::Known(package.size)),
        rate: rate(package.per_second(now)),
        percent: String::new(),
        left: String::new(),
    }
}

fn total_row(totals: &Totals) -> Row {
    let tilde = if totals.counts_all_packages { "" } else { "~" };
    let left = totals.left.filter(|_| totals.received < totals.bytes);
    Row {
        label: format!(
            "total {}/{tilde}{} packages",
            totals.finished, totals.packages
        ),
        part: totals.part,
        size: match totals.bytes {
            0 => String::new(),
            _ => figures::part(totals.received, totals.whole()),
        },
        rate: rate(totals.rate),
        percent: format!("{}%", totals.part / 10),
        left: left.map_or_else(String::new, |left| format!("ETA {}", figures::time(left))),
    }
}

fn rate(per_second: Option<u64>) -> String {
    per_second.map_or_else(String::new, |rate| format!("{}/s", figures::size(rate)))
}

impl Columns {
    fn of(rows: &[Row], width: usize) -> Self {
        let labels = rows.iter().map(|row| measure_text_width(&row.label));
        let label = labels.max().unwrap_or(0);
        // The rate goes first, then the time left, which only the total has, then the size, and the bar never.
        let forms = [
            [true, true, true, true],
            [true, false, true, true],
            [true, false, true, false],
            [false, false, true, false],
            [false; 4],
        ];
        let figures = |form: &[bool; 4]| -> usize {
            let widths = form.iter().zip([SIZE, RATE, PERCENT, LEFT]);
            let shown = widths.filter(|(is_shown, _)| **is_shown);
            shown.map(|(_, width)| GAP + width).sum()
        };
        let room = width.saturating_sub(label + GAP);
        let fits = |form: &&[bool; 4]| figures(form) + NARROWEST_BAR <= room;
        let form = forms.iter().find(fits).copied().unwrap_or_default();
        let [size, rate, percent, left] = form;
        let bar = room.saturating_sub(figures(&form));
        Self {
            label: label.min(width.saturating_sub(GAP + NARROWEST_BAR)),
            bar: bar.clamp(NARROWEST_BAR, WIDEST_BAR),
            size,
            rate,
            percent,
            left,
        }
    }

    fn line(&self, row: &Row) -> String {
        let label = truncate_str(&row.label, self.label, "…");
        let padding = self.label.saturating_sub(measure_text_width(&label));
        let mut line = format!("{label}{:padding$}", "");
        let part = usize::try_from(row.part).unwrap_or(0);
        let full = ((self.bar * part + 500) / 1000).min(self.bar);
        let empty = self.bar - full;
        line += &format!("  {}{}", "█".repeat(full), "░".repeat(empty));
        for (is_shown, text, width) in [
            (self.size, &row.size, SIZE),
            (self.rate, &row.rate, RATE),
            (self.percent, &row.percent, PERCENT),
            (self.left, &row.left, LEFT),
        ] {
            if is_shown {
                line += &format!("  {text:>width$}");
            }
        }
        line.truncate(line.trim_end().len());
        line
    }
}
