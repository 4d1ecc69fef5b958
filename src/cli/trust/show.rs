//! `tfoci trust show`.

use std::time::SystemTime;

use clap::Args;
use serde_json::json;

use tfoci::authentication::Anchor;
use tfoci::error::printable_path;
use tfoci::trust::{Denial, Rule};

use super::keys::{self, Rules};
use super::print_denial;
use crate::cli::Ending;
use crate::cli::arguments::Trust;
use crate::cli::error::CommandError;
use crate::cli::json::{SCHEMA, object};
use crate::cli::session::{Session, policy, read};

const EXAMPLES: &str = "\
Examples:
  tfoci trust show example.com/acme/demo --trust trust.toml
  tfoci trust show example.com/acme/demo --key acme.asc";

/// Show which keys and rules apply to a provider
///
/// It prints the entry of the trust file that applies, the keys that are pinned, which releases the commands refuse, and which versions are denied.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The provider
    #[arg(value_name = "ADDR")]
    provider: String,
    #[command(flatten)]
    trust: Trust,
}

/// Prints the entry, the keys and the rules that apply to one provider. Commands that write a store may have other rules than
/// commands that read one.
pub(super) fn run(arguments: &Arguments, session: &Session) -> Result<Ending, CommandError> {
    let provider = session.provider(&arguments.provider, "trust show")?;
    let (now, printer) = (SystemTime::now(), &session.printer);
    let file = session.trust_path(&arguments.trust, None);
    let policy = policy(&arguments.trust, file.as_ref(), &mut read)?;
    let entry = policy.entry_for(&provider);
    let given = policy.rule_for(&provider);
    let writing = given.clone().unwrap_or_default();
    let reading = given.unwrap_or_else(Rule::reading);
    let files = keys::of_files(&writing.keys, now)?;
    let mut rings = writing.keys.iter();
    let are_pinned = rings.any(|ring| ring.anchor == Anchor::Pinned);
    let comments = entry.map(|entry| entry.comments.clone());
    let comments = comments.unwrap_or_default();
    let keys = keys::pinned(&writing.pins, &files, are_pinned, &comments, now);
    let attested = reading.attestations.first();
    let attested = attested.and_then(|one| Some(one.key().ok()?.id()));
    let denied: Vec<&Denial> = policy.denied.of(&provider).collect();
    let warnings = files.iter().filter_map(|one| one.warning(now));
    let warnings: Vec<String> = warnings.collect();

    let file = file.map(|file| printable_path(&file.path));
    let applied = match (&file, entry) {
        (None, _) => "none: `--trust` names no file".to_owned(),
        (Some(file), None) => format!("none: nothing in {file} matches"),
        (Some(file), Some(entry)) => format!("{file}, line {}: {}", entry.line, entry.pattern),
    };
    printer.result(&format!("provider  {provider}"));
    printer.result(&format!("entry     {applied}"));
    keys.iter().for_each(|key| key.print(printer));
    let (is_pinned, writing, reading) =
        (writing.pinned(), Rules::of(&writing), Rules::of(&reading));
    writing.print(printer);
    if writing != reading {
        printer.result("reading   unsigned releases are accepted by commands that only read");
    }
    if let Some(key) = &attested {
        printer.result(&format!("attested  by the key {key}, in every store"));
    }
    denied.iter().for_each(|one| print_denial(one, printer));
    for warning in &warnings {
        printer.warning(warning);
    }
    let entry = entry.zip(file).map(|(entry, file)| {
        json!({"file": file, "line": entry.line, "match": entry.pattern.to_string()})
    });
    printer.document(&object([json!({
        "schema": SCHEMA,
        "provider": provider,
        "entry": entry,
        "pinned": is_pinned,
        "keys": keys,
        "writing": writing,
        "reading": reading,
        "attestation_key": attested,
        "denied": denied,
        "warnings": warnings,
    })]));
    Ok(Ending::Done)
}
