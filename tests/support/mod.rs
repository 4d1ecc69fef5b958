//! What tests stand on: a judge, a signer, a maker of releases, a scene to run the program in.

pub mod author;
pub mod expected;
pub mod judge;
pub mod layout;
pub mod release;
pub mod scene;
pub mod shape;
pub mod signer;
pub mod tofu_client;
