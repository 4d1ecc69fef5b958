//! Directories on this machine: where packages are unpacked and hashed.

pub mod contents;
pub mod unpack;

pub use contents::directory_h1;
pub use unpack::unpack;
