//! tfoci moves Terraform and OpenTofu providers between the places they live.
//!
//! ```text
//! release folder ──> Release ── trust ──> Verified<Release> ── publish ──> artifact in a STORE
//!                                                                              │
//!                            filesystem mirror <── install ── trust <── Release ┘
//! ```
//!
//! A **source** offers a [`release::Release`]: one version of one provider, its packages, and what proves them. Only
//! [`trust::verify`] turns it into a [`trust::Verified`] one, and [`publish`](mod@publish) takes nothing else. A **store** holds
//! artifacts, whose bytes [`oci`] defines. On the way out the artifact becomes a release again and is verified by the same
//! code ([`examine`]), before [`install`](mod@install) lets anything appear on a disk.
//!
//! # The order of modules
//!
//! The list below is also the rule: a module names only modules that stand above it, and a test holds it to that.
//! Words know nothing but words; shapes are bytes and structs, without clock, disk or network; homes do the I/O;
//! journeys read from top to bottom as stories. The library never prints: it tells an [`event::Reporter`] what happens.
//!
//! | | |
//! | --- | --- |
//! | words | [`error`] [`shown`] [`secret`] [`json`] [`platform`] [`digest`] [`hash`] [`version`] [`constraint`] [`address`] [`selection`] [`authentication`] [`event`] |
//! | shapes | [`release`] [`trust`] [`oci`] [`template`] [`archive`] [`protocol`] [`outline`] [`lockfile`] [`config`] |
//! | homes | [`jobs`] [`prove`](mod@prove) [`http`] [`disk`] [`credentials`] [`blob`] [`source`] [`store`] |
//! | journeys | [`outcome`] [`publish`](mod@publish) [`push`](mod@push) [`mirror`](mod@mirror) [`examine`] [`install`](mod@install) [`copy`](mod@copy) |
//!
//! The terminal, `src/cli`, belongs to the executables. The library cannot name it.
//!
//! The module [`clients`] is documentation: what unmodified clients do, which decides many details of this code.

// Apart from each other, so that they keep this order.

pub mod error;

pub mod shown;

pub mod secret;

pub mod json;

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

pub mod template;

pub mod archive;

pub mod protocol;

pub mod outline;

pub mod lockfile;

pub mod config;

pub mod jobs;

pub mod prove;

pub mod http;

pub mod disk;

pub mod credentials;

pub mod blob;

pub mod source;

pub mod store;

pub mod outcome;

pub mod publish;

pub mod push;

pub mod mirror;

pub mod examine;

pub mod install;

pub mod copy;

#[doc = include_str!("clients.md")]
pub mod clients {}
