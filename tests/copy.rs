//! `tfoci copy`: from one store into another, byte for byte.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::support::author::{Author, steady};
use crate::support::layout_of_registry::{export, import};
use crate::support::registry::Registry;
use crate::support::scene::Run;

/// Other artifacts in the index, which no evidence covers.
mod beside;

/// Evidence at source and destination.
mod evidence;

/// What `--exclude` leaves out.
mod excluded;

/// Versions that the destination already has.
mod existing;

/// From a layout into a layout.
mod layouts;

/// Fewer platforms, in an index written anew.
mod rebuilt;

/// What other tools attached to a version.
pub mod referrers;

/// Between registries, and between them and layouts.
mod registries;

/// What mirror files and lock files select.
mod requested;

/// Requests to registries, and faults of the network.
mod requests;

/// Selection of versions and providers, and failures of one among several.
mod selection;

/// Trust rules, and what they refuse.
mod trust;

/// Registries that refuse evidence, and other writers of the same version.
mod writers;

const PROVIDER: &str = "registry.opentofu.org/acme/demo";
/// Where the provider is in a registry, by the template that the tests use.
const NAME: &str = "acme/demo";

const FROM: &str = "oci-layout:store";
const TO: &str = "oci-layout:other";
const PLAIN: &str = "--plain-http 127.0.0.1";
const PINNED: &str = "--key acme.asc --require-pinned";

/// `tfoci copy --jobs 1 --from … --to …` with further arguments.
fn copy(author: &Author, from: &str, to: &str, more: impl AsRef<str>) -> Run {
    let more = more.as_ref();
    author.line(format!("copy --jobs 1 --from {from} --to {to} {more}"))
}

/// The same with `acme/demo`, and with registries on the loopback address.
fn copy_demo(author: &Author, from: &str, to: &str, more: impl AsRef<str>) -> Run {
    let named = format!("acme/demo {PLAIN} {}", more.as_ref());
    copy(author, from, to, named)
}

/// The same from `store` into `other`. Returns the status of the version.
#[track_caller]
fn status(author: &Author, more: impl AsRef<str>) -> String {
    let run = copy(author, FROM, TO, format!("{} --format json", more.as_ref()));
    let status = run.succeeds().json()["providers"][0]["status"].clone();
    status.as_str().unwrap().to_owned()
}

/// The provider in `other`.
fn other(author: &Author) -> PathBuf {
    author.path(format!("other/{PROVIDER}"))
}

/// Asserts that `store` and `other` are equal.
#[track_caller]
fn assert_same(author: &Author) {
    assert_eq!(author.tree_of("store"), author.tree_of("other"));
}

/// A registry's template.
fn at(registry: &Registry) -> String {
    format!("{}/{{namespace}}/{{type}}", registry.host())
}

/// A registry with the content of `store`.
fn filled(author: &Author) -> Registry {
    let registry = Registry::plain();
    import(&author.repository(""), &registry, NAME);
    registry
}

/// Exports everything below the tags of a registry into a layout. Returns its blobs.
fn exported(author: &Author, registry: &Registry, name: &str) -> BTreeMap<String, String> {
    let directory = author.path(format!("exported-{}", name.replace('/', "-")));
    let _none = std::fs::remove_dir_all(&directory);
    export(registry, name, &directory);
    blobs(&directory)
}

/// The blobs of a layout.
fn blobs(layout: &Path) -> BTreeMap<String, String> {
    crate::support::judge::tree(&layout.join("blobs"))
}

/// Replaces the addresses of two registries in the output by `[FROM]` and `[TO]`.
fn between(run: Run, from: &str, to: &str) -> Run {
    let shown = |text: String| text.replace(from, "[FROM]").replace(to, "[TO]");
    steady(Run {
        stdout: shown(run.stdout),
        stderr: shown(run.stderr),
        ..run
    })
}
