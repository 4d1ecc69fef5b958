//! Usage errors and help, which clap writes.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};

use tfoci::version::Version;

use super::super::neutral;
use super::super::redaction::Redaction;
use super::wrong;

/// Removes clap's tip to pass an unknown option as a value: no command takes values that begin with a dash.
fn remove_escape_tip(error: &mut clap::Error) {
    if let Some(ContextValue::StyledStrs(mut tips)) = error.remove(ContextKind::Suggested) {
        tips.retain(|tip| !tip.to_string().contains("as a value"));
        if !tips.is_empty() {
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
        }
    }
}

/// Replaces clap's tips by one of our own, if there is one.
fn add_tip(error: &mut clap::Error, arguments: &[OsString]) {
    let tip = command_tip(error)
        .or_else(|| spelling_tip(error, arguments))
        .or_else(|| check_tip(error))
        .or_else(|| version_tip(error, arguments));
    if let Some(tip) = tip {
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::SuggestedSubcommand);
        let tips = ContextValue::StyledStrs(vec![tip.into()]);
        error.insert(ContextKind::Suggested, tips);
    }
}

/// The text of a kind, if the error has one.
fn text(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    }
}

/// What is meant by a version that stands alone after a provider: `acme/demo 1.0.0`.
fn version_tip(error: &clap::Error, arguments: &[OsString]) -> Option<String> {
    let alone = text(error, ContextKind::InvalidArg)?;
    let texts: Vec<&str> = arguments.iter().filter_map(|text| text.to_str()).collect();
    let after = texts.windows(2).find_map(|pair| match pair {
        [before, text] if *text == alone => Some(*before),
        _ => None,
    });
    let provider = after.filter(|text| text.contains('/') && !text.contains(['@', ':']))?;
    let is_version = alone.parse::<Version>().is_ok();
    is_version.then(|| format!("a version follows an `@`: `{provider}@{alone}`"))
}

/// The command that does what other tools have a command for.
fn command_tip(error: &clap::Error) -> Option<String> {
    let tip = match text(error, ContextKind::InvalidSubcommand)? {
        "verify" | "check" | "validate" | "audit" => {
            "`tfoci inspect ADDR@VERSION --from STORE --trust FILE --require-pinned` verifies a version"
        }
        "pull" | "get" | "download" | "fetch" | "init" => {
            "`tfoci install` puts packages into this directory, `tfoci mirror` and `tfoci copy` into a store"
        }
        "sync" => "`tfoci mirror` copies from origins, and `tfoci copy` from another store",
        "publish" | "release" | "upload" => "`tfoci push` publishes a release",
        "sign" => {
            "tfoci signs nothing: `gpg --detach-sign` makes the signature that `tfoci push` needs"
        }
        "update" | "upgrade" | "outdated" => {
            "`tfoci lock --upgrade` selects the newest versions, and with `--check` only shows them"
        }
        "export" | "save" | "import" | "load" | "backup" => {
            "`tfoci copy` copies to and from a directory, `oci-layout:DIR`"
        }
        "delete" | "remove" | "rm" | "prune" | "gc" | "clean" | "unpublish" | "withdraw" => {
            "tfoci deletes nothing from a store: `tfoci help mirror-file` says how to withdraw a version"
        }
        "show" | "info" | "search" => {
            "`tfoci list`, `versions` and `inspect` show what a store has"
        }
        "pin" | "key" | "keys" => {
            "`tfoci mirror --pin-new` pins keys, and `tfoci trust` shows those of a trust file"
        }
        "auth" | "whoami" | "token" | "tokens" => {
            "`tfoci help credentials` says where tfoci finds passwords and tokens"
        }
        "diff" => "`tfoci lock --check` compares a lock file",
        _ => return None,
    };
    Some(tip.to_owned())
}

/// What is meant by an argument that other tools, or other commands, have.
fn spelling_tip(error: &clap::Error, arguments: &[OsString]) -> Option<String> {
    let value = text(error, ContextKind::InvalidValue).unwrap_or_default();
    let tip = match text(error, ContextKind::InvalidArg)? {
        platform if platform.starts_with("--platform") && value == "all" => {
            "without `--platform`, all are meant".to_owned()
        }
        platform if platform.starts_with("--platform") && value.contains(',') => {
            let all: Vec<String> = value
                .split(',')
                .map(|one| format!("--platform {one}"))
                .collect();
            format!("repeat the option: `{}`", all.join(" "))
        }
        "--json" => "`--format json` prints one document".to_owned(),
        "--version" => {
            "a version follows its provider: `ADDR@VERSION`; `tfoci --version` is that of tfoci"
                .to_owned()
        }
        "-p" | "--password" => {
            "`--password-stdin` reads the password from standard input".to_owned()
        }
        "--into" | "--out" | "--output" | "--output-dir" => {
            "a store is named with `--to`; directories are written by `tfoci site DIR` and `tfoci install --into DIR`"
                .to_owned()
        }
        "--to" => {
            "this command writes to no store: `tfoci site DIR` and `tfoci install --into DIR` write into a directory"
                .to_owned()
        }
        "--from" if arguments.iter().any(|word| word == "push") => "the folder of the release stands alone: `tfoci push FOLDER --to STORE`".to_owned(),
        store if store.starts_with("oci-layout:") || store.contains("{namespace}") => {
            format!("a store is named with `--from {store}`")
        }
        _ => return None,
    };
    Some(tip)
}

/// How to name the file for `cli-config --check`, which takes no arguments.
fn check_tip(error: &clap::Error) -> Option<String> {
    let is_check = text(error, ContextKind::InvalidArg)? == "--check"
        && text(error, ContextKind::PriorArg)? == "[PATTERN]...";
    is_check.then(|| "`--cli-config FILE` names the configuration to check".to_owned())
}

/// Prints clap's usage error or help. Both may repeat arguments or variables, so they are sanitised.
pub(in crate::cli) fn usage(mut error: clap::Error, arguments: &[OsString]) -> ExitCode {
    remove_escape_tip(&mut error);
    add_tip(&mut error, arguments);
    let redaction = Redaction::of(arguments);
    let plain = redaction.apply(&error.render().to_string());
    let lines: Vec<String> = plain.lines().map(neutral::quoted).collect();
    let text = neutral::text(&lines.join("\n"));
    let text = text.trim_end();
    // Help shows the values of variables. If none contains an escape character, all escape sequences are clap's own styles.
    let is_ours = std::env::vars_os().all(|(_, value)| !value.as_encoded_bytes().contains(&0x1b));
    let _closed = if error.use_stderr() {
        let begin = "error:";
        let rest = text.strip_prefix(begin);
        let begin = wrong().for_stderr().apply_to(rest.map_or("", |_| begin));
        writeln!(io::stderr(), "{begin}{}", rest.unwrap_or(text))
    } else if is_ours && text == plain.trim_end() && console::colors_enabled() {
        writeln!(
            io::stdout(),
            "{}",
            error.render().ansi().to_string().trim_end()
        )
    } else {
        writeln!(io::stdout(), "{text}")
    };
    ExitCode::from(if error.use_stderr() { 2 } else { 0 })
}
