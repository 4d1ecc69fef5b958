//! Splits OpenPGP data into packets, and repairs signature packets with wrong lengths.
//!
//! A number in OpenPGP is preceded by its length in bits. Some programs always write the full length of the key, even if the value is
//! shorter, and many real signatures are like that. Clients accept them, but Sequoia treats such a packet as unknown. The length is not
//! signed, so tfoci can correct it. (RFC 4880: 3.2, 4.2, 5.2.3.)

/// A detached signature: one packet with a header of its own.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SignaturePacket {
    /// Header and body.
    pub bytes: Vec<u8>,
    /// Whether a declared length was corrected.
    pub repaired: bool,
}

pub(super) const SIGNATURE: u8 = 2;

/// The most packets of one file, because each costs arithmetic. Real files have one.
const MOST: usize = 16;

/// Reads the next packet: its tag and body; `None` if it is not a packet of known length. Partial lengths occur in messages only, not in
/// keys or signatures.
pub(super) fn next<'a>(rest: &mut &'a [u8]) -> Option<(u8, &'a [u8])> {
    let first = number(rest, 1)?;
    let (tag, length) = match first & 0xc0 {
        0xc0 => (first & 0x3f, new_length(rest)?),
        0x80 => {
            let length = match first & 3 {
                0 => number(rest, 1)?,
                1 => number(rest, 2)?,
                2 => number(rest, 4)?,
                _ => rest.len(),
            };
            (first >> 2 & 0x0f, length)
        }
        _ => return None,
    };
    Some((u8::try_from(tag).ok()?, take(rest, length)?))
}

/// The packets of a binary signature file; `None` unless it is a sequence of 1 to 16 signature packets.
pub(super) fn signatures(file: &[u8]) -> Option<Vec<SignaturePacket>> {
    let mut rest = file;
    let mut found = Vec::new();
    while !rest.is_empty() {
        let (SIGNATURE, body) = next(&mut rest)? else {
            return None;
        };
        if found.len() == MOST || signatures_in(body) != Some(1) {
            return None;
        }
        let repaired = repair(body);
        found.push(SignaturePacket {
            repaired: repaired.is_some(),
            bytes: with_header(SIGNATURE, repaired.as_deref().unwrap_or(body))?,
        });
    }
    (1..=MOST).contains(&found.len()).then_some(found)
}

/// Builds a packet with a header that every reader understands.
pub(super) fn with_header(tag: u8, body: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = vec![0xc0 | tag, 0xff];
    bytes.extend(u32::try_from(body.len()).ok()?.to_be_bytes());
    bytes.extend(body);
    Some(bytes)
}

/// The number of signatures in a signature packet: itself and each embedded one, which has to be verified too. `None` if it has too many
/// subpackets, or invalid lengths.
pub(super) fn signatures_in(body: &[u8]) -> Option<usize> {
    let mut rest = body;
    let size = match number(&mut rest, 1)? {
        4 => 2,
        6 => 4,
        // Version 3 has no subpackets; readers know no others.
        _ => return Some(1),
    };
    take(&mut rest, 3)?;
    let (mut subpackets, mut embedded) = (0usize, 0usize);
    for _area in ["hashed", "unhashed"] {
        let length = number(&mut rest, size)?;
        let mut area = take(&mut rest, length)?;
        while !area.is_empty() {
            let length = new_length_of_subpacket(&mut area)?;
            let content = take(&mut area, length)?;
            subpackets += 1;
            embedded += usize::from(content.first().is_some_and(|kind| kind & 0x7f == EMBEDDED));
        }
    }
    (subpackets <= MOST_SUBPACKETS).then_some(1 + embedded)
}

/// The signature type of a signature packet.
pub(super) fn kind_of_signature(body: &[u8]) -> Option<u8> {
    let place = match body.first()? {
        3 => 2,
        _ => 1,
    };
    body.get(place).copied()
}

/// The kind of subpacket that holds another signature.
const EMBEDDED: u8 = 32;

/// The most subpackets of one signature. Real ones have fewer than 20.
const MOST_SUBPACKETS: usize = 128;

/// Subpackets have no partial lengths.
fn new_length_of_subpacket(rest: &mut &[u8]) -> Option<usize> {
    match number(rest, 1)? {
        short @ 0..192 => Some(short),
        high @ 192..255 => Some(((high - 192) << 8) + number(rest, 1)? + 192),
        _ => number(rest, 4),
    }
}

/// Partial lengths, which begin with 224 to 254, are not for signatures.
fn new_length(rest: &mut &[u8]) -> Option<usize> {
    match number(rest, 1)? {
        short @ 0..192 => Some(short),
        high @ 192..224 => Some(((high - 192) << 8) + number(rest, 1)? + 192),
        255 => number(rest, 4),
        _ => None,
    }
}

/// The body with correct lengths; `None` if they are correct already, or the format is unknown. Of the versions with such numbers, clients
/// read version 4 only.
fn repair(body: &[u8]) -> Option<Vec<u8>> {
    let mut rest = body;
    let &[4, _kind, algorithm, _hash] = take(&mut rest, 4)? else {
        return None;
    };
    for _area in ["hashed", "unhashed"] {
        let length = number(&mut rest, 2)?;
        take(&mut rest, length)?;
    }
    take(&mut rest, 2)?;
    let numbers = match algorithm {
        1 | 3 => 1,        // RSA
        17 | 19 | 22 => 2, // DSA, ECDSA, EdDSA
        _ => return None,
    };
    let mut repaired = body.strip_suffix(rest)?.to_vec();
    for _ in 0..numbers {
        let bits = number(&mut rest, 2)?;
        let value = take(&mut rest, bits.div_ceil(8))?;
        let zeros = value.iter().take_while(|byte| **byte == 0).count();
        let (_, value) = value.split_at_checked(zeros)?;
        let unused = value.first().map_or(0, |byte| byte.leading_zeros());
        let bits = value.len() * 8 - usize::try_from(unused).ok()?;
        repaired.extend(u16::try_from(bits).ok()?.to_be_bytes());
        repaired.extend(value);
    }
    (rest.is_empty() && repaired != body).then_some(repaired)
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(taken)
}

/// A number of at most four bytes, the highest first.
fn number(rest: &mut &[u8], length: usize) -> Option<usize> {
    let bytes = take(rest, length)?;
    Some(
        bytes
            .iter()
            .fold(0, |sum, byte| sum << 8 | usize::from(*byte)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A version 4 body with empty areas.
    fn body(algorithm: u8, numbers: &[u8]) -> Vec<u8> {
        let mut body = vec![4, 0, algorithm, 8, 0, 0, 0, 1, 0, 0xab, 0xcd];
        body.extend(numbers);
        body
    }

    fn packet(header: &[u8], body: &[u8]) -> Vec<u8> {
        [header, body].concat()
    }

    fn numbers_after(algorithm: u8, numbers: &[u8]) -> Option<Vec<u8>> {
        let body = body(algorithm, numbers);
        let before = body.len() - numbers.len();
        repair(&body).map(|repaired| repaired[before..].to_vec())
    }

    #[test]
    fn wrong_lengths_are_put_right() {
        // Declared: 16 bits. Value: 9 bits.
        assert_eq!(numbers_after(1, &[0, 16, 1, 2]), Some(vec![0, 9, 1, 2]));
        // A leading zero byte is no part of a number.
        assert_eq!(numbers_after(1, &[0, 16, 0, 2]), Some(vec![0, 2, 2]));
        // The second of two.
        assert_eq!(
            numbers_after(17, &[0, 1, 1, 0, 8, 1]),
            Some(vec![0, 1, 1, 0, 1, 1])
        );
    }

    #[test]
    fn everything_else_is_left_alone() {
        assert_eq!(numbers_after(1, &[0, 9, 1, 2]), None);
        assert_eq!(numbers_after(1, &[0, 16, 1]), None);
        assert_eq!(numbers_after(1, &[0, 8, 1, 2]), None);
        assert_eq!(numbers_after(27, &[0, 16, 1, 2]), None);
        assert_eq!(repair(&[3, 5, 0]), None);
        assert_eq!(repair(&[]), None);
    }

    #[test]
    fn headers_of_both_formats_and_several_packets() {
        let good = body(1, &[0, 9, 1, 2]);
        let bad = body(1, &[0, 16, 1, 2]);
        let length = u8::try_from(good.len()).expect("a short body");
        let file = [
            packet(&[0xc2, length], &good),
            packet(&[0xc2, 0xff, 0, 0, 0, length], &bad),
            packet(&[0x88, length], &good),
            packet(&[0x89, 0, length], &bad),
            packet(&[0x8b], &good),
        ]
        .concat();
        let found = signatures(&file).expect("five packets");
        let repaired: Vec<bool> = found.iter().map(|packet| packet.repaired).collect();
        assert_eq!(repaired, [false, true, false, true, false]);
        let same = with_header(SIGNATURE, &good).expect("a header");
        assert!(found.iter().all(|packet| packet.bytes == same));
    }

    #[test]
    fn lengths_of_two_bytes() {
        let mut long = body(1, &[0, 9, 1, 2]);
        long.resize(300, 0);
        let file = packet(&[0xc2, 192, 108], &long);
        assert_eq!(signatures(&file).map(|found| found.len()), Some(1));
    }

    #[test]
    fn other_packets_partial_lengths_and_text_are_refused() {
        let good = body(1, &[0, 9, 1, 2]);
        for header in [
            &[0xc6, 15][..],
            &[0xc2, 0xe4],
            &[0xc2, 99],
            &[0x42, 15],
            b"-----",
        ] {
            assert_eq!(signatures(&packet(header, &good)), None, "{header:?}");
        }
        assert_eq!(signatures(&[]), None);
        assert_eq!(
            signatures(&with_header(SIGNATURE, &good).expect("a header").repeat(17)),
            None
        );
    }

    /// A version 4 signature with these subpackets.
    fn with_subpackets(hashed: &[u8]) -> Vec<u8> {
        let length = u16::try_from(hashed.len()).expect("a short area");
        let mut body = vec![4, 0, 1, 8];
        body.extend(length.to_be_bytes());
        body.extend(hashed);
        body.extend([0, 0, 0xab, 0xcd, 0, 1, 1]);
        body
    }

    #[test]
    fn subpackets_are_counted_and_embedded_signatures_count_as_signatures() {
        let count = |hashed: &[u8]| signatures_in(&with_subpackets(hashed));
        assert_eq!(count(&[]), Some(1));
        assert_eq!(count(&[2, 16, 0].repeat(128)), Some(1));
        assert_eq!(count(&[2, 16, 0].repeat(129)), None);
        assert_eq!(count(&[2, EMBEDDED, 0].repeat(7)), Some(8));
        assert_eq!(count(&[2, 0x80 | EMBEDDED, 0]), Some(2));
        assert_eq!(count(&[9, 16, 0]), None);
        assert_eq!(count(&[255, 255, 255, 255, 255, 16]), None);
        let embedded = with_subpackets(&[2, EMBEDDED, 0]);
        let file = with_header(SIGNATURE, &embedded).expect("a header");
        assert_eq!(signatures(&file), None);
    }

    proptest! {
        #[test]
        fn never_panics_and_reads_what_it_wrote(file: Vec<u8>, numbers: Vec<u8>, algorithm in 0u8..30) {
            let _ = signatures(&file);
            let written = with_header(SIGNATURE, &body(algorithm, &numbers)).expect("a header");
            for packet in signatures(&written).expect("one packet") {
                let again = signatures(&packet.bytes).expect("one packet");
                prop_assert_eq!(again, vec![SignaturePacket { repaired: false, bytes: packet.bytes }]);
            }
        }
    }
}
