//! Tips about command lines that clap rejects: what other tools call a command or an option, and arguments in the wrong place.

use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue};

use tfoci::address::{Hostname, ProviderAddr};
use tfoci::error::printable;
use tfoci::nearest::nearest;
use tfoci::version::Version;

/// How results are printed for programs.
const JSON: &str = "`--format json` prints one document";

/// The tip for a usage error, if there is one.
pub(in crate::cli) fn tip(error: &clap::Error, arguments: &[OsString]) -> Option<String> {
    command_tip(error)
        .or_else(|| spelling_tip(error, arguments))
        .or_else(|| check_tip(error))
        .or_else(|| destination_tip(error, arguments))
        .or_else(|| fill_tip(error))
        .or_else(|| folder_tip(error))
        .or_else(|| version_tip(error, arguments))
        .or_else(|| provider_tip(error, arguments))
}

/// Why options of `serve` need another one.
fn fill_tip(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    missing.iter().any(|option| option == "--fill").then(|| {
        "these options choose what `--fill` mirrors; without it, the server has what the store has"
            .to_owned()
    })
}

/// Why `install --into` takes no `--client`.
fn folder_tip(error: &clap::Error) -> Option<String> {
    let is_about =
        |kind, option: &str| text(error, kind).is_some_and(|text| text.starts_with(option));
    let kinds = [
        (ContextKind::InvalidArg, ContextKind::PriorArg),
        (ContextKind::PriorArg, ContextKind::InvalidArg),
    ];
    let mut kinds = kinds.into_iter();
    let is_both =
        kinds.any(|(one, other)| is_about(one, "--into ") && is_about(other, "--client "));
    is_both.then(|| {
        "every client can install from the folder that `--into` names: leave out `--client`"
            .to_owned()
    })
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

/// How to name the provider for `push`, which takes only the folder as an argument.
fn provider_tip(error: &clap::Error, arguments: &[OsString]) -> Option<String> {
    let extra = text(error, ContextKind::InvalidArg)?;
    let mut texts = arguments.iter().filter_map(|text| text.to_str());
    if extra.starts_with('-') || !texts.any(|word| word == "push") {
        return None;
    }
    let is_provider = |text: &&str| {
        let address = ProviderAddr::parse(text, &Hostname::default_origin());
        text.contains('/') && address.is_ok() && !Path::new(text).is_dir()
    };
    let provider = texts.find(is_provider)?;
    let provider = printable(provider);
    Some(format!(
        "the provider is named with `--provider {provider}`"
    ))
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
            "tfoci deletes nothing from a store: `tfoci help maintenance` says how to withdraw a version"
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
        topic @ ("options" | "mirror-file" | "maintenance" | "templates" | "credentials"
        | "environment" | "deployment" | "json" | "exit-codes") => {
            return Some(format!("`tfoci help {topic}` explains this topic"));
        }
        command => return meant_command(command, error),
    };
    Some(tip.to_owned())
}

/// The command that is nearest to a misspelt one. clap would name any that have some letters in common.
fn meant_command(command: &str, error: &clap::Error) -> Option<String> {
    let Some(ContextValue::Strings(similar)) = error.get(ContextKind::SuggestedSubcommand) else {
        return None;
    };
    let similar: Vec<&str> = similar.iter().map(String::as_str).collect();
    let meant = nearest(command, &similar)?;
    Some(format!("did you mean `{meant}`?"))
}

/// What is meant by an argument that other tools, or other commands, have.
fn spelling_tip(error: &clap::Error, arguments: &[OsString]) -> Option<String> {
    let value = text(error, ContextKind::InvalidValue).unwrap_or_default();
    let tip = match text(error, ContextKind::InvalidArg)? {
        platform if platform.starts_with("--platform") && value == "all" => {
            "without `--platform`, all are meant"
        }
        platform if platform.starts_with("--platform") && value.contains(',') => {
            let all: Vec<String> = value
                .split(',')
                .map(|one| format!("--platform {one}"))
                .collect();
            return Some(format!("repeat the option: `{}`", all.join(" ")));
        }
        "--json" => JSON,
        "-o" | "--output" if is_json(arguments) => JSON,
        "--version" => {
            "a version follows its provider: `ADDR@VERSION`; `tfoci --version` is that of tfoci"
        }
        "-p" | "--password" => "`--password-stdin` reads the password from standard input",
        "--into" | "--out" | "--output" | "--output-dir" => {
            "a store is named with `--to`; directories are written by `tfoci site DIR` and `tfoci install --into DIR`"
        }
        "--to" if reads(arguments) => "did you mean `--from`?",
        "--to" => {
            "this command writes to no store: `tfoci site DIR` and `tfoci install --into DIR` write into a directory"
        }
        "--from" if arguments.iter().any(|word| word == "push") => {
            "the folder of the release stands alone: `tfoci push FOLDER --to STORE`"
        }
        store if store.starts_with("oci-layout:") || store.contains("{namespace}") => {
            return Some(format!("a store is named with `--from {store}`"));
        }
        _ => return None,
    };
    Some(tip.to_owned())
}

/// Whether the command only shows what a store has.
fn reads(arguments: &[OsString]) -> bool {
    let is_command = |word: &OsString| {
        let commands = ["list", "versions", "inspect", "resolve"];
        commands.iter().any(|command| word == command)
    };
    arguments.iter().any(is_command)
}

/// Whether the output of the command is to be JSON, as other tools spell it.
fn is_json(arguments: &[OsString]) -> bool {
    let is = |word: &OsString, text: &str| word == text;
    let apart = arguments.windows(2).any(|pair| match pair {
        [option, value] => (is(option, "-o") || is(option, "--output")) && is(value, "json"),
        _ => false,
    });
    let joined = ["-ojson", "-o=json", "--output=json"];
    apart
        || arguments
            .iter()
            .any(|word| joined.iter().any(|text| is(word, text)))
}

/// How to name the file for `cli-config --check`, which takes no arguments.
fn check_tip(error: &clap::Error) -> Option<String> {
    let is_check = text(error, ContextKind::InvalidArg)? == "--check"
        && text(error, ContextKind::PriorArg)? == "[PATTERN]...";
    is_check.then(|| "`--cli-config FILE` names the configuration to check".to_owned())
}

/// How to name the destination of `copy`, if its mirror file has one.
fn destination_tip(error: &clap::Error, arguments: &[OsString]) -> Option<String> {
    let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let lacks_to = missing.iter().any(|option| option.starts_with("--to "));
    let has = |name: &str| arguments.iter().any(|word| word == name);
    (lacks_to && has("copy") && has("--file")).then(|| {
        "the `to` of the mirror file is for `mirror` only: name the destination with `--to STORE`"
            .to_owned()
    })
}
