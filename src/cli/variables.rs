//! Environment variables that set options.

use std::collections::BTreeMap;
use std::ffi::OsString;

use clap::builder::Resettable;
use clap::error::{ContextKind, ContextValue};

/// Parses the arguments of a command, and the variables of its options.
///
/// # Errors
/// As clap says. If a variable is wrong, the error names it.
pub(super) fn matches(
    command: clap::Command,
    arguments: &[OsString],
) -> Result<clap::ArgMatches, clap::Error> {
    let command = ignoring_empty_variables(command);
    let mut variables = BTreeMap::new();
    for argument in command.get_arguments() {
        if let (Some(option), Some(variable)) = (argument.get_long(), argument.get_env()) {
            let variable = variable.to_string_lossy().into_owned();
            variables.insert(format!("--{option}"), variable);
        }
    }
    let matches = command.try_get_matches_from(arguments);
    matches.map_err(|error| naming_variable(error, &variables, arguments))
}

/// An error about the value of a variable names the variable: clap names only the option that is set by it.
fn naming_variable(
    mut error: clap::Error,
    variables: &BTreeMap<String, String>,
    arguments: &[OsString],
) -> clap::Error {
    let Some(ContextValue::String(named)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let option = named.split(' ').next().unwrap_or_default();
    let is_given = |argument: &OsString| argument.to_string_lossy().starts_with(option);
    if let Some(variable) = variables.get(option)
        && !arguments.iter().any(is_given)
    {
        let named = ContextValue::String(format!("{variable} ({named})"));
        error.insert(ContextKind::InvalidArg, named);
    }
    error
}

/// Treats empty variables as unset, as most programs do.
fn ignoring_empty_variables(command: clap::Command) -> clap::Command {
    command.mut_args(|argument| {
        let name = argument.get_env().and_then(std::env::var_os);
        match name.is_some_and(|value| value.is_empty()) {
            true => argument.env(Resettable::Reset),
            false => argument,
        }
    })
}
