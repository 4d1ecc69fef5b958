//! What tests stand on: a judge, a signer, a maker of releases, a scene to run the program in.

pub mod tofu_client;
