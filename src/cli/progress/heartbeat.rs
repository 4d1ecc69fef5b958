//! The line that a run without a terminal prints every half minute, because CI systems end jobs that print nothing.

use std::time::Duration;

use super::figures;
use super::ledger::{Ledger, Totals};

/// The time between two lines. CI systems end a job after some minutes without output.
const EVERY: Duration = Duration::from_secs(30);

/// When the next line is due.
#[derive(Debug)]
pub(super) struct Heartbeat {
    next: Duration,
}

impl Default for Heartbeat {
    fn default() -> Self {
        Self { next: EVERY }
    }
}

impl Heartbeat {
    /// The line, if it is due.
    pub(super) fn beat(
        &mut self,
        ledger: &mut Ledger,
        now: Duration,
        waits_for: Option<&str>,
    ) -> Option<String> {
        if now < self.next {
            return None;
        }
        self.next = now + EVERY;
        let waiting = waits_for.map(|host| format!("waiting for {host}"));
        let waiting = waiting.filter(|_| !ledger.flows(now, EVERY));
        let state = ledger.totals(now).map(|totals| line(&totals));
        let parts: Vec<String> = state.into_iter().chain(waiting).collect();
        match parts.is_empty() {
            true => Some(format!("for {}", figures::time(now))),
            false => Some(parts.join(", ")),
        }
    }
}

fn line(totals: &Totals) -> String {
    let packages = format!("{} packages done", totals.packages_done());
    match totals.bytes {
        0 => packages,
        _ => {
            let bytes = figures::part(totals.received, totals.whole());
            format!("{packages}, {bytes}")
        }
    }
}
