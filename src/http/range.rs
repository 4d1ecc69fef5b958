//! Ranges of a body.

use reqwest::header::CONTENT_RANGE;

use super::Answer;

/// The part of the whole that a response contains (RFC 9110 section 14.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The offset of its first byte.
    pub start: u64,
    /// The length of the whole in bytes; `None` if the server does not send it.
    pub total: Option<u64>,
}

impl Answer {
    /// Parses `Content-Range`; `None` if it is absent or is not a range of bytes.
    pub fn range(&self) -> Option<Range> {
        Range::parse(&self.header(CONTENT_RANGE)?)
    }
}

impl Range {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim().strip_prefix("bytes")?.trim();
        let (span, total) = text.split_once('/').unwrap_or((text, ""));
        let (start, _) = span.split_once('-')?;
        Some(Self {
            start: start.trim().parse().ok()?,
            total: total.trim().parse().ok(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_ranges() {
        let range = |start, total| Some(Range { start, total });
        assert_eq!(Range::parse("bytes 0-0/1234"), range(0, Some(1234)));
        assert_eq!(Range::parse("bytes 7-9/*"), range(7, None));
        assert_eq!(Range::parse("bytes 7-9"), range(7, None));
        for other in ["", "bytes */10", "bytes 1/2", "items 0-1/2", "bytes x-1/2"] {
            assert_eq!(Range::parse(other), None, "{other}");
        }
    }
}
