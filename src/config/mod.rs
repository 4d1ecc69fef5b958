//! Configuration files: the clients' CLI configuration, Terraform modules, and tfoci's own mirror file.
//!
//! This module only parses bytes into structs. Other modules find the files and decide which of them to use.

pub mod cli;
mod error;
pub mod helper;
pub mod mirror;
pub mod module;
pub mod prefix;

pub use error::Error;
pub use helper::HelperName;
pub use mirror::MirrorFile;
pub use prefix::RepositoryPrefix;
