//! The languages of configuration files: HCL 1 and JSON as one tree, and HCL 2 as an [`outline`].
//!
//! | language | files | what a reader gets |
//! | --- | --- | --- |
//! | HCL 1, JSON | the clients' CLI configuration | a tree of blocks and values |
//! | HCL 2 | modules, lock files | blocks and attributes, whose expressions stay text |
//!
//! The meaning of blocks and arguments is decided in [`config`](crate::config) and [`lockfile`](crate::lockfile). JSON that programs
//! exchange is read by [`json`](crate::json).

mod block;
mod document;
mod error;
mod hcl1;
mod json;
pub mod outline;

pub(crate) use block::{Block, Member, Section, Value};
pub(crate) use document::parse;
pub use error::Error;
