//! Reads pipes and terminals that the user named, such as `<(program)`, with a time limit.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::time::{Duration, Instant};

/// The time limit for the first bytes, if no program has the pipe open for writing. Shells start the program of `<(program)` before tfoci, so that
/// only a pipe without any writer takes so long, or a program that fails.
#[cfg(not(test))]
const UNTIL_A_WRITER: Duration = Duration::from_secs(5);
#[cfg(test)]
const UNTIL_A_WRITER: Duration = Duration::from_secs(1);
/// The time limit to read to the end. A program may have to prompt the user or query a network.
#[cfg(not(test))]
const UNTIL_THE_END: Duration = Duration::from_secs(30);
#[cfg(test)]
const UNTIL_THE_END: Duration = Duration::from_secs(2);
/// The pause between two attempts to read. It adds no noticeable delay.
const PAUSE: Duration = Duration::from_millis(20);

/// Reads a file that was opened without blocking.
pub(super) struct PipeReader {
    file: File,
    opened: Instant,
    /// Whether an end means that nothing was written yet. A program that decrypts or downloads the file and fails writes nothing; the empty file would
    /// be one without any pinned key.
    must_begin: bool,
}

impl PipeReader {
    pub(super) fn new(file: File, metadata: &Metadata) -> Self {
        Self {
            file,
            opened: Instant::now(),
            must_begin: is_pipe(metadata),
        }
    }
}

impl Read for PipeReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let (limit, what) = match self.file.read(buffer) {
                Ok(0) if self.must_begin => (UNTIL_A_WRITER, "no program wrote to it"),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    (UNTIL_THE_END, "it did not come to an end")
                }
                read => {
                    self.must_begin = false;
                    return read;
                }
            };
            if self.opened.elapsed() > limit {
                let said = format!("{what} within {} seconds", limit.as_secs());
                return Err(io::Error::other(said));
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
        drop(writer);
        let read = reader.read_to_end(&mut Vec::new());
        let said = read.unwrap_err().to_string();
        assert_eq!(said, "no program wrote to it within 1 seconds");
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
        assert_eq!(said, "it did not come to an end within 2 seconds");
        assert_eq!(received, b"key");
    }
}
