//! `tfoci trust show`.

use std::time::SystemTime;

use clap::Args;

use tfoci::authentication::Anchor;
use tfoci::error::printable_path;
use tfoci::release::KeyRing;
use tfoci::trust::rule::Unsigned;
use tfoci::trust::{self, Budget, PolicyEntry, Rule};

use super::document::{Applied, Rules, Show};
use super::keys::{self, DescribedFile, Key};
use super::rules;
use super::warnings;
use crate::cli::Ending;
use crate::cli::arguments::Trust;
use crate::cli::error::CommandError;
use crate::cli::json;
use crate::cli::printer::Printer;
use crate::cli::session::{Session, TrustPath, policy};

const EXAMPLES: &str = "\
Examples:
  tfoci trust show example.com/acme/demo --trust trust.toml
  tfoci trust show example.com/acme/demo --key acme.asc";

/// Show which keys and rules apply to a provider
///
/// It prints the entry of the trust file that applies, the keys that are pinned, and which releases the commands refuse.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The provider
    #[arg(value_name = "ADDR")]
    provider: String,
    #[command(flatten)]
    trust: Trust,
}

/// Prints the entry, the keys and the rules that apply to one provider. The rules of commands that write a store may differ from those of
/// commands that read one.
pub(super) fn run(arguments: &Arguments, session: &Session) -> Result<Ending, CommandError> {
    let provider = session.provider(&arguments.provider, "trust show")?;
    let now = SystemTime::now();
    let file = TrustPath::of(&arguments.trust, None);
    let policy = policy(&arguments.trust, file.as_ref(), |_, _| ())?;
    let entry = policy.entry_for(&provider);
    let given = policy.rule_for(&provider);
    let writing = given.clone().unwrap_or_default();
    let reading = given.unwrap_or_else(Rule::reading);
    let files = described(&writing.keys, now)?;
    let are_files_pinned = writing
        .keys
        .iter()
        .any(|ring| ring.anchor == Anchor::Pinned);
    let warnings = files.iter().flat_map(|file| {
        let keys = file.keys.iter();
        keys.filter_map(|key| warnings::of_key(key, &file.name, writing.expired, now))
    });
    let comments = entry.map(|entry| &entry.comments);
    let with_comment = |key: Key| match comments {
        Some(comments) => key.with_comment(comments),
        None => key,
    };
    let pinned_keys = match are_files_pinned {
        true => keys::pinned(&writing.pins, &files, now),
        false => keys::of_fingerprints(&writing.pins, &files, now),
    };
    let document = Show {
        schema: json::SCHEMA,
        provider: &provider,
        entry: entry.zip(file).map(|(entry, file)| Applied {
            file: printable_path(&file.path),
            line: entry.line,
            pattern: &entry.pattern,
        }),
        pinned: writing.pinned(),
        keys: pinned_keys.into_iter().map(with_comment).collect(),
        writing: documented(&writing),
        reading: documented(&reading),
        warnings: warnings.collect(),
    };
    let printer = &session.printer;
    print(&document, arguments, entry, printer);
    print_rules(&document, &writing, &reading, printer);
    for warning in &document.warnings {
        printer.warning(warning);
    }
    printer.document(&document);
    Ok(Ending::Done)
}

fn described(rings: &[KeyRing], now: SystemTime) -> Result<Vec<DescribedFile>, CommandError> {
    Ok(keys::described(
        rings,
        trust::describe(rings, now, &Budget::default())?,
    ))
}

fn documented(rule: &Rule) -> Rules {
    // If keys are pinned, an unsigned release is refused, whatever `unsigned` says.
    let unsigned = match rule.pinned() {
        true => Unsigned::Refuse,
        false => rule.unsigned,
    };
    Rules::of(unsigned, rule.expired, rule.weak)
}

fn print(
    document: &Show<'_>,
    arguments: &Arguments,
    entry: Option<&PolicyEntry>,
    printer: &Printer,
) {
    printer.result(&format!("provider  {}", document.provider));
    let applied = match (&arguments.trust.trust, entry) {
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
        let signers = keys::signers(&document.keys, rule.expired);
        let signers = rule.pinned().then_some(&*signers);
        rules::print_unsigned(signers, rule.unsigned, commands, printer);
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
    rules::print_doubtful(writing.expired, writing.weak, printer);
}
