//! tfoci

pub mod address;
pub mod digest;
pub mod error;
pub mod hash;
pub mod platform;
pub mod version;

pub mod release;
pub mod trust;
