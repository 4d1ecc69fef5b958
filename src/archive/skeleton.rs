//! What remains of a zip that was read from front to back: every byte except those of the contents.

use std::io::{self, Read, Seek, SeekFrom};

use super::end::LONGEST;

/// The most bytes that are kept. Zips with more names and comments than that are read from a file.
const MOST: usize = 1 << 20;

/// A zip of known length without its contents. Headers, descriptors, the central directory and the end can be read; to read a content is
/// an error. The last 64 KiB are whole, because a search for the end record reads them.
#[derive(Debug)]
pub struct Skeleton {
    length: u64,
    /// The position from which everything is kept.
    tail: u64,
    /// The number of bytes that have arrived.
    arrived: u64,
    /// The bytes that are kept, with their positions, in order and with gaps between them.
    kept: Vec<(u64, Vec<u8>)>,
    /// How many these are.
    size: usize,
    /// The position of the reader.
    at: u64,
}

impl Skeleton {
    /// Nothing of a zip of `length` bytes.
    pub(super) fn new(length: u64) -> Self {
        Self {
            length,
            tail: length.saturating_sub(LONGEST as u64),
            arrived: 0,
            kept: Vec::new(),
            size: 0,
            at: 0,
        }
    }

    /// The number of bytes that have arrived.
    pub(super) fn arrived(&self) -> u64 {
        self.arrived
    }

    /// Takes the next bytes, which belong to no content. `None` if these are too many.
    pub(super) fn keep(&mut self, bytes: &[u8]) -> Option<()> {
        self.size += bytes.len();
        if self.size > MOST || bytes.len() as u64 > self.length.saturating_sub(self.arrived) {
            return None;
        }
        match self.kept.last_mut() {
            Some((start, kept)) if *start + kept.len() as u64 == self.arrived => {
                kept.extend_from_slice(bytes);
            }
            _ => self.kept.push((self.arrived, bytes.to_vec())),
        }
        self.arrived += bytes.len() as u64;
        Some(())
    }

    /// Takes the next bytes, which belong to a content. `None` if these are too many.
    pub(super) fn pass(&mut self, bytes: &[u8]) -> Option<()> {
        let before = self.tail.saturating_sub(self.arrived);
        let before = usize::try_from(before).unwrap_or(usize::MAX);
        let (content, tail) = bytes.split_at_checked(before).unwrap_or((bytes, &[]));
        self.arrived += content.len() as u64;
        match tail {
            [] => Some(()),
            tail => self.keep(tail),
        }
    }
}

impl Read for Skeleton {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at >= self.length {
            return Ok(0);
        }
        let after = self.kept.partition_point(|(start, _)| *start <= self.at);
        let part = after.checked_sub(1).and_then(|index| {
            let (start, kept) = self.kept.get(index)?;
            kept.get(usize::try_from(self.at - start).ok()?..)
        });
        let Some(mut part) = part.filter(|part| !part.is_empty()) else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        let count = part.read(buffer)?;
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for Skeleton {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.length.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(skeleton: &mut Skeleton, from: u64, count: u64) -> io::Result<Vec<u8>> {
        skeleton.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        skeleton.take(count).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    #[test]
    fn everything_but_the_contents_can_be_read() {
        let tail = LONGEST as u64;
        let mut skeleton = Skeleton::new(tail + 9);
        skeleton.keep(b"ab").unwrap();
        skeleton.keep(b"cd").unwrap();
        skeleton.pass(b"ef").unwrap();
        skeleton.keep(b"g").unwrap();
        skeleton.pass(b"hijk").unwrap();
        skeleton.pass(&vec![b'x'; LONGEST - 2]).unwrap();
        assert_eq!(skeleton.arrived(), tail + 9);
        assert!(skeleton.keep(b"y").is_none(), "longer than announced");
        for (from, count, expected) in [
            (0, 4, Some("abcd")),
            (1, 2, Some("bc")),
            (3, 2, None),
            (4, 1, None),
            (6, 1, Some("g")),
            (6, 2, None),
            (8, 1, None),
            (9, 3, Some("jkx")),
            (tail + 8, 9, Some("x")),
            (tail + 9, 9, Some("")),
            (u64::MAX, 9, Some("")),
        ] {
            let bytes = read(&mut skeleton, from, count).ok();
            let text = bytes.map(|bytes| String::from_utf8(bytes).unwrap());
            assert_eq!(text.as_deref(), expected, "{from} {count}");
        }
        assert_eq!(skeleton.seek(SeekFrom::End(-1)).unwrap(), tail + 8);
        assert_eq!(skeleton.seek(SeekFrom::Current(-1)).unwrap(), tail + 7);
        assert!(skeleton.seek(SeekFrom::Current(-1 << 40)).is_err());
    }

    #[test]
    fn it_keeps_a_megabyte() {
        let mut skeleton = Skeleton::new(1 << 40);
        skeleton.keep(&vec![0; MOST]).unwrap();
        skeleton.pass(&vec![0; MOST]).unwrap();
        assert!(skeleton.keep(b"x").is_none());
    }
}
