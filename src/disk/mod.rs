//! Local files: reads with limits, atomic writes, directories without symbolic links, locks.
//!
//! A visible file or directory is first written under a hidden name beside its final path, and then renamed. A process that is killed
//! leaves at most hidden files behind, which [`sweep`] removes in the next run.

pub mod contents;
pub mod directory;
mod entries;
mod error;
pub mod exposed;
mod files;
pub mod lock;
mod pipe;
pub mod staged;
mod state;
pub mod temp_file;
pub mod unpack;

pub use contents::{copy_directory, directory_h1};
pub use directory::Directory;
pub use entries::{
    create_directory, create_durable_directory, create_private_directory, directory_of, exists,
    names, names_within, refuse_links, remove, subdirectories, subdirectories_within, sweep,
    sync_directory,
};
pub use error::{Error, if_exists};
pub use files::{Blocks, CHUNK, open, open_unlinked, read, read_regular, read_unlinked};
pub use lock::Lock;
pub use staged::{Staged, hidden_directory, show_directory};
pub use state::FileState;

/// The prefix of the names of unfinished files and directories. They are hidden, so that clients ignore them.
pub const UNFINISHED: &str = ".tfoci-tmp-";
