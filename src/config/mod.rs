//! Configuration files: the clients' CLI configuration, Terraform modules, and tfoci's own mirror file.
//!
//! Shapes only: bytes in, structs out. Other modules find the files and decide which of them count.

mod block;
pub mod cli;
mod error;
mod hcl;
pub mod helper;
pub mod mirror;
pub mod module;
pub mod prefix;

pub use error::Error;
pub use helper::HelperName;
pub use mirror::MirrorFile;
pub use prefix::RepositoryPrefix;
