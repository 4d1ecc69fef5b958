//! Hints about a run that a signal interrupted.

/// How much of a run that writes is done.
pub(in crate::cli) enum Extent {
    /// Some packages, as text.
    Some(String),
    /// No package of a store.
    NothingTagged,
    /// No package of a directory.
    NothingWritten,
}

pub(in crate::cli) fn hint(extent: &Extent) -> String {
    match extent {
        Extent::Some(done) => {
            format!("{done} packages are there; run the same command again to go on")
        }
        Extent::NothingTagged => {
            "no incomplete version was tagged: run the same command again".to_owned()
        }
        Extent::NothingWritten => {
            "clients see nothing incomplete: run the same command again".to_owned()
        }
    }
}
