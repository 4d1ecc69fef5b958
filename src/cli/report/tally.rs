//! The summary: one line with counts.

use std::fmt;

use indicatif::HumanBytes;

use tfoci::error::counted;
use tfoci::event::Transfer;
use tfoci::install::Installed;
use tfoci::outcome::{Change, Published, PublishedPackage};

/// The counts of a run. A dry run counts what it would do.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) dry_run: bool,
    /// Versions that changed in the store; `None` if the run counts packages only.
    changed_versions: Option<usize>,
    packages: usize,
    mounted: usize,
    present: usize,
    /// Packages with the same zip as another package of their version, which was written.
    equal: usize,
    copied_bytes: u64,
    /// The bytes of copied packages and of other blobs.
    pub(super) written_bytes: u64,
}

impl Tally {
    pub(super) fn new(dry_run: bool) -> Self {
        Self {
            dry_run,
            ..Self::default()
        }
    }

    pub(super) fn add_published(&mut self, published: &Published) {
        *self.changed_versions.get_or_insert_default() +=
            usize::from(published.status != Change::Present);
        let beside = published.beside.map_or(0, |beside| beside.moved);
        self.written_bytes = self.written_bytes.saturating_add(published.bytes);
        self.copied_bytes = self.copied_bytes.saturating_add(beside);
        let is_written_with = |package: &PublishedPackage| {
            let mut all = published.packages.iter();
            let written = all.find(|one| one.status != Transfer::Present && one.zh == package.zh);
            package.zh.is_some() && written.is_some()
        };
        for package in &published.packages {
            if package.status == Transfer::Present && is_written_with(package) {
                self.packages += 1;
                self.equal += 1;
                continue;
            }
            self.add_package(package.status, package.size.unwrap_or_default());
        }
    }

    pub(super) fn add_installed(&mut self, installed: &Installed) {
        for package in &installed.packages {
            self.add_package(package.transfer, package.size);
        }
    }

    fn add_package(&mut self, transfer: Transfer, size: u64) {
        self.packages += 1;
        match transfer {
            Transfer::Mounted => self.mounted += 1,
            Transfer::Present => self.present += 1,
            Transfer::Copied | Transfer::Planned => {
                self.copied_bytes = self.copied_bytes.saturating_add(size);
            }
        }
    }

    /// Whether nothing changed.
    fn is_unchanged(&self) -> bool {
        match self.changed_versions {
            Some(versions) => versions == 0,
            None => self.packages == self.present,
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let present = self.present;
        if self.changed_versions.is_none() && self.packages == 0 {
            return f.write_str("nothing");
        }
        if self.is_unchanged() {
            let packages = counted(present, "package");
            return write!(f, "nothing: {packages} already present,");
        }
        if let Some(versions) = self.changed_versions {
            write!(f, "{}, ", counted(versions, "version"))?;
        }
        let packages = counted(self.packages - present - self.equal, "package");
        let bytes = HumanBytes(self.copied_bytes);
        let how = if self.dry_run { "to copy" } else { "copied" };
        write!(f, "{packages} ({bytes} {how}")?;
        if self.mounted > 0 {
            write!(f, ", {} reused", self.mounted)?;
        }
        if self.equal > 0 {
            let whose = if self.equal == 1 { "its" } else { "their" };
            write!(f, ", {} equal to another of {whose} version", self.equal)?;
        }
        if present > 0 {
            write!(f, ", {present} already present")?;
        }
        f.write_str(")")
    }
}
