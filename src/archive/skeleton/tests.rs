use std::io::Cursor;

use proptest::prelude::*;

use super::super::hostile::cases;
use super::super::zipfile::{executable, file, with, zip};
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

/// The result of the check of the end for these chunks.
fn framed<'a>(length: usize, chunks: impl IntoIterator<Item = &'a [u8]>) -> Result<(), Error> {
    let mut skeleton = Skeleton::new(length as u64);
    for chunk in chunks {
        skeleton.pass_by(chunk);
        assert!(skeleton.size <= LONGEST.min(length));
    }
    skeleton.check_end()
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
    let bytes = with([executable()], |zip| zip.comment = vec![b'x'; 9]);
    for length in 0..bytes.len() {
        let error = framed(length, bytes[..length].chunks(5)).err();
        assert!(matches!(error, Some(Error::NotZip)), "{length} {error:?}");
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
