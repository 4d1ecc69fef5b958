//! Extra fields, which contain 64-bit sizes and may contain a second name.

use super::Error;
use super::fields::Fields;
use crate::error::Category;

/// The extra fields that change the meaning of an entry.
#[derive(Clone, Copy, Default)]
pub(super) struct Extra<'a> {
    sizes: Option<&'a [u8]>,
    unicode_path: Option<&'a [u8]>,
}

impl<'a> Extra<'a> {
    /// Reads the extra fields of the entry `name`. Refuses those that give it a different name.
    pub fn of_entry(name: &str, bytes: &'a [u8]) -> Result<Self, Error> {
        let extra = Self::read(bytes);
        let extra = extra.ok_or_else(|| {
            Error::of_entry(name, "has extra fields that cannot be read").but(Category::Malformed)
        })?;
        // Some readers use this name instead of the name in the header. A version and a CRC-32 precede it.
        let second = extra.unicode_path.map(|value| value.get(5..));
        match second.map(Option::unwrap_or_default) {
            Some(second) if second != name.as_bytes() => {
                Err(Error::of_entry(name, "has a second name"))
            }
            _ => Ok(extra),
        }
    }

    /// Parses a list of fields; `None` if a field exceeds the data or a relevant field is duplicated.
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut fields = Fields(bytes);
        let mut extra = Self::default();
        // Fewer than four bytes are padding, which alignment tools leave behind.
        while fields.0.len() >= 4 {
            let id = fields.u16()?;
            let length = fields.u16()?;
            let value = fields.bytes(length.into())?;
            let twice = match id {
                0x0001 => extra.sizes.replace(value).is_some(),
                0x7075 => extra.unicode_path.replace(value).is_some(),
                _ => false,
            };
            if twice {
                return None;
            }
        }
        Some(extra)
    }

    /// Reads the sizes and the position of the entry `name`. Those whose 32-bit fields are at their maximum are in the 64-bit field.
    pub fn widen<const N: usize>(&self, name: &str, narrow: [u32; N]) -> Result<[u64; N], Error> {
        let full = narrow.iter().filter(|n| **n == u32::MAX).count();
        let value = self.sizes.unwrap_or_default();
        // The standard lists only the numbers at their maximum. Some writers list all; then the others must be equal.
        let compact = value.len() == full * 8;
        let mut fields = Fields(value);
        let mut wide = narrow.map(u64::from);
        for number in &mut wide {
            let is_full = *number == u64::from(u32::MAX);
            if compact && !is_full {
                continue;
            }
            match fields.u64() {
                Some(value) if is_full || value == *number => *number = value,
                None if !is_full => {}
                _ => {
                    let says = "has 64-bit sizes that contradict its other sizes";
                    return Err(Error::of_entry(name, says));
                }
            }
        }
        Ok(wide)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sizes(values: &[u64]) -> Vec<u8> {
        values.iter().flat_map(|v| v.to_le_bytes()).collect()
    }

    fn widen(values: &[u64], narrow: [u32; 3]) -> Option<[u64; 3]> {
        let value = sizes(values);
        let extra = Extra {
            sizes: Some(&value),
            unicode_path: None,
        };
        extra.widen("name", narrow).ok()
    }

    #[test]
    fn full_fields_are_read_in_order() {
        const FULL: u32 = u32::MAX;
        let without = Extra::default();
        assert_eq!(without.widen("name", [1, 2, 3]).ok(), Some([1, 2, 3]));
        assert!(without.widen("name", [1, FULL]).is_err());
        assert_eq!(widen(&[9], [1, FULL, 3]), Some([1, 9, 3]));
        assert_eq!(widen(&[9, 8], [FULL, 2, FULL]), Some([9, 2, 8]));
        assert_eq!(widen(&[9, 2, 3], [FULL, 2, 3]), Some([9, 2, 3]));
        assert_eq!(widen(&[1, 2], [1, 2, 3]), Some([1, 2, 3]));
        assert_eq!(widen(&[9, 5, 3], [FULL, 2, 3]), None);
        assert_eq!(widen(&[9], [1, 2, 3]), None);
        assert_eq!(widen(&[9], [FULL, FULL, 3]), None);
    }

    #[test]
    fn broken_and_repeated_fields_are_refused() {
        let zip64 = [1, 0, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8];
        assert!(Extra::read(&zip64).is_some());
        assert!(Extra::read(&[zip64, zip64].concat()).is_none());
        assert!(Extra::read(&[7, 0, 1, 0]).is_none());
        assert!(Extra::read(&[0, 0, 0]).is_some());
    }

    proptest! {
        #[test]
        fn never_panics(bytes: Vec<u8>, narrow: [u32; 3]) {
            if let Ok(extra) = Extra::of_entry("name", &bytes) {
                let _ = extra.widen("name", narrow);
            }
        }
    }
}
