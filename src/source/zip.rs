//! Packages as sources have them.

use std::sync::Arc;
use std::task::Poll;

use super::error::Error;
use super::place::Place;
use crate::blob::{self, BlobSource, Body};
use crate::disk::temp_file::{Permit, TempFile};
use crate::release::Expected;

/// A package of a source.
#[derive(Clone, Debug)]
pub struct Zip {
    pub(super) location: Location,
    pub(super) expected: Expected,
}

#[derive(Clone, Debug)]
pub(super) enum Location {
    Remote(Box<Place>),
    /// Nobody says what it is, so it was fetched beforehand.
    TempFile {
        file: TempFile,
        /// Lasts as long as the file.
        _permit: Arc<Permit>,
    },
}

impl Zip {
    /// What the package must turn out to be.
    pub(super) fn promised(&self) -> Expected {
        self.expected
    }
}

impl BlobSource for Zip {
    fn expected(&self) -> Expected {
        self.expected
    }

    fn can_be_cut(&self) -> bool {
        matches!(self.location, Location::Remote(_))
    }

    fn is_unopened(&self) -> bool {
        true
    }

    async fn open(&self, from: u64) -> Result<Body, blob::Error> {
        let place = match &self.location {
            Location::Remote(place) => place,
            Location::TempFile { file, .. } => {
                let mut reader = file.reader(from);
                return Ok(Body::new(futures_util::stream::poll_fn(move |_| {
                    // As of other local files.
                    Poll::Ready(reader.next_block().map_err(blob::Error::Disk).transpose())
                })));
            }
        };
        let answer = place.ask(from, None).await.map_err(|error| match error {
            Error::Http(error) => blob::Error::Http(error),
            error => blob::Error::NotGiven {
                category: error.category(),
                source: Box::new(error),
            },
        })?;
        blob::promised(answer, from, self.expected.size)
    }
}
