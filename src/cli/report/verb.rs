//! The verbs of summaries.

/// The verb of the summary.
#[derive(Clone, Copy)]
pub(in super::super) struct Verb {
    pub(super) done: &'static str,
    pub(super) planned: &'static str,
}

pub(in super::super) const PUSH: Verb = Verb {
    done: "Pushed",
    planned: "Would push",
};
pub(in super::super) const MIRROR: Verb = Verb {
    done: "Mirrored",
    planned: "Would mirror",
};
pub(in super::super) const COPY: Verb = Verb {
    done: "Copied",
    planned: "Would copy",
};
pub(super) const INSTALL: Verb = Verb {
    done: "Installed",
    planned: "Would install",
};
