//! The options of `tfoci copy` for bundles.

use std::path::{Path, PathBuf};

use clap::Args;

use tfoci::copy::Output;
use tfoci::error::{Category, printable_path};
use tfoci::store::bundle::parts_beside;
use tfoci::store::{Endpoint, Store};

use crate::cli::arguments::Format;
use crate::cli::error::CommandError;
use crate::cli::have;
use crate::cli::session::Session;

#[derive(Args)]
#[command(next_help_heading = "Bundle")]
pub(super) struct BundleArguments {
    /// Leave out the packages in this list of `tfoci have`, or in an earlier bundle
    ///
    /// The bundle is then a delta. The store that it is copied into must have these packages, and tfoci asks for each of them first. An earlier
    /// bundle, or its `tfoci-bundle.json`, tells what was sent, and not what arrived.
    #[arg(long, value_name = "FILE")]
    base: Option<PathBuf>,
    /// Write parts FILE.001, FILE.002, … that are smaller than this, such as 4GiB
    ///
    /// Each part is a complete bundle of some versions. A lost part loses its versions only.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    split: Option<u64>,
    /// Replace the bundle if it exists
    #[arg(long)]
    overwrite: bool,
}

/// A number of bytes, such as `4GiB` or `650MB`.
fn size(text: &str) -> Result<u64, &'static str> {
    let digits = text.trim_end_matches(|one: char| one.is_ascii_alphabetic());
    let unit: u64 = match text.get(digits.len()..).unwrap_or_default() {
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => 0,
    };
    let number: Option<u64> = digits.parse().ok();
    let bytes = number.and_then(|number| number.checked_mul(unit));
    bytes
        .filter(|bytes| *bytes > 0)
        .ok_or("expected a number with MB, GB, MiB or GiB, such as 4GiB")
}

/// The bundle that the copy goes into, if it goes into one.
pub(super) async fn begin(
    arguments: &super::Arguments,
    to: &Endpoint,
    session: &Session,
) -> Result<Option<(Store, Output)>, CommandError> {
    let BundleArguments {
        base,
        split,
        overwrite,
    } = &arguments.bundle;
    let Some((store, path)) = to.unwritten()? else {
        return match base.is_some() || split.is_some() || *overwrite {
            true => Err(CommandError::usage(
                "`--base`, `--split` and `--overwrite` are for `--to bundle:FILE`",
            )),
            false => Ok(None),
        };
    };
    if arguments.rebuild_index || arguments.attest.attest_id.is_some() {
        return Err(CommandError::usage(
            "a bundle takes versions as they are, without `--rebuild-index` and `--attest`",
        )
        .advising("use them with a layout first, and copy that into the bundle"));
    }
    let path = (path != Path::new("-")).then(|| path.to_owned());
    match &path {
        None if split.is_some() || session.printer.format != Format::Text => {
            return Err(CommandError::usage(
                "the standard output takes the bundle alone, without `--split` and `--format`",
            ));
        }
        Some(path) if !overwrite => {
            let whole = path.symlink_metadata().ok().map(|_| path.clone());
            if let Some(path) = whole.into_iter().chain(parts_beside(path)).next() {
                let message = format!(
                    "{} exists, and a bundle is never changed",
                    printable_path(&path)
                );
                return Err(CommandError::plain(Category::Conflict, message)
                    .advising("choose another name, or `--overwrite`"));
            }
        }
        _ => {}
    }
    let output = Output {
        place: to.whole(),
        path,
        split: *split,
        base: match base {
            Some(path) => Some(have::base(path, session).await?),
            None => None,
        },
    };
    Ok(Some((store, output)))
}
