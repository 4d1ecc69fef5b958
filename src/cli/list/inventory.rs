//! `tfoci list --long` and `--unlocked`: what a store has, version by version.

use std::collections::{BTreeMap, BTreeSet};

use console::{Alignment, measure_text_width, pad_str};
use indicatif::HumanBytes;
use serde::Serialize;
use serde_json::json;

use tfoci::address::ProviderAddr;
use tfoci::authentication::Authentication;
use tfoci::error::{counted, flat};
use tfoci::examine::TrustOptions;
use tfoci::inventory::{StoredVersion, inventory};
use tfoci::mirror::Locks;
use tfoci::outcome::Failure;
use tfoci::platform::Platform;
use tfoci::release::Expected;
use tfoci::version::Version;

use super::Arguments;
use crate::cli::Ending;
use crate::cli::arguments::Format;
use crate::cli::error::CommandError;
use crate::cli::json;
use crate::cli::printer::Printer;
use crate::cli::session::{Session, WantedVersions, requested};

/// A provider in a store.
#[derive(Serialize)]
struct Provider {
    provider: ProviderAddr,
    size: u64,
    versions: Vec<Row>,
}

/// A version.
#[derive(Serialize)]
struct Row {
    version: Version,
    platforms: Vec<Platform>,
    size: u64,
    authentication: Option<Authentication>,
    error: Option<json::Error>,
    #[serde(skip)]
    problem: String,
}

impl From<StoredVersion> for Row {
    fn from(stored: StoredVersion) -> Self {
        let (authentication, failure) = match stored.proof {
            Ok(authentication) => (Some(authentication), None),
            Err(failure) => (None, Some(failure)),
        };
        let problem = failure.as_ref().map(|failure| flat(&*failure.problem));
        Self {
            version: stored.version,
            platforms: stored.platforms,
            size: size(&stored.packages),
            authentication,
            error: failure.map(|failure| json::Error::from(&CommandError::from(failure))),
            problem: problem.unwrap_or_default(),
        }
    }
}

/// Prints the inventory, or with `--unlocked` alone the names of versions.
pub(super) async fn run(arguments: Arguments, session: &Session) -> Result<Ending, CommandError> {
    let printer = &session.printer;
    let is_long = arguments.long || printer.format != Format::Text;
    let file = requested::mirror_file_if(arguments.file.as_deref(), "--file")?;
    let locks = requested::locks_below(&arguments.unlocked, "--unlocked", printer)?;
    let trust = session.trust_path(&arguments.trust.trust, file.as_ref());
    let trust = session.trust_options_of(&arguments.trust, trust.as_ref())?;
    let mut texts = arguments.providers;
    let entries = file.into_iter().flat_map(|file| file.providers);
    texts.extend(entries.map(|entry| entry.provider.to_string()));
    let registry = session.registry(&session.http()?);
    let store = session.store_for(arguments.from, &texts)?;
    let wanted = session.wanted(&texts, store.as_deref(), &registry).await?;
    let read = async |wanted| read(wanted, &locks, is_long.then_some(&trust)).await;
    let (read, failed) = wanted.read(read).await;
    let mut found: BTreeMap<ProviderAddr, Found> = BTreeMap::new();
    for (provider, (versions, read)) in read {
        let known = found.entry(provider).or_default();
        known.0.extend(versions);
        known.1.extend(read);
    }
    failed.iter().for_each(|error| printer.failure(error));
    match is_long {
        true => print_inventory(found, texts.len() == 1, store.unwrap_or_default(), printer),
        false => {
            for (provider, (versions, _)) in &found {
                for version in versions {
                    printer.result(&format!("{provider}@{version}"));
                }
            }
        }
    }
    Ok(Ending::of(failed.iter()))
}

fn print_inventory(
    found: BTreeMap<ProviderAddr, Found>,
    is_one: bool,
    store: String,
    printer: &Printer,
) {
    let mut all = BTreeSet::new();
    let mut inventory = Vec::new();
    for (provider, (_, versions)) in found {
        let packages = versions.iter().flat_map(|one| one.packages.clone());
        let packages: BTreeSet<Expected> = packages.collect();
        inventory.push(Provider {
            provider,
            size: size(&packages),
            versions: versions.into_iter().map(Row::from).collect(),
        });
        all.extend(packages);
    }
    match printer.format {
        Format::Csv => csv(&inventory, printer),
        _ if is_one => versions(&inventory, printer),
        _ => providers(&inventory, size(&all), printer),
    }
    printer.document(&json::object([json!({
        "schema": json::SCHEMA,
        "store": store,
        "inventory": inventory,
        // A package that several versions or providers share counts once.
        "size": size(&all),
    })]));
}

/// The versions of a provider, and what was read of them.
type Found = (Vec<Version>, Vec<StoredVersion>);

/// Reads the versions of a provider that no lock file names: only their tags without trust options.
async fn read(
    WantedVersions { selection, from }: WantedVersions,
    locks: &Locks,
    trust: Option<&TrustOptions>,
) -> Result<(ProviderAddr, Found), Failure> {
    let (from, constraints) = (from?, selection.constraints);
    let mut versions = from.versions().await?.versions;
    let locked = locks.hashes_of(&from.provider);
    versions.retain(|one| constraints.selects(one));
    versions.retain(|version| !locked.contains_key(version));
    let read = match trust {
        Some(trust) => inventory(&from, &versions, trust).await,
        None => Vec::new(),
    };
    Ok((from.provider, (versions, read)))
}

fn size(packages: &BTreeSet<Expected>) -> u64 {
    let sizes = packages.iter().map(|one| one.size);
    sizes.fold(0, u64::saturating_add)
}

fn proof(row: Option<&Row>) -> String {
    let authentication = row.and_then(|row| row.authentication.as_ref());
    authentication.map_or_else(|| "-".to_owned(), Authentication::to_string)
}

/// A line for each provider, and the sum.
fn providers(inventory: &[Provider], size: u64, printer: &Printer) {
    let head = "PROVIDER/VERSIONS/NEWEST/PLATFORMS/SIZE/SIGNED BY/PROBLEMS";
    let mut lines = vec![head.split('/').map(str::to_owned).collect()];
    for one in inventory {
        let newest = one.versions.last();
        let problems = one.versions.iter().filter(|row| row.error.is_some());
        lines.push(vec![
            one.provider.to_string(),
            one.versions.len().to_string(),
            newest.map_or_else(|| "-".to_owned(), |row| row.version.to_string()),
            newest.map_or(0, |row| row.platforms.len()).to_string(),
            HumanBytes(one.size).to_string(),
            proof(newest),
            problems.count().to_string(),
        ]);
    }
    print(&lines, printer);
    let count = inventory.iter().map(|one| one.versions.len()).sum();
    let providers = counted(inventory.len(), "provider");
    let versions = counted(count, "version");
    printer.say(&format!("{providers}, {versions}, {}", HumanBytes(size)));
}

/// A line for each version of a provider.
fn versions(inventory: &[Provider], printer: &Printer) {
    let head = ["VERSION", "PLATFORMS", "SIZE", "SIGNED BY", "PROBLEM"];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    for row in inventory.iter().flat_map(|one| &one.versions) {
        lines.push(vec![
            row.version.to_string(),
            row.platforms.len().to_string(),
            HumanBytes(row.size).to_string(),
            proof(Some(row)),
            row.problem.clone(),
        ]);
    }
    print(&lines, printer);
}

fn print(lines: &[Vec<String>], printer: &Printer) {
    let mut widths = Vec::new();
    for line in lines {
        widths.resize(line.len(), 0);
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = measure_text_width(cell).max(*width);
        }
    }
    for line in lines {
        let cells = line.iter().zip(&widths);
        let cells = cells.map(|(cell, width)| pad_str(cell, *width, Alignment::Left, None));
        printer.result(cells.collect::<Vec<_>>().join("   ").trim_end());
    }
}

/// RFC 4180: a line for each version.
fn csv(inventory: &[Provider], printer: &Printer) {
    printer.own_text("provider,version,platforms,size,status,anchor,key,problem");
    let mut lines = Vec::new();
    for one in inventory {
        for row in &one.versions {
            let proof = row.authentication.as_ref();
            let platforms: Vec<String> = row.platforms.iter().map(Platform::to_string).collect();
            let anchor = proof.and_then(|proof| proof.anchor);
            let key = proof.and_then(|proof| proof.fingerprint.as_ref());
            lines.push([
                one.provider.to_string(),
                row.version.to_string(),
                platforms.join(" "),
                row.size.to_string(),
                proof.map_or_else(String::new, |proof| proof.status.to_string()),
                anchor.map_or_else(String::new, |anchor| anchor.to_string()),
                key.map_or_else(String::new, ToString::to_string),
                row.problem.clone(),
            ]);
        }
    }
    for line in lines {
        let cells = line.map(|cell| match cell.contains([',', '"', '\n', '\r']) {
            true => format!("\"{}\"", cell.replace('"', "\"\"")),
            false => cell,
        });
        printer.own_text(&printer.neutral(&cells.join(",")));
    }
}
