//! Configuration that others define and tfoci understands.
//!
//! Shapes only: bytes in, structs out. Where the files lie, and which of them counts, is for those who read them.

mod block;
pub mod cli;
mod error;
mod hcl;
pub mod helper;
pub mod hidden;
pub mod module;
pub mod prefix;

pub use error::Error;
pub use helper::HelperName;
pub use hidden::Hidden;
pub use prefix::RepositoryPrefix;
