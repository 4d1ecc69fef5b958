//! The verbs of summaries.

/// The verb of the summary.
#[derive(Clone, Copy)]
pub(in super::super) struct Verb {
    pub(super) done: &'static str,
    pub(super) planned: &'static str,
    /// Whether a run has one version of each provider. The report then names providers, and prints the hashes for lock files.
    pub(super) has_one_version: bool,
}

pub(in super::super) const PUSH: Verb = Verb {
    done: "Pushed",
    planned: "Would push",
    has_one_version: false,
};
pub(in super::super) const MIRROR: Verb = Verb {
    done: "Mirrored",
    planned: "Would mirror",
    has_one_version: false,
};
pub(in super::super) const COPY: Verb = Verb {
    done: "Copied",
    planned: "Would copy",
    has_one_version: false,
};
pub(super) const INSTALL: Verb = Verb {
    done: "Installed",
    planned: "Would install",
    has_one_version: true,
};
pub(super) const SITE: Verb = Verb {
    done: "Wrote",
    planned: "Would write",
    has_one_version: false,
};
