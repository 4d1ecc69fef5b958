//! What is wrong with the name of an entry.

use std::fmt;

/// What is wrong with the name of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No name.
    Empty,
    /// More than 1024 bytes, or 255 in one element.
    Long,
    /// Not UTF-8.
    Encoding,
    /// A control character, such as a line break, which could forge a line of `h1`.
    Control,
    /// A character that is not seen, or that turns the direction of text: two names would look the same.
    Invisible,
    /// One of `<>"|?*`, which no file of Windows has in its name.
    Reserved,
    /// An element `..`, in either slash direction.
    Parent,
    /// A leading slash.
    Absolute,
    /// A backslash: a separator on Windows, a letter elsewhere.
    Backslash,
    /// A colon: a drive or a hidden stream on Windows.
    Colon,
    /// An element that is empty or `.`: another spelling of another name.
    Element,
    /// An element that Windows reserves for a device, such as `nul.txt`.
    Device,
    /// An element that ends in a dot or a space, which Windows drops.
    Ending,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "has no name",
            Self::Long => "has a name that is longer than file systems allow",
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
