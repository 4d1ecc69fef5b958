//! Which way the bytes of a blob go, given what is known of a registry and how it went so far.

use super::known::Uploads;

/// How long a chunk is, where nothing else is known: no registry is known to take less.
const CHUNK: usize = 4 << 20;
/// Blobs up to this size are sent in one piece, whatever happens: no less gets through anywhere.
pub(super) const SMALLEST: usize = 64 << 10;
/// So many uploads in one piece have to be cut: one may be an accident.
const CUTS: u32 = 2;

/// How the bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// In one piece.
    Whole,
    /// In chunks of so many bytes.
    Chunks(usize),
}

/// The ways, and where an upload stands among them.
pub(super) struct Ladder {
    way: Way,
    /// The other way, while it may be tried.
    other: Option<Way>,
    cuts: u32,
}

impl Ladder {
    /// Begins. `learnt` is the length of chunks that got through in this run.
    pub(super) fn new(uploads: Uploads, learnt: Option<usize>, size: u64) -> Self {
        let half = usize::try_from(size.div_ceil(2)).unwrap_or(CHUNK);
        let chunks = Way::Chunks(half.min(CHUNK));
        let is_longer = |length: usize| size > length as u64;
        let (way, other) = match (uploads, learnt) {
            (Uploads::Whole, _) => (Way::Whole, None),
            (Uploads::Chunks(length), _) | (Uploads::Any, Some(length)) if is_longer(length) => {
                (Way::Chunks(length), Some(Way::Whole))
            }
            _ if is_longer(SMALLEST) => (Way::Whole, Some(chunks)),
            _ => (Way::Whole, None),
        };
        Self {
            way,
            other,
            cuts: 0,
        }
    }

    /// The way to go now.
    pub(super) fn way(&self) -> Way {
        self.way
    }

    /// Notes that an upload will be begun again.
    pub(super) fn count(&mut self, is_cut: bool) {
        self.cuts += u32::from(is_cut);
        if self.way == Way::Whole
            && self.cuts >= CUTS
            && let Some(other) = self.other.take()
        {
            // Chunks may be refused: then in one piece again, as often as is left.
            (self.way, self.other) = (other, Some(Way::Whole));
        }
    }

    /// Notes that this way is closed, and says whether there is another.
    pub(super) fn refuse(&mut self) -> bool {
        match self.other.take() {
            Some(other) => {
                self.way = other;
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// The ways that are gone: `c` for an upload that was cut, `a` for one to begin again, `r` for a way that is refused.
    fn ways(mut ladder: Ladder, events: &str) -> Vec<Way> {
        let mut ways = vec![ladder.way()];
        for event in events.chars() {
            if event == 'r' && !ladder.refuse() {
                return ways;
            }
            if event != 'r' {
                ladder.count(event == 'c');
            }
            ways.push(ladder.way());
        }
        ways
    }

    const WHOLE: Way = Way::Whole;
    const HALVES: Way = Way::Chunks(1 << 20);

    #[test]
    fn chunks_come_after_two_cuts_or_one_refusal() {
        let any = || Ladder::new(Uploads::Any, None, 2 * MIB);
        assert_eq!(ways(any(), "aaac"), [WHOLE; 5]);
        assert_eq!(ways(any(), "ccc"), [WHOLE, WHOLE, HALVES, HALVES]);
        // What is refused in both ways is not tried again; what was only cut is.
        assert_eq!(ways(any(), "rr"), [WHOLE, HALVES]);
        assert_eq!(ways(any(), "ccrcr"), [WHOLE, WHOLE, HALVES, WHOLE, WHOLE]);
        let large = Ladder::new(Uploads::Any, None, 100 * MIB);
        assert_eq!(ways(large, "r"), [WHOLE, Way::Chunks(4 << 20)]);
    }

    #[test]
    fn what_is_known_or_learnt_decides() {
        let known = Ladder::new(Uploads::Chunks(3), None, 2 * MIB);
        assert_eq!(
            ways(known, "ccr"),
            [Way::Chunks(3), Way::Chunks(3), Way::Chunks(3), WHOLE]
        );
        let learnt = Ladder::new(Uploads::Any, Some(5), 2 * MIB);
        assert_eq!(ways(learnt, "r"), [Way::Chunks(5), WHOLE]);
        let never = Ladder::new(Uploads::Whole, Some(5), 2 * MIB);
        assert_eq!(ways(never, "cccr"), [WHOLE; 4]);
    }

    #[test]
    fn what_fits_into_one_chunk_is_none() {
        let fits = Ladder::new(Uploads::Chunks(4 << 20), None, 4 * MIB);
        assert_eq!(fits.way(), WHOLE);
        let tiny = Ladder::new(Uploads::Any, None, SMALLEST as u64);
        assert_eq!(ways(tiny, "ccr"), [WHOLE; 3]);
    }
}
