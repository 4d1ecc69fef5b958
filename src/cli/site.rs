//! `tfoci site`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Mutex;

use clap::Args;
use serde_json::json;

use tfoci::address::ProviderAddr;
use tfoci::authentication::Authentication;
use tfoci::error::{FEW, counted, listed, printable_path};
use tfoci::install::{DirectoryKind, Form, Request};
use tfoci::jobs::locked;
use tfoci::outcome::Failure;
use tfoci::platform::Platforms;
use tfoci::site::{GENERATOR, Listed, Site, SiteChange};
use tfoci::version::Version;

use super::Ending;
use super::arguments::ReadTrust;
use super::error::CommandError;
use super::page::{self, PageOptions};
use super::printer::Tone;
use super::public_url::mirror_url;
use super::render::{Mirror, ProviderInstallationView};
use super::report::{Destination, Extent, WRITE};
use super::session::place::{into_store, is_store};
use super::session::{Everything, Session, Wanted, requested};

const EXAMPLES: &str = "\
Examples:
  tfoci site public --from oci-layout:mirror --trust trust.toml
  tfoci site public example.com/acme/demo@'>= 1.0' --from oci-layout:mirror \\
    --url https://providers.example.com --delete";

/// Write a store as static files: a network mirror that any web server can serve
///
/// Clients install from these files with a `network_mirror` block. tfoci writes every version that matches, or all of the store without
/// addresses, but none that does not verify. A second run changes only what is new, and versions that the store no longer has stay until
/// --delete. The web server has to send .json files as application/json.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The directory of the files
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Providers with version constraints, or references as of `push`
    #[arg(value_name = "ADDR[@CONSTRAINTS]")]
    providers: Vec<String>,
    /// The store: oci-layout:DIR, or a registry's repository template
    #[arg(long, value_name = "STORE", help_heading = "Source")]
    from: Option<String>,
    /// Only this platform, such as linux_amd64; may be repeated [default: all]
    ///
    /// `linux/amd64` means the same. Packages for other platforms that are in the directory already stay.
    #[arg(long, value_name = "OS_ARCH", help_heading = "Source")]
    platform: Vec<String>,
    /// The URL of the files for clients, which the page names
    #[arg(long, value_name = "URL", value_parser = mirror_url, help_heading = "Destination")]
    url: Option<String>,
    /// Delete versions that the store no longer has, or that no longer verify
    ///
    /// With --require-pinned, this includes the versions of providers without a pinned key. If no addresses are given, this includes providers
    /// that the store no longer has. Versions that the constraints of an address leave out stay.
    ///
    /// While the store cannot be read, nothing is deleted. While a part of it cannot be read, or a layout in it is incomplete, no provider is
    /// deleted as a whole. A version stays if the store has lost or damaged a part of it.
    #[arg(long, help_heading = "Destination")]
    delete: bool,
    /// Verify and print the plan, but write nothing
    #[arg(long)]
    dry_run: bool,
    /// Write versions of these providers without signature or key
    ///
    /// `*` stands for any namespace or type, as in `example.com/acme/*`.
    #[arg(long, value_name = "PATTERN", help_heading = "Trust")]
    allow_unsigned: Vec<String>,
    #[command(flatten)]
    trust: ReadTrust,
    #[command(flatten)]
    page: PageOptions,
}

/// The versions that this run wrote, and how they verified.
type Written = BTreeMap<(ProviderAddr, Version), Authentication>;

pub(super) async fn run(arguments: Arguments, session: &Session) -> Result<Ending, CommandError> {
    let request = request(&arguments, session)?;
    let registry = session.registry(&session.http()?);
    let from = session.store_for(arguments.from.clone(), &arguments.providers)?;
    let wanted = session.wanted(&arguments.providers, from.as_deref(), &registry);
    let Wanted {
        versions: wanted,
        everything,
    } = wanted.await?;
    if let Some(everything) = &everything {
        everything.warn(&session.printer);
    }
    let providers = wanted.iter().map(|wanted| &wanted.selection.provider);
    let providers: BTreeSet<ProviderAddr> = providers.cloned().collect();
    let file = session.trust_path(&arguments.trust.trust, None);
    session.warn_of_unmatched(file.as_ref(), &request.trust.policy, &providers);
    let report = &session.report;
    let extent = Extent {
        dry_run: arguments.dry_run,
        only_changed: false,
    };
    let mirror = arguments.url.clone().map(|url| Mirror::Network { url });
    let reporter = report.begin(WRITE, extent, Destination::Directory(mirror));
    let written = Mutex::<Written>::default();
    let on_change = |change| record(change, &written, session);
    let tasks = session.tasks(wanted);
    let site = Site::open(&request, arguments.delete, &reporter, &on_change).await?;
    site.write(tasks).await;
    if let Some(everything) = everything.as_ref().filter(|_| arguments.delete) {
        delete_others(&site, everything, session).await;
    }
    let asked = everything.is_none().then_some(&providers);
    let finished = finish(&site, asked, &locked(&written), &arguments, session);
    if let Err(error) = finished {
        report.failed(error.into());
    }
    Ok(report.finish())
}

/// Names the versions of the `asked` providers, or of all, that stay published although this run did not write them. Writes the page.
fn finish(
    site: &Site<'_>,
    asked: Option<&BTreeSet<ProviderAddr>>,
    written: &Written,
    arguments: &Arguments,
    session: &Session,
) -> Result<(), tfoci::disk::Error> {
    let published = site.providers()?;
    let mut others = Vec::new();
    for (provider, versions) in &published {
        let is_asked = asked.is_none_or(|asked| asked.contains(provider));
        for version in versions.iter().filter(|_| is_asked) {
            if !written.contains_key(&(provider.clone(), version.clone())) {
                others.push(format!("{provider} {version}"));
            }
        }
    }
    // A dry run has not deleted what it would delete.
    let is_known = !arguments.dry_run || !arguments.delete;
    if is_known && !others.is_empty() {
        let text = format!(
            "still published, and not of this run: {}. --delete removes what the store no longer has or what does not verify",
            listed(&others, FEW)
        );
        session.printer.line(Tone::Plain, "Note", &text);
    }
    match arguments.dry_run {
        true => Ok(()),
        false => write_page(site, &published, written, arguments, session),
    }
}

/// Deletes the published providers that the store does not list, except for those that it may have nevertheless.
async fn delete_others(site: &Site<'_>, everything: &Everything, session: &Session) {
    let others = match site.others(&everything.listed.providers) {
        Ok(others) => others,
        Err(failure) => return session.report.failed(failure.into()),
    };
    // A failure of the whole store and the wrong template look as if its providers were gone.
    let has_failures = session.report.has_failures();
    for provider in others {
        if !has_failures && !everything.may_have(&provider).await {
            site.delete(&provider);
        }
    }
}

/// Adds a change or failure to the report.
fn record(change: Result<SiteChange, Failure>, so_far: &Mutex<Written>, session: &Session) {
    let report = &session.report;
    match change {
        Ok(SiteChange::Written(written)) => {
            let key = (written.provider.clone(), written.version.clone());
            locked(so_far).insert(key, written.authentication.clone());
            report.installed(written);
        }
        Ok(SiteChange::Deleted(provider, version)) => report.deleted(&provider, &version),
        Err(failure) => report.failed(failure.into()),
    }
}

fn request(arguments: &Arguments, session: &Session) -> Result<Request, CommandError> {
    let directory = &arguments.directory;
    if is_store(directory) {
        let expected = "DIR, the directory of the files; `--from` names the store";
        return Err(into_store(directory, expected));
    }
    Ok(Request {
        into: directory.clone(),
        kind: DirectoryKind::Site,
        form: Form::Packed,
        platforms: match arguments.platform.is_empty() {
            true => Platforms::All,
            false => requested::platforms(&arguments.platform)?,
        },
        trust: session.trust_options(&arguments.trust, &arguments.allow_unsigned)?,
        dry_run: arguments.dry_run,
        jobs: session.jobs(),
    })
}

/// Writes the page for people, `templates/site/index.html.hbs`.
///
/// Providers that failed are in its configuration too, so that clients do not install them from their origins instead.
fn write_page(
    site: &Site<'_>,
    published: &Listed,
    written: &Written,
    arguments: &Arguments,
    session: &Session,
) -> Result<(), tfoci::disk::Error> {
    let block = arguments.url.clone().and_then(|url| {
        let failed = session.report.failed_providers();
        ProviderInstallationView::after(Mirror::Network { url }, published.keys(), failed.iter())
    });
    let mut providers = Vec::new();
    for (provider, versions) in published {
        let Some(newest) = versions.last() else {
            continue;
        };
        let (platforms, largest) = site.packages(provider, newest)?;
        let signature = |version: &Version| {
            let written = written.get(&(provider.clone(), version.clone()));
            written.map(page::signature)
        };
        let lines = versions.iter().rev();
        let lines =
            lines.map(|one| json!({"version": one.to_string(), "signature": signature(one)}));
        providers.push(json!({
            "address": page::address(provider),
            "facts": {
                "version": newest.to_string(),
                "signature": signature(newest),
                "packages": page::packages(&platforms, largest),
            },
            "counts": counted(versions.len(), "version"),
            "versions": lines.collect::<Vec<_>>(),
        }));
    }
    let view = json!({
        "page": arguments.page.view(),
        "url": arguments.url,
        "generator": GENERATOR,
        "block": block.map(|block| block.render()),
        "count": providers.len(),
        "providers": providers,
    });
    let template = include_str!("../../templates/site/index.html.hbs");
    let page = page::render(template, &view);
    if !site.write_page(&page)? {
        let path = printable_path(&arguments.directory.join("index.html"));
        let line = format!("{path} was not written by tfoci, and stays unchanged");
        session.printer.warning(&line);
    }
    Ok(())
}
