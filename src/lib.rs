//! tfoci

pub mod error;

pub mod platform;

pub mod digest;

pub mod hash;

pub mod version;

pub mod constraint;

pub mod address;

pub mod selection;

pub mod authentication;

pub mod event;

pub mod release;

pub mod trust;

pub mod oci;

pub mod archive;

pub mod jobs;

pub mod disk;

pub mod blob;

pub mod source;

pub mod store;

pub mod outcome;

pub mod publish;

pub mod push;

pub mod examine;

pub mod install;
