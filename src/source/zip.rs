//! Packages as sources have them.

use std::sync::Arc;

use tempfile::TempPath;

use super::error::Error;
use super::place::Place;
use crate::blob::{self, BlobSource, Body};
use crate::hash::PackageHash;
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
    /// Its server does not say how long it is, so it was fetched beforehand.
    Spooled(Arc<TempPath>),
}

pub(super) fn list(hashes: &[PackageHash]) -> String {
    let texts: Vec<String> = hashes.iter().map(PackageHash::to_string).collect();
    texts.join(", ")
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
            Location::Spooled(path) => {
                let file = blob::File {
                    path: path.to_path_buf(),
                    expected: self.expected,
                };
                return file.open(from).await;
            }
        };
        let answer = place.ask(from).await.map_err(|error| match error {
            Error::Http(error) => blob::Error::Http(error),
            error => blob::Error::NotGiven {
                category: error.category(),
                source: Box::new(error),
            },
        })?;
        Ok(blob::received(answer, from))
    }
}
