//! Configuration files: the clients' CLI configuration, Terraform modules, and tfoci's own mirror file.
//!
//! This module only parses bytes into structs. Other modules find the files and decide which of them to use.

mod block;
pub mod cli;
mod document;
mod error;
mod hcl;
pub mod helper;
mod json;
pub mod mirror;
pub mod module;
pub mod prefix;

pub use error::Error;
pub use helper::HelperName;
pub use mirror::MirrorFile;
pub use prefix::RepositoryPrefix;
