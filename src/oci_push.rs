//! `oci-push`: runs the `tfoci` beside it with the command `push`. A link named `oci-push` to `tfoci` does the same.

use std::env::{args_os, consts::EXE_SUFFIX, current_exe};
use std::io::{self, Write};
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let tfoci = current_exe().map(|own| own.with_file_name(format!("tfoci{EXE_SUFFIX}")));
    let ran = tfoci.and_then(|tfoci| run(Command::new(tfoci)));
    ran.unwrap_or_else(|error| {
        let line =
            format!("error: cannot run the `tfoci` that belongs beside `oci-push`: {error}\n");
        let _ = io::stderr().write_all(line.as_bytes());
        ExitCode::FAILURE
    })
}

/// Becomes `tfoci`, which knows by its name what to do, so that signals and the terminal reach it directly.
#[cfg(unix)]
fn run(mut tfoci: Command) -> io::Result<ExitCode> {
    use std::os::unix::process::CommandExt;
    Err(tfoci.arg0("oci-push").args(args_os().skip(1)).exec())
}

#[cfg(not(unix))]
fn run(mut tfoci: Command) -> io::Result<ExitCode> {
    let status = tfoci.arg("push").args(args_os().skip(1)).status()?;
    Ok(u8::try_from(status.code().unwrap_or(1)).map_or(ExitCode::FAILURE, ExitCode::from))
}
