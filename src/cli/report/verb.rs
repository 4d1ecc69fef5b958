//! The verbs of summaries.

/// The verb of the summary.
#[derive(Clone, Copy)]
pub(in super::super) struct Verb {
    pub(super) done: &'static str,
    pub(super) planned: &'static str,
    /// Whether the hashes of packages are printed, for users who compare them with lock files.
    pub(super) prints_hashes: bool,
}

pub(in super::super) const PUSH: Verb = Verb {
    done: "Pushed",
    planned: "Would push",
    prints_hashes: false,
};
pub(in super::super) const MIRROR: Verb = Verb {
    done: "Mirrored",
    planned: "Would mirror",
    prints_hashes: false,
};
pub(in super::super) const COPY: Verb = Verb {
    done: "Copied",
    planned: "Would copy",
    prints_hashes: false,
};
pub(super) const INSTALL: Verb = Verb {
    done: "Installed",
    planned: "Would install",
    prints_hashes: true,
};
pub(super) const SITE: Verb = Verb {
    done: "Wrote",
    planned: "Would write",
    prints_hashes: false,
};
