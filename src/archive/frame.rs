//! Checks the end of a zip while its bytes are streamed.
//!
//! The end of a zip contains the position of the central directory. From it, tfoci detects a truncated zip, a web page instead of a zip,
//! and bytes after the end. The errors are those of [`Archive::open`](super::Archive::open), which also checks the entries.

use super::Error;
use super::end::{self, FRONT, LONGEST};

/// The end of a streamed zip of known length. It stores at most the 64 KiB that can contain the end records.
#[derive(Debug)]
pub struct Frame {
    length: u64,
    front: Vec<u8>,
    tail: Vec<u8>,
}

impl Frame {
    /// Starts the check of a zip of `length` bytes.
    pub fn new(length: u64) -> Self {
        Self {
            length,
            front: Vec::new(),
            tail: Vec::new(),
        }
    }

    /// Processes the next bytes, which begin at this offset. The caller checks their total length.
    pub fn pass(&mut self, at: u64, bytes: &[u8]) {
        let missing = FRONT.saturating_sub(self.front.len());
        self.front.extend(bytes.iter().take(missing));
        let start = self.length.saturating_sub(LONGEST as u64);
        let before = start.saturating_sub(at);
        let last = usize::try_from(before)
            .ok()
            .and_then(|before| bytes.get(before..))
            .unwrap_or_default();
        if !last.is_empty() {
            let whole = LONGEST.min(usize::try_from(self.length).unwrap_or(LONGEST));
            self.tail
                .reserve_exact(whole.saturating_sub(self.tail.len()));
            self.tail.extend_from_slice(last);
        }
    }

    /// Checks the zip after its last byte, if it has `passed` bytes.
    ///
    /// # Errors
    /// The end record is missing, or contradicts the length. The errors are those of [`Archive::open`](super::Archive::open).
    pub fn check(self, passed: u64) -> Result<(), Error> {
        end::find_in(&self.front, &self.tail, passed).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::super::hostile::cases;
    use super::super::zipfile::{executable, file, with, zip};
    use super::*;

    /// The result for these chunks.
    fn framed<'a>(length: usize, chunks: impl IntoIterator<Item = &'a [u8]>) -> Result<(), Error> {
        let mut frame = Frame::new(length as u64);
        let mut passed = 0;
        for chunk in chunks {
            frame.pass(passed, chunk);
            passed += chunk.len() as u64;
            assert!(frame.front.len() <= FRONT && frame.tail.capacity() <= LONGEST.min(length));
        }
        frame.check(passed)
    }

    /// The result of the check on a seekable file.
    fn found(bytes: &[u8]) -> Result<(), Error> {
        end::find(&mut Cursor::new(bytes), bytes.len() as u64).map(drop)
    }

    fn said(result: Result<(), Error>) -> String {
        result.map_or_else(|error| error.to_string(), |()| String::new())
    }

    /// A zip whose comment makes it longer than the stored bytes.
    fn long(comment: usize) -> Vec<u8> {
        let content: Vec<u8> = (0..70_000u32).map(|n| n as u8).collect();
        with([executable(), file("LICENSE", content)], |zip| {
            zip.comment = vec![b'x'; comment];
        })
    }

    #[test]
    fn a_whole_zip_passes_wherever_it_is_cut_into_pieces() {
        for bytes in [
            zip([executable()]),
            with([executable()], |zip| zip.wide = true),
            with([executable()], |zip| zip.comment = vec![b'x'; 99]),
        ] {
            for at in 0..=bytes.len() {
                let (front, tail) = bytes.split_at(at);
                assert!(framed(bytes.len(), [front, tail]).is_ok(), "{at}");
            }
            assert!(framed(bytes.len(), bytes.chunks(1)).is_ok());
        }
        for comment in [0, 1, 0xffff] {
            let bytes = long(comment);
            let start = bytes.len() - LONGEST;
            for size in [
                1,
                3,
                4096,
                start - 1,
                start,
                start + 1,
                LONGEST,
                bytes.len(),
            ] {
                assert!(
                    framed(bytes.len(), bytes.chunks(size)).is_ok(),
                    "{comment} {size}"
                );
            }
        }
    }

    #[test]
    fn a_zip_cut_anywhere_is_refused() {
        let bytes = with([executable()], |zip| {
            (zip.wide, zip.comment) = (true, vec![b'x'; 9]);
        });
        for length in 0..bytes.len() {
            let error = framed(length, bytes[..length].chunks(5)).err();
            assert!(
                matches!(error, Some(Error::NotZip { .. } | Error::Truncated { .. })),
                "{length} {error:?}"
            );
        }
    }

    #[test]
    fn it_says_what_those_say_who_open_the_zip() {
        let mut refused = 0;
        for case in cases() {
            let result = framed(case.zip.len(), case.zip.chunks(7));
            refused += usize::from(result.is_err());
            assert_eq!(said(result), said(found(&case.zip)), "{}", case.label);
        }
        assert!(refused >= 15, "{refused}");
    }

    #[test]
    fn it_says_what_came() {
        for (bytes, wanted) in [
            (b"<html>\n<head>" as &[u8], "received `<html>�<head>`"),
            (b"PK\x03\x04", "received 4 bytes"),
            (b"PK\x05\x06\0\0", "received 6 bytes"),
        ] {
            let text = said(framed(bytes.len(), [bytes]));
            assert!(text.ends_with(wanted), "{text}");
        }
        let bytes = long(5);
        let cut = bytes.len() - 1;
        let text = said(framed(cut, bytes[..cut].chunks(1000)));
        assert!(text.ends_with(&format!("received {cut} bytes")), "{text}");
    }

    proptest! {
        #[test]
        fn how_it_comes_makes_no_difference(
            comment in 0..70usize,
            lies in (-2..3i64, -2..3i64, 0..2u16),
            wide: bool,
            after in 0..3usize,
            lost in 0..150usize,
            sizes in prop::collection::vec(1..90usize, 1..9),
        ) {
            let mut bytes = with([executable(), file("x", "y")], |zip| {
                zip.comment = vec![b'P'; comment];
                (zip.offset_lie, zip.size_lie, zip.disk) = lies;
                zip.wide = wide;
                zip.after = vec![0; after];
            });
            bytes.truncate(bytes.len().saturating_sub(lost));
            let (mut chunks, mut rest) = (Vec::new(), bytes.as_slice());
            for size in sizes.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (chunk, after) = rest.split_at(rest.len().min(*size));
                chunks.push(chunk);
                rest = after;
            }
            prop_assert_eq!(said(framed(bytes.len(), chunks)), said(found(&bytes)));
        }

        #[test]
        fn noise_never_panics(bytes: Vec<u8>, size in 1..40usize) {
            prop_assert!(framed(bytes.len(), bytes.chunks(size)).is_err());
        }
    }
}
