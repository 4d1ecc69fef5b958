//! What is wrong with the name of an entry.

use std::fmt;

/// Why the name of an entry is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An empty name.
    Empty,
    /// Longer than file systems allow.
    Long {
        /// The allowed number of bytes, of the whole name or of one element.
        limit: usize,
        /// Its length in bytes.
        received: usize,
    },
    /// Not UTF-8.
    Encoding,
    /// A control character. A line break, for example, could forge a line of `h1`.
    Control,
    /// An invisible or bidirectional character. Two different names would look the same.
    Invisible,
    /// One of `<>"|?*`, which Windows forbids in file names.
    Reserved,
    /// An element `..`, after a slash or backslash.
    Parent,
    /// A leading slash.
    Absolute,
    /// A backslash, which is a separator only on Windows.
    Backslash,
    /// A colon, which means a drive or an alternate stream on Windows.
    Colon,
    /// An element that is empty or `.`, so that a file would have two names.
    Element,
    /// An element that Windows reserves for a device, such as `nul.txt`.
    Device,
    /// An element that ends with a dot or space, which Windows removes.
    Ending,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Long { limit, received } => {
                return write!(
                    f,
                    "has a name that is longer than file systems allow\n  expected at most {limit} bytes\n  received {received}"
                );
            }
            Self::Empty => "has no name",
            Self::Encoding => "has a name that is not UTF-8",
            Self::Control => "has a control character in its name",
            Self::Invisible => "has an invisible character in its name",
            Self::Reserved => "has one of `<>\"|?*` in its name, which Windows reserves",
            Self::Parent => "has an element `..`",
            Self::Absolute => "has an absolute name",
            Self::Backslash => "has a backslash in its name",
            Self::Colon => "has a colon in its name",
            Self::Element => "has an empty element or an element `.`",
            Self::Device => "has a name that Windows reserves for a device",
            Self::Ending => "has an element that ends in a dot or a space",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_says_which_limit_it_exceeds() {
        let long = Fault::Long {
            limit: 255,
            received: 256,
        };
        assert_eq!(
            long.to_string(),
            "has a name that is longer than file systems allow\n  expected at most 255 bytes\n  received 256"
        );
    }
}
