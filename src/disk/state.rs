//! Whether a file changed.

use std::fs::Metadata;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// The time within which two changes of a file may have the same time. Systems count it in ticks of some milliseconds, file systems in up to
/// two seconds.
const TICK: Duration = Duration::from_secs(2);

/// What the system says of a file. It changes when a program writes to the file or replaces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileState {
    length: u64,
    modified: Option<SystemTime>,
    /// The file system and the number of the file in it.
    place: Option<(u64, u64)>,
    /// The time of the last change of the file or of what the system says of it, which no program can set; `None` if the system has none.
    changed: Option<SystemTime>,
}

impl FileState {
    /// The state of the regular file at a path; `None` if there is none. A symbolic link is none, since its own state says nothing of the file.
    pub fn at(path: &Path) -> Option<Self> {
        let found = std::fs::symlink_metadata(path).ok();
        let found = found.filter(Metadata::is_file)?;
        let (place, changed) = place_and_change(&found);
        Some(Self {
            length: found.len(),
            modified: found.modified().ok(),
            place,
            changed,
        })
    }

    /// Whether every change from now on leads to another state. The next change after a recent one may have the same time.
    pub fn is_settled(&self) -> bool {
        let age = self.changed.and_then(|changed| changed.elapsed().ok());
        age.is_some_and(|age| age > TICK)
    }

    /// Whether the two states differ at most by what programs change without writing to the file, such as its number of hard links. A program
    /// that writes can pretend that, too.
    pub fn may_have_content_of(&self, other: &Self) -> bool {
        let changed = self.changed;
        *self == Self { changed, ..*other }
    }
}

/// Where a file is, and when it was changed last.
#[cfg(unix)]
fn place_and_change(found: &Metadata) -> (Option<(u64, u64)>, Option<SystemTime>) {
    use std::os::unix::fs::MetadataExt as _;
    let seconds = u64::try_from(found.ctime()).ok();
    let rest = u32::try_from(found.ctime_nsec()).unwrap_or_default();
    let age = seconds.map(|seconds| Duration::new(seconds, rest));
    let changed = age.and_then(|age| SystemTime::UNIX_EPOCH.checked_add(age));
    (Some((found.dev(), found.ino())), changed)
}

#[cfg(not(unix))]
fn place_and_change(_: &Metadata) -> (Option<(u64, u64)>, Option<SystemTime>) {
    (None, None)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::*;

    #[test]
    fn a_time_that_was_put_back_hides_no_change() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        fs::write(&path, b"first").unwrap();
        let first = FileState::at(&path).unwrap();
        assert!(!first.is_settled());
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        let again = || {
            fs::write(&path, b"other").unwrap();
            let file = File::options().write(true).open(&path).unwrap();
            file.set_modified(time).unwrap();
            FileState::at(&path).unwrap()
        };
        let mut second = again();
        // Until the next tick.
        while second == first {
            second = again();
        }
        assert!(second.may_have_content_of(&first));
        fs::write(&path, b"longer").unwrap();
        assert!(!FileState::at(&path).unwrap().may_have_content_of(&first));
        assert_eq!(FileState::at(&directory.path().join("none")), None);
        let link = directory.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert_eq!(FileState::at(&link), None);
    }
}
