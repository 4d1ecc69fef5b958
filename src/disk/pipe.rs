//! Reads pipes and terminals that the user named, such as `<(program)`, with a time limit.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::time::{Duration, Instant};

use super::error::Refusal;

/// The time limit for a program to open the pipe for writing. Shells start the program of `<(program)` before tfoci, so that
/// only a pipe without any writer takes so long.
const UNTIL_A_WRITER: Duration = Duration::from_secs(5);
/// The time limit to read to the end. A program may have to prompt the user or query a network.
#[cfg(not(test))]
const UNTIL_THE_END: Duration = Duration::from_secs(30);
#[cfg(test)]
const UNTIL_THE_END: Duration = Duration::from_secs(1);
/// The pause between two attempts to read. It adds no noticeable delay.
const PAUSE: Duration = Duration::from_millis(20);

/// Reads a file that was opened without blocking.
pub(super) struct PipeReader {
    file: File,
    opened: Instant,
    /// Whether an empty read may mean that no program has opened the pipe for writing yet.
    may_begin: bool,
}

impl PipeReader {
    pub(super) fn new(file: File, metadata: &Metadata) -> Self {
        Self {
            file,
            opened: Instant::now(),
            may_begin: is_pipe(metadata),
        }
    }
}

impl Read for PipeReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let (limit, refusal) = match self.file.read(buffer) {
                Ok(0) if self.may_begin => (UNTIL_A_WRITER, Refusal::NoWriter(UNTIL_A_WRITER)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.may_begin = false;
                    (UNTIL_THE_END, Refusal::Endless(UNTIL_THE_END))
                }
                read => {
                    self.may_begin = false;
                    return read;
                }
            };
            if self.opened.elapsed() > limit {
                return Err(refusal.into());
            }
            std::thread::sleep(PAUSE);
        }
    }
}

#[cfg(unix)]
fn is_pipe(metadata: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    metadata.file_type().is_fifo()
}

#[cfg(not(unix))]
fn is_pipe(_: &Metadata) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_pipe_that_stays_open_is_an_error() {
        let scene = tempfile::tempdir().unwrap();
        let path = scene.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        let mut options = File::options();
        let file = super::super::files::non_blocking(options.read(true))
            .open(&path)
            .unwrap();
        let mut writer = File::options().write(true).open(&path).unwrap();
        writer.write_all(b"key").unwrap();
        let metadata = file.metadata().unwrap();
        let mut received = Vec::new();
        let read = PipeReader::new(file, &metadata).read_to_end(&mut received);
        let said = read.unwrap_err().to_string();
        assert_eq!(said, "it did not come to an end within 1 seconds");
        assert_eq!(received, b"key");
    }
}
