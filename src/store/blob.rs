//! A blob in a store.

use super::layout::LayoutBlob;
use super::registry::RegistryBlob;
use crate::blob::{self, BlobLocation, BlobSource, Body};
use crate::release::Expected;

/// A blob in a store of any kind.
#[derive(Clone, Debug)]
pub enum StoreBlob {
    /// A file of a layout.
    Layout(LayoutBlob),
    /// A blob of a registry.
    Registry(RegistryBlob),
}

/// Calls the same method on whichever variant it is.
macro_rules! either {
    ($self:expr, $store:ident => $said:expr) => {
        match $self {
            Self::Layout($store) => $said,
            Self::Registry($store) => $said,
        }
    };
}

impl BlobSource for StoreBlob {
    fn expected(&self) -> Expected {
        either!(self, blob => blob.expected())
    }

    fn may_end_early(&self) -> bool {
        either!(self, blob => blob.may_end_early())
    }

    fn location(&self) -> Option<BlobLocation<'_>> {
        either!(self, blob => blob.location())
    }

    async fn open(&self, from: u64) -> Result<Body, blob::Error> {
        either!(self, blob => blob.open(from).await)
    }
}
