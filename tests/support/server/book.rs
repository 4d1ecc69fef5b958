//! The book of a server: the requests so far, and the faults of later ones.

use std::time::{Duration, Instant};

use super::fault::{Fault, Rule};
use super::seen::Seen;

/// Every request since the server started, or since requests were last forgotten.
#[derive(Default)]
pub struct Book {
    pub(super) seen: Vec<Seen>,
    /// How many requests were forgotten, which is the number of the first one that is kept.
    forgotten: usize,
    pub(super) rules: Vec<Rule>,
    pub(super) delays: Vec<(Sort, Duration)>,
    numbers: u64,
}

/// A predicate of requests.
type Sort = Box<dyn Fn(&Seen) -> bool + Send>;

impl Book {
    /// A number that was not used before.
    pub fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// Records a request. Returns its number in the book, its fault, and its delay.
    pub(super) fn arrive(&mut self, seen: Seen) -> (usize, Option<Fault>, Duration) {
        let met = self.rules.iter_mut().filter_map(|rule| rule.meet(&seen));
        // Every matching rule counts the request, although only the first one applies.
        let fault = met.collect::<Vec<_>>().into_iter().next();
        let delays = self.delays.iter().filter(|(sort, _)| sort(&seen));
        let delay = delays.map(|(_, delay)| *delay).sum();
        self.seen.push(seen);
        (self.forgotten + self.seen.len() - 1, fault, delay)
    }

    /// The request with a number, unless it was forgotten.
    pub(super) fn at(&mut self, place: usize) -> Option<&mut Seen> {
        self.seen.get_mut(place.checked_sub(self.forgotten)?)
    }

    pub(super) fn forget(&mut self) {
        self.forgotten += self.seen.len();
        self.seen.clear();
    }

    pub(super) fn most_at_once(&self, sort: impl Fn(&Seen) -> bool) -> usize {
        let now = Instant::now();
        let mut turns: Vec<(Instant, bool)> = Vec::new();
        for seen in self.seen.iter().filter(|seen| sort(seen)) {
            turns.push((seen.began, true));
            turns.push((seen.ended.unwrap_or(now), false));
        }
        // Of events at the same time, ends come first.
        turns.sort();
        let (mut under_way, mut most) = (0_usize, 0);
        for (_, begins) in turns {
            under_way = match begins {
                true => under_way + 1,
                false => under_way.saturating_sub(1),
            };
            most = most.max(under_way);
        }
        most
    }
}
