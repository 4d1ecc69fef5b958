//! Generated zips, in the pieces in which they arrive.

use std::collections::VecDeque;
use std::io::{self, BufRead, Read, Write as _};

use proptest::prelude::*;

use super::zipfile::{File, directory, file};

/// Gives a zip in pieces.
pub struct Pieces(VecDeque<Vec<u8>>);

impl Pieces {
    /// Cuts bytes into pieces of these sizes, again and again.
    pub fn of(bytes: &[u8], sizes: &[usize]) -> Self {
        let (mut pieces, mut rest) = (VecDeque::new(), bytes);
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, after) = rest.split_at(rest.len().min((*size).max(1)));
            pieces.push_back(piece.to_vec());
            rest = after;
        }
        Self(pieces)
    }
}

impl BufRead for Pieces {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        Ok(self.0.front().map_or(&[], Vec::as_slice))
    }

    fn consume(&mut self, count: usize) {
        if let Some(piece) = self.0.front_mut() {
            piece.drain(..count);
            if piece.is_empty() {
                self.0.pop_front();
            }
        }
    }
}

impl Read for Pieces {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        panic!("a stream uses the buffer")
    }
}

/// A file whose content is really compressed.
pub fn squeezed(name: &str, content: &[u8]) -> File {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(content).unwrap();
    let data = encoder.finish().unwrap();
    let compressed = data.len() as u32;
    let mut file = file(name, content).both(|header| {
        header.method = 8;
        header.compressed = compressed;
    });
    file.data = data;
    file
}

/// Any file that an honest writer may write.
pub fn any_file() -> impl Strategy<Value = File> {
    let name = "[a-c]{1,2}(/[a-c]{1,2}){0,2}";
    let content = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..99),
        (any::<u8>(), 0..200_000usize).prop_map(|(byte, count)| vec![byte; count / 40]),
        (any::<u32>(), 0..60_000u32).prop_map(|(seed, count)| (0..count)
            .map(|n| (n.wrapping_mul(seed) >> 24) as u8)
            .collect()),
    ];
    let mode = prop_oneof![Just(0o100644), Just(0o100755), Just(0o100600)];
    (name, content, mode, 0..6).prop_map(|(name, content, mode, how)| {
        let squeezed = squeezed(&name, &content);
        match how {
            0 => file(name, content),
            1 => file(name, content).wide(),
            2 => squeezed.wide(),
            3 => squeezed.streamed(),
            4 => directory(&format!("{name}/")),
            _ => squeezed,
        }
        .mode(if how == 4 { 0o040755 } else { mode })
    })
}
