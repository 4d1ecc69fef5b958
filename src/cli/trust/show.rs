//! `tfoci trust show`.

use std::time::SystemTime;

use clap::Args;
use serde::Serialize;

use tfoci::address::ProviderAddr;
use tfoci::authentication::Anchor;
use tfoci::error::printable_path;
use tfoci::trust::{Rule, TrustEntry};

use super::deny::Denied;
use super::keys::{self, Key, Rules};
use crate::cli::Ending;
use crate::cli::arguments::Trust;
use crate::cli::error::CommandError;
use crate::cli::json;
use crate::cli::printer::Printer;
use crate::cli::session::{Session, TrustPath, policy, read};

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

/// The document of what applies to a provider.
#[derive(Serialize)]
struct Show<'a> {
    schema: u32,
    provider: &'a ProviderAddr,
    /// The entry of the trust file that applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<Applied>,
    pinned: bool,
    keys: Vec<Key>,
    /// For `push` and `mirror`.
    writing: Rules,
    /// For commands that read a store.
    reading: Rules,
    /// The id of the key of a mirror, if its attestation is required.
    #[serde(skip_serializing_if = "Option::is_none")]
    attestation_key: Option<String>,
    denied: Vec<Denied>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct Applied {
    file: String,
    line: usize,
    #[serde(rename = "match")]
    pattern: String,
}

/// Prints the entry, the keys and the rules that apply to one provider. Commands that write a store may have other rules than
/// commands that read one.
pub(super) fn run(arguments: &Arguments, session: &Session) -> Result<Ending, CommandError> {
    let provider = session.provider(&arguments.provider, "trust show")?;
    let now = SystemTime::now();
    let file = session.trust_path(&arguments.trust, None);
    let policy = policy(&arguments.trust, file.as_ref(), &mut read, |_, _| ())?;
    let entry = policy.entry_for(&provider);
    let given = policy.rule_for(&provider);
    let writing = given.clone().unwrap_or_default();
    let reading = given.unwrap_or_else(Rule::reading);
    let files = keys::of_files(&writing.keys, now)?;
    let mut rings = writing.keys.iter();
    let are_pinned = rings.any(|ring| ring.anchor == Anchor::Pinned);
    let warnings = files.iter();
    let warnings = warnings.filter_map(|one| one.warning(writing.expired, now));
    let comments = entry.map(|entry| entry.comments.clone());
    let comments = comments.unwrap_or_default();
    let document = Show {
        schema: json::SCHEMA,
        provider: &provider,
        entry: entry.zip(file.as_ref()).map(|(entry, file)| Applied {
            file: printable_path(&file.path),
            line: entry.line,
            pattern: entry.pattern.to_string(),
        }),
        pinned: writing.pinned(),
        keys: keys::pinned(&writing.pins, &files, are_pinned, &comments, now),
        writing: Rules::of(&writing),
        reading: Rules::of(&reading),
        attestation_key: reading
            .attestations
            .first()
            .and_then(|one| Some(one.key().ok()?.id())),
        denied: policy.denied.of(&provider).map(Denied::from).collect(),
        warnings: warnings.collect(),
    };
    let printer = &session.printer;
    print(&document, file.as_ref(), entry, printer);
    print_rules(&document, &writing, &reading, printer);
    document.denied.iter().for_each(|one| one.print(printer));
    for warning in &document.warnings {
        printer.warning(warning);
    }
    printer.document(&document);
    Ok(Ending::Done)
}

fn print(
    document: &Show<'_>,
    file: Option<&TrustPath>,
    entry: Option<&TrustEntry>,
    printer: &Printer,
) {
    printer.result(&format!("provider  {}", document.provider));
    let file = file.map(|file| &file.path);
    let applied = match (file, entry) {
        (None, _) => "none: `--trust` names no file".to_owned(),
        (Some(file), None) => format!("none: nothing in {} matches", printable_path(file)),
        (Some(file), Some(entry)) => format!(
            "{}, line {}: {}",
            printable_path(file),
            entry.line,
            entry.pattern
        ),
    };
    printer.result(&format!("entry     {applied}"));
    for key in &document.keys {
        key.print(printer);
    }
}

/// Prints what the rules mean for releases.
fn print_rules(document: &Show<'_>, writing: &Rule, reading: &Rule, printer: &Printer) {
    let provider = document.provider;
    let print_unsigned = |rule: &Rule, commands| {
        let pinned = rule.pinned().then_some(&*document.keys);
        keys::print_unsigned(pinned, rule, commands, printer);
    };
    if writing.pinned() || writing.unsigned == reading.unsigned {
        print_unsigned(writing, None);
    } else {
        print_unsigned(writing, Some("push and mirror"));
        print_unsigned(reading, Some("other commands"));
    }
    if !writing.pinned() {
        printer.result(&format!(
            "pinned    no: --require-pinned refuses {provider}, unless a lock file lists its packages"
        ));
    }
    keys::print_doubtful(writing, printer);
    if let Some(key) = &document.attestation_key {
        printer.result(&format!("attested  by the key {key}, in every store"));
    }
}
