//! Every line of `testdata/layouts/EXPECTED.tsv`: tfoci accepts and refuses the same layouts as clients, and the code of each
//! refusal is the one in the table.
//!
//! tfoci differs from clients on purpose in these cases:
//! - Clients crash on a digest without an algorithm or with an unknown one (`panic:` in the table). tfoci refuses it.
//! - Clients crash when they list a version with a number beyond 64 bits. tfoci lists the other versions, and reports this
//!   tag with the reason.
//! - Clients list tags that they cannot fetch. tfoci lists only versions that can be fetched, and the other tags with `--all`.
//! - Clients read versions of up to 128 characters. tfoci ignores versions beyond 119, since the tag of their evidence would be too long.
//! - Clients decode a duplicate member into the first one, and other readers use one of the two. tfoci refuses duplicate members.
//! - Clients accept sha384 and sha512 for manifests. tfoci refuses them, as it refuses them for packages, and as clients do there.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use tfoci::authentication::Note;
use tfoci::event::{Event, Reporter};
use tfoci::examine::{StoredProvider, TrustOptions, Versions};
use tfoci::install::{Form, Installed, Installer, Request};
use tfoci::jobs::Jobs;
use tfoci::oci::Repository;
use tfoci::oci::reference::Ignored;
use tfoci::outcome::Failure;
use tfoci::place::Place;
use tfoci::platform::Platforms;
use tfoci::selection::Selection;
use tfoci::store::{Layout, Repo, Store};
use tfoci::trust::Policy;

use crate::support::codes;
use crate::support::expected::{Line, layouts, lines};
use crate::support::scene::Scene;

/// Platforms and layers of indexes and manifests.
mod choice;

struct Unheard;

impl Reporter for Unheard {
    fn report(&self, _: Event) {}
}

/// The one repository of a directory.
pub fn stored_in(directory: &Path) -> StoredProvider {
    let store = Store::Layout(Layout::new(directory.to_owned(), "STORE"));
    StoredProvider::new(
        "registry.opentofu.org/acme/demo".parse().unwrap(),
        Repo::new(store, Repository::root()),
        Place::Layout("STORE".into()),
    )
}

fn stored(layout: &str) -> StoredProvider {
    stored_in(&layouts().join(layout))
}

fn wait<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread();
    { runtime }.enable_time().build().unwrap().block_on(work)
}

/// Installs as the executable does.
pub fn install_from(
    stored: &StoredProvider,
    version: &str,
    platform: &str,
    into: &Path,
) -> Result<Installed, Failure> {
    let request = Request {
        kind: tfoci::install::DirectoryKind::Mirror,
        into: into.to_owned(),
        platforms: Platforms::Only(vec![platform.parse().unwrap()]),
        form: Form::Packed,
        trust: TrustOptions {
            policy: Policy::default(),
            require_pinned: false,
            attestation: None,
            now: SystemTime::now(),
        },
        dry_run: false,
        jobs: Jobs::new(1),
    };
    let host = "registry.opentofu.org".parse().unwrap();
    let selection = Selection::parse(&format!("acme/demo@{version}"), &host).unwrap();
    let reporter: Arc<dyn Reporter> = Arc::new(Unheard);
    wait(async {
        let version = stored.select(&stored.versions().await?, &selection)?;
        let installer = Installer::new(&request, &reporter);
        installer.install(stored, &version).await
    })
}

fn code_of(line: &Line) -> (&'static str, String) {
    let into = tempfile::tempdir().unwrap();
    let stored = stored(&line.layout);
    match install_from(&stored, &line.version, &line.platform, into.path()) {
        Ok(installed) if installed.authentication.notes == [Note::LenientJson] => {
            ("ok", "lenient-json".to_owned())
        }
        Ok(_) => ("ok", "-".to_owned()),
        Err(failure) => {
            let code = codes::of_problem(&failure.problem);
            ("refused", code.unwrap_or_else(|| failure.to_string()))
        }
    }
}

#[test]
fn the_code_of_every_refusal_is_the_one_in_the_table() {
    let wrong: Vec<String> = lines()
        .filter(Line::is_install)
        .filter_map(|line| {
            let accepted = if line.is_accepted() { "ok" } else { "refused" };
            let (outcome, code) = code_of(&line);
            ((outcome, code.as_str()) != (accepted, line.reason.as_str()))
                .then(|| format!("{line:?}\n  received {outcome} {code}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn tfoci_installs_exactly_what_clients_install() {
    let scene = Scene::new();
    let wrong: Vec<String> = lines()
        .filter(Line::is_install)
        .enumerate()
        .filter_map(|(number, line)| {
            let into = format!("into{number}");
            let (version, platform, store) = (&line.version, &line.platform, line.store());
            let from = format!("--exact-repository --from {store} --into {into} --quiet");
            let run = scene.line(format!(
                "install acme/demo@{version} --platform {platform} {from}"
            ));
            let status = match &*line.reason {
                _ if line.is_accepted() => 0,
                reason if reason.ends_with("-mismatch") || reason.ends_with("-member-repeated") => {
                    3
                }
                _ => 1,
            };
            let installed = zips(&scene.path(&into));
            let silent = run.stderr.is_empty() == (status == 0);
            (run.status != Some(status) || installed != usize::from(status == 0) || !silent)
                .then(|| format!("{line:?}\n  received {run:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// How many packages a mirror holds.
fn zips(mirror: &Path) -> usize {
    let provider = mirror.join("registry.opentofu.org/acme/demo");
    std::fs::read_dir(provider).map_or(0, |entries| entries.count())
}

#[test]
fn clients_see_the_listed_versions_and_those_reported_as_not_canonical() {
    for line in lines().filter(|line| line.version == "list") {
        let Versions { versions, ignored } = wait(stored(&line.layout).versions()).unwrap();
        if line.reason == "tag-number-too-large" {
            let codes = ignored.iter().map(|(_, reason)| codes::of_ignored(reason));
            assert!(codes.eq(["tag-number-too-large"]) && versions.len() == 1);
            continue;
        }
        let traps = ignored.into_iter().filter_map(|(_, reason)| match reason {
            Ignored::NotCanonical { version, .. } => Some(version),
            _ => None,
        });
        let seen: BTreeSet<_> = versions.into_iter().chain(traps).collect();
        let seen: Vec<String> = seen.iter().map(ToString::to_string).collect();
        assert_eq!(seen.join(" "), line.outcome, "{}", line.layout);
    }
}

#[test]
fn clients_ignore_the_tags_that_tfoci_reports_as_no_versions() {
    for line in lines().filter(|line| line.version == "ignored") {
        let Versions { ignored, .. } = wait(stored(&line.layout).versions()).unwrap();
        let mut reasons = ignored.iter().map(|(_, reason)| codes::of_ignored(reason));
        assert!(reasons.all(|reason| reason == line.reason));
        let mut expected: Vec<&str> = line.outcome.split(' ').collect();
        expected.sort_unstable();
        let names: Vec<String> = ignored.into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, expected, "{}", line.layout);
    }
}
