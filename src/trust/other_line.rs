//! A line of a checksum document that names a file in the form of another tool.

/// A line that clients do not read as one of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherLine {
    /// Its number, from 1.
    pub number: usize,
    /// What it says, without white space at its ends. A long one is cut.
    pub text: String,
    /// Whether only the encoding of the document is wrong: UTF-16, or a byte order mark.
    pub is_encoding: bool,
}
