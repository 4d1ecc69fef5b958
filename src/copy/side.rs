//! Sides: whether a problem lies with the store that is copied from, or with the one that is copied to.

use crate::oci::Part;
use crate::outcome::Problem;
use crate::platform::Platform;
use crate::store::Error;

/// A problem, and whose it is.
#[derive(Debug)]
pub(super) struct Trouble {
    pub(super) side: Side,
    /// The platform, where it is about one package.
    pub(super) platform: Option<Platform>,
    pub(super) problem: Problem,
}

/// One of the two stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Source,
    Destination,
}

impl Trouble {
    /// Something that the store that is copied from does not give, or gives otherwise than it should.
    pub(super) fn unread(error: Error) -> Self {
        Self::source(Problem::Unread(error))
    }

    /// Any problem with what was read.
    pub(super) fn source(problem: impl Into<Problem>) -> Self {
        Self {
            side: Side::Source,
            platform: None,
            problem: problem.into(),
        }
    }

    /// A problem of the store that is copied to.
    pub(super) fn destination(problem: impl Into<Problem>) -> Self {
        Self {
            side: Side::Destination,
            platform: None,
            problem: problem.into(),
        }
    }

    /// A problem with a blob on its way, of which a store only knows that it is one: bytes that cannot be had, or are the wrong ones,
    /// are the source's.
    pub(super) fn on_the_way(problem: impl Into<Problem>, what: Part) -> Self {
        match problem.into() {
            Problem::Store(Error::Blob {
                what: Part::Blob,
                digest,
                source,
            }) => Self::unread(Error::reading(what, digest, source)),
            Problem::Store(Error::Missing {
                what: Part::Blob,
                digest,
            }) => Self::unread(Error::Missing { what, digest }),
            problem => Self::destination(problem),
        }
    }

    /// The same, about one package.
    pub(super) fn about(mut self, platform: &Platform) -> Self {
        self.platform = Some(platform.clone());
        self
    }
}
