//! Limits on the entries and the size of a zip.

use super::entry::Record;
use super::error::Error;
use super::tree::Tree;

/// Limits on a zip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest number of entries, and of the files and directories that they make.
    pub entries: u64,
    /// The largest total size of the contents in bytes.
    pub unpacked: u64,
    /// The largest total size of the contents, as a multiple of the size of the zip. Deflate reaches 1032 for zeros.
    pub ratio: u64,
}

impl Default for Limits {
    /// 10,000 entries, 8 GiB, 200 times the size of the zip. No published package comes near these.
    fn default() -> Self {
        Self {
            entries: 10_000,
            unpacked: 8 << 30,
            ratio: 200,
        }
    }
}

impl Limits {
    /// The largest total size of the contents of a zip of `length` bytes.
    pub(super) fn most_unpacked(&self, length: u64) -> u64 {
        self.unpacked.min(length.saturating_mul(self.ratio))
    }

    /// Refuses a zip of `length` bytes whose entries exceed the limits by their names or announced sizes.
    pub(super) fn allow(&self, records: &[Record], length: u64) -> Result<(), Error> {
        let mut tree = Tree::default();
        for record in records {
            tree.add(&record.name, self.entries)?;
        }
        let limit = self.most_unpacked(length);
        let received = records
            .iter()
            .fold(0, |sum: u64, record| sum.saturating_add(record.size));
        if received > limit {
            return Err(Error::of_zip("unpacks to too much"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Archive;
    use super::super::zipfile::{executable, file, zip};
    use super::*;
    use crate::error::Category;
    use std::io::Cursor;

    #[test]
    fn the_limits_are_the_callers() {
        let bytes = zip([executable(), file("LICENSE", "demo license\n")]);
        let open = |limits| Archive::open(Cursor::new(&bytes), &limits).map(drop);
        let limits = Limits {
            entries: 2,
            unpacked: 19,
            ratio: 1,
        };
        assert!(open(limits).is_ok());
        for limits in [
            Limits {
                entries: 1,
                ..limits
            },
            Limits {
                unpacked: 18,
                ..limits
            },
            Limits { ratio: 0, ..limits },
        ] {
            let error = open(limits).unwrap_err();
            assert_eq!(error.category(), Category::Untrusted, "{limits:?}");
        }
    }
}
