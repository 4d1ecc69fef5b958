//! A line of a checksum document that names a file in the form of another tool.

/// A line that clients do not read as one of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherLine {
    /// Its number, from 1.
    pub number: usize,
    /// What it says, without white space at its ends. A long one is cut.
    pub text: String,
}
