//! Environment variables that set options.

use std::ffi::OsString;

use clap::builder::Resettable;

/// Parses the arguments of a command, and the variables of its options. An empty variable is treated as unset, as most programs do.
///
/// # Errors
/// An argument or the value of a variable is invalid. The error of clap names the option.
pub(super) fn matches(
    command: clap::Command,
    arguments: &[OsString],
) -> Result<clap::ArgMatches, clap::Error> {
    let command = command.mut_args(|argument| {
        let name = argument.get_env().and_then(std::env::var_os);
        match name.is_some_and(|value| value.is_empty()) {
            true => argument.env(Resettable::Reset),
            false => argument,
        }
    });
    command.try_get_matches_from(arguments)
}
