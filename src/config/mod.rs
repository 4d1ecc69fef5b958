//! Configuration files: the clients' CLI configuration, Terraform modules, and tfoci's own mirror file and settings.
//!
//! This module only parses bytes into structs, and strangers may have written them: no parser reads a file, follows a name in it, or fails on
//! a block that only other versions of the clients know. Other modules find the files and decide which of them to use:
//! [`configuration`](crate::configuration) the modules of a directory, [`credentials`](crate::credentials) the blocks about secrets, and
//! the command line the mirror file and the settings.

pub mod cli;
mod error;
pub mod helper;
pub mod mirror;
pub mod module;
pub mod prefix;
pub mod settings;

pub use error::Error;
pub use helper::HelperName;
pub use mirror::{MirrorEntry, MirrorFile};
pub use prefix::RepositoryPrefix;
pub use settings::Settings;
