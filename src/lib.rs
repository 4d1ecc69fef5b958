//! tfoci

pub mod error;

pub mod platform;

pub mod digest;

pub mod hash;

pub mod version;

pub mod address;

pub mod authentication;

pub mod event;

pub mod release;

pub mod oci;

pub mod disk;

pub mod blob;

pub mod store;
