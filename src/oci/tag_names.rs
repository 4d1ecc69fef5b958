//! The names of the tags that a repository has.

use std::collections::BTreeSet;

use super::Tag;

/// The names of a repository's tags. Other tools may have written names that are not valid tags.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagNames(BTreeSet<String>);

impl TagNames {
    /// Whether the repository has this tag.
    pub fn has(&self, tag: &Tag) -> bool {
        self.0.contains(tag.as_str())
    }

    /// Whether any version has evidence. Then the repository also has the blobs that all evidence shares.
    pub fn has_evidence(&self) -> bool {
        let is_evidence = |name: &String| Tag::parse(name).is_ok_and(|tag| tag.is_evidence());
        self.0.iter().any(is_evidence)
    }

    /// The names, sorted.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

impl FromIterator<String> for TagNames {
    fn from_iter<I: IntoIterator<Item = String>>(names: I) -> Self {
        Self(names.into_iter().collect())
    }
}
