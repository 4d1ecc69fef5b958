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
    /// What an end before the first byte means.
    end: EmptyEnd,
}

/// What it means if a file ends before its first byte.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EmptyEnd {
    /// Perhaps no program has opened the pipe for writing yet.
    NoWriterYet,
    /// The program wrote nothing. If it decrypts or downloads the file, it failed; the empty file would be one without any pinned key.
    Failed,
    /// The file is empty, or bytes came before.
    Allowed,
}

impl PipeReader {
    pub(super) fn new(file: File, metadata: &Metadata) -> Self {
        Self {
            file,
            opened: Instant::now(),
            end: match is_pipe(metadata) {
                true => EmptyEnd::NoWriterYet,
                false => EmptyEnd::Allowed,
            },
        }
    }
}

impl Read for PipeReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let (limit, refusal) = match (self.file.read(buffer), self.end) {
                (Ok(0), EmptyEnd::NoWriterYet) => {
                    (UNTIL_A_WRITER, Refusal::NoWriter(UNTIL_A_WRITER))
                }
                (Ok(0), EmptyEnd::Failed) => return Err(Refusal::WroteNothing.into()),
                (Err(error), end) if error.kind() == io::ErrorKind::WouldBlock => {
                    if end == EmptyEnd::NoWriterYet {
                        self.end = EmptyEnd::Failed;
                    }
                    (UNTIL_THE_END, Refusal::Endless(UNTIL_THE_END))
                }
                (read, _) => {
                    self.end = EmptyEnd::Allowed;
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

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// The reader and the writer of a pipe.
    fn pipe() -> (PipeReader, File) {
        let scene = tempfile::tempdir().unwrap();
        let path = scene.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        let mut options = File::options();
        let file = super::super::files::non_blocking(options.read(true))
            .open(&path)
            .unwrap();
        let writer = File::options().write(true).open(&path).unwrap();
        let metadata = file.metadata().unwrap();
        (PipeReader::new(file, &metadata), writer)
    }

    #[test]
    fn a_program_that_wrote_nothing_has_failed() {
        let (mut reader, writer) = pipe();
        let mut fails = || reader.read_to_end(&mut Vec::new()).unwrap_err().to_string();
        let endless = "it did not come to an end within 1 seconds";
        assert_eq!(fails(), endless);
        drop(writer);
        // A program that another test starts holds the pipe open until it runs.
        let mut said = fails();
        while said == endless {
            std::thread::yield_now();
            said = fails();
        }
        let expected = "the program that it belongs to ended and wrote nothing";
        assert_eq!(said, expected);
        // A program that ends after its bytes has not.
        let (mut reader, mut writer) = pipe();
        writer.write_all(b"key").unwrap();
        drop(writer);
        let mut received = Vec::new();
        reader.read_to_end(&mut received).unwrap();
        assert_eq!(received, b"key");
    }

    #[test]
    fn a_pipe_that_stays_open_is_an_error() {
        let (mut reader, mut writer) = pipe();
        writer.write_all(b"key").unwrap();
        let mut received = Vec::new();
        let read = reader.read_to_end(&mut received);
        let said = read.unwrap_err().to_string();
        assert_eq!(said, "it did not come to an end within 1 seconds");
        assert_eq!(received, b"key");
    }
}
