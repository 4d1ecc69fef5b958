//! The executables: `tfoci`, and `oci-push`, which is `tfoci push` by another name.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main(std::env::args_os())
}
