//! tfoci

pub mod address;
pub mod constraint;
pub mod digest;
pub mod error;
pub mod hash;
pub mod platform;
pub mod selection;
pub mod version;

pub mod release;
