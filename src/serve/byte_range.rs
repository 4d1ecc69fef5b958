//! The `Range` header: a part of a package.

use hyper::HeaderMap;
use hyper::header::{IF_RANGE, RANGE};

/// The requested bytes of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ByteRange {
    pub(super) start: u64,
    /// The position after the last byte.
    pub(super) end: u64,
}

/// The package has none of the requested bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotSatisfiable;

impl ByteRange {
    /// The range of a whole package.
    pub(super) fn whole(size: u64) -> Self {
        Self {
            start: 0,
            end: size,
        }
    }

    /// The range that a request selects with `Range`; `None` for the whole package. Several ranges, and units other than bytes, are ignored, as
    /// HTTP allows.
    pub(super) fn requested(
        headers: &HeaderMap,
        size: u64,
        etag: &str,
    ) -> Result<Option<Self>, NotSatisfiable> {
        let Some(text) = headers.get(RANGE).and_then(|range| range.to_str().ok()) else {
            return Ok(None);
        };
        if headers
            .get(IF_RANGE)
            .is_some_and(|known| known.as_bytes() != etag.as_bytes())
        {
            return Ok(None);
        }
        let Some((first, last)) = text
            .strip_prefix("bytes=")
            .and_then(|range| range.split_once('-'))
        else {
            return Ok(None);
        };
        let (first, last) = (first.trim(), last.trim());
        let number = |text: &str| text.parse::<u64>().ok();
        let range = match (number(first), number(last)) {
            (Some(start), None) if last.is_empty() => Self { start, end: size },
            (Some(start), Some(last)) if start <= last => Self {
                start,
                end: last.saturating_add(1).min(size),
            },
            (None, Some(length)) if first.is_empty() && length > 0 => Self {
                start: size.saturating_sub(length),
                end: size,
            },
            (None, Some(0)) if first.is_empty() => return Err(NotSatisfiable),
            _ => return Ok(None),
        };
        match range.start < range.end {
            true => Ok(Some(range)),
            false => Err(NotSatisfiable),
        }
    }

    pub(super) fn length(self) -> u64 {
        self.end.saturating_sub(self.start)
    }
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    #[test]
    fn ranges() {
        let read = |text: &str| {
            let mut request = HeaderMap::new();
            request.insert(RANGE, HeaderValue::from_str(text).unwrap());
            ByteRange::requested(&request, 100, "\"x\"")
                .map(|range| range.map(|range| (range.start, range.end)))
        };
        for (text, expected) in [
            ("bytes=0-", Ok(Some((0, 100)))),
            ("bytes=10-19", Ok(Some((10, 20)))),
            ("bytes=90-200", Ok(Some((90, 100)))),
            ("bytes=-10", Ok(Some((90, 100)))),
            ("bytes=-200", Ok(Some((0, 100)))),
            ("bytes=100-", Err(NotSatisfiable)),
            ("bytes=-0", Err(NotSatisfiable)),
            ("bytes=20-10", Ok(None)),
            ("bytes=0-1,3-4", Ok(None)),
            ("lines=0-1", Ok(None)),
            ("bytes=x-", Ok(None)),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }
}
