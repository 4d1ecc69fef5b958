//! tfoci copies Terraform and OpenTofu providers between release folders, provider registries, OCI registries and filesystem mirrors.
//!
//! ```text
//! release folder ─┐
//! origin, mirror ─┴> Release ── trust ──> Verified<Release> ── publish ──> artifact in a STORE
//!                                                                              │
//!                    filesystem mirror <── install ─┐                           │
//!                            lock file <── lock ────┼── trust <── Release <─────┘
//!                              clients <── serve ───┘
//! ```
//!
//! A **source** returns a [`release::Release`]: one version of one provider, its packages, checksum document and signatures. Only
//! [`trust::verify`] turns it into a [`trust::Verified`] release, and [`publish`](mod@publish) accepts nothing else. A **store** holds
//! artifacts, whose bytes [`oci`] defines. When an artifact is read, [`examine`] turns it back into a release and verifies it with the same
//! code, before [`install`](mod@install) writes anything to a disk.
//!
//! # The order of modules
//!
//! A module uses only modules that are above it in this list, and a test checks that. Words are basic types and use only other words.
//! Shapes are data formats, without clock, disk or network. Homes do I/O. Journeys are the operations that users request. The library never
//! prints: it reports events to an [`event::Reporter`].
//!
//! | | |
//! | --- | --- |
//! | words | [`error`] [`secret`] [`shown`] [`text`] `plain` [`json`] [`toml`] [`platform`] [`digest`] [`hash`] [`version`] [`date`](mod@date) [`constraint`] [`address`] [`selection`] [`place`] [`fingerprint`] [`authentication`] [`event`] [`finding`] |
//! | shapes | [`attestation`] [`release`] [`trust`] [`oci`] [`template`] [`archive`] [`protocol`] [`syntax`] [`lockfile`] [`config`] |
//! | homes | [`jobs`] [`prove`](mod@prove) [`http`] [`disk`] [`credentials`] [`blob`] [`configuration`] [`source`] [`store`] |
//! | journeys | [`outcome`] [`publish`](mod@publish) [`push`](mod@push) [`mirror`](mod@mirror) [`examine`] [`inventory`](mod@inventory) [`prune`] [`install`](mod@install) [`lock`](mod@lock) [`verify`](mod@verify) [`doctor`] [`copy`](mod@copy) [`site`] [`serve`](mod@serve) |
//!
//! The command line, `src/cli`, belongs to the executable. The library cannot use it.
//!
//! The module [`clients`] documents how unmodified `tofu` and `terraform` behave. Many details of this code follow from it.

// Tests may be longer, since they have tables.
#![cfg_attr(not(test), deny(clippy::too_many_lines))]

// Blank lines between the modules keep rustfmt from sorting them.

pub mod error;

pub mod secret;

pub mod shown;

pub mod text;

mod plain;

pub mod json;

pub mod toml;

pub mod platform;

pub mod digest;

pub mod hash;

pub mod version;

pub mod date;

pub mod constraint;

pub mod address;

pub mod selection;

pub mod place;

pub mod fingerprint;

pub mod authentication;

pub mod event;

pub mod finding;

pub mod attestation;

pub mod release;

pub mod trust;

pub mod oci;

pub mod template;

pub mod archive;

pub mod protocol;

pub mod syntax;

pub mod lockfile;

pub mod config;

pub mod jobs;

pub mod prove;

pub mod http;

pub mod disk;

pub mod credentials;

pub mod blob;

pub mod configuration;

pub mod source;

pub mod store;

pub mod outcome;

pub mod publish;

pub mod push;

pub mod mirror;

pub mod examine;

pub mod inventory;

pub mod prune;

pub mod install;

pub mod lock;

pub mod verify;

pub mod doctor;

pub mod copy;

pub mod site;

#[cfg(feature = "serve")]
pub mod serve;

#[doc = include_str!("clients.md")]
pub mod clients {}
