//! Chooses whether to upload a blob in one request or in chunks, from facts about the registry and earlier failures.

use crate::store::known::UploadSupport;

/// The length of chunks in bytes where nothing else is known. Every known registry takes chunks of this length.
const CHUNK: usize = 4 << 20;
/// Blobs up to this size are always uploaded in one request: where that fails, chunks would not help.
pub(super) const SMALLEST: usize = 64 << 10;
/// After this many uploads that broke off in the middle, chunks are tried. One may be an accident.
const CUTS: u32 = 2;

/// How the bytes of a blob are uploaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UploadMode {
    /// In one request.
    Whole,
    /// In chunks of this many bytes.
    Chunks(usize),
}

/// Chooses the mode of each attempt to upload one blob.
pub(super) struct UploadStrategy {
    /// The mode of the next attempt.
    pub(super) mode: UploadMode,
    /// The other mode, unless it is excluded.
    alternative: Option<UploadMode>,
    cuts: u32,
}

impl UploadStrategy {
    /// The strategy for a blob of `size` bytes. `learnt` is the length of chunks that worked earlier in this run.
    pub(super) fn new(support: UploadSupport, learnt: Option<usize>, size: u64) -> Self {
        let half = usize::try_from(size.div_ceil(2)).unwrap_or(CHUNK);
        let chunks = UploadMode::Chunks(half.min(CHUNK));
        let is_longer = |length: usize| size > length as u64;
        let (mode, alternative) = match (support, learnt) {
            (UploadSupport::Whole, _) => (UploadMode::Whole, None),
            (UploadSupport::Chunks(length), _) | (UploadSupport::Any, Some(length))
                if is_longer(length) =>
            {
                (UploadMode::Chunks(length), Some(UploadMode::Whole))
            }
            _ if is_longer(SMALLEST) => (UploadMode::Whole, Some(chunks)),
            _ => (UploadMode::Whole, None),
        };
        Self {
            mode,
            alternative,
            cuts: 0,
        }
    }

    /// Notes that an attempt failed and is repeated. `is_cut` says whether it broke off in the middle of the bytes.
    pub(super) fn retry(&mut self, is_cut: bool) {
        self.cuts += u32::from(is_cut);
        if self.mode == UploadMode::Whole
            && self.cuts >= CUTS
            && let Some(chunks) = self.alternative.take()
        {
            // If the registry refuses chunks, the remaining attempts use one request again.
            (self.mode, self.alternative) = (chunks, Some(UploadMode::Whole));
        }
    }

    /// Excludes the current mode, which the registry refused. `false` if no mode is left.
    pub(super) fn exclude_mode(&mut self) -> bool {
        let other = self.alternative.take();
        self.mode = other.unwrap_or(self.mode);
        other.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// The modes of all attempts. Each attempt ends with an event: `c`, the connection broke and the attempt is repeated; `a`, it failed for
    /// another reason and is repeated; `r`, the registry refused the mode.
    fn modes(mut strategy: UploadStrategy, events: &str) -> Vec<UploadMode> {
        let mut modes = vec![strategy.mode];
        for event in events.chars() {
            if event == 'r' && !strategy.exclude_mode() {
                return modes;
            }
            if event != 'r' {
                strategy.retry(event == 'c');
            }
            modes.push(strategy.mode);
        }
        modes
    }

    const WHOLE: UploadMode = UploadMode::Whole;
    const HALVES: UploadMode = UploadMode::Chunks(1 << 20);

    #[test]
    fn chunks_come_after_two_cuts_or_one_refusal() {
        let any = || UploadStrategy::new(UploadSupport::Any, None, 2 * MIB);
        assert_eq!(modes(any(), "aaac"), [WHOLE; 5]);
        assert_eq!(modes(any(), "ccc"), [WHOLE, WHOLE, HALVES, HALVES]);
        // If the registry refuses both modes, the upload ends; if one was only cut, it is tried again.
        assert_eq!(modes(any(), "rr"), [WHOLE, HALVES]);
        assert_eq!(modes(any(), "ccrcr"), [WHOLE, WHOLE, HALVES, WHOLE, WHOLE]);
        let large = UploadStrategy::new(UploadSupport::Any, None, 100 * MIB);
        assert_eq!(modes(large, "r"), [WHOLE, UploadMode::Chunks(4 << 20)]);
    }

    #[test]
    fn known_and_learnt_support_decides() {
        let known = UploadStrategy::new(UploadSupport::Chunks(3), None, 2 * MIB);
        let three = UploadMode::Chunks(3);
        assert_eq!(modes(known, "ccr"), [three, three, three, WHOLE]);
        let learnt = UploadStrategy::new(UploadSupport::Any, Some(5), 2 * MIB);
        assert_eq!(modes(learnt, "r"), [UploadMode::Chunks(5), WHOLE]);
        let never = UploadStrategy::new(UploadSupport::Whole, Some(5), 2 * MIB);
        assert_eq!(modes(never, "cccr"), [WHOLE; 4]);
    }

    #[test]
    fn a_blob_of_one_chunk_is_uploaded_whole() {
        let fits = UploadStrategy::new(UploadSupport::Chunks(4 << 20), None, 4 * MIB);
        assert_eq!(fits.mode, WHOLE);
        let tiny = UploadStrategy::new(UploadSupport::Any, None, SMALLEST as u64);
        assert_eq!(modes(tiny, "ccr"), [WHOLE; 3]);
    }
}
