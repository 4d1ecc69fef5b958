//! The executable `tfoci`. By the name `oci-push` it is `tfoci push`.

#![cfg_attr(not(test), deny(clippy::too_many_lines))]

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::without_core_dumps();
    cli::main(std::env::args_os())
}
