//! Configuration: what others define and tfoci understands, and the mirror file.
//!
//! Shapes only: bytes in, structs out. Where the files lie, and which of them counts, is for those who read them.

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
