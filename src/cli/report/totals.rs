//! The counts of a version, and their sums.

use indicatif::HumanBytes;

use tfoci::error::counted;
use tfoci::event::Transfer;

/// The counts of a version or of a run. A dry run counts what it would do.
#[derive(Default)]
pub(super) struct Totals {
    /// The versions that changed.
    pub(super) versions: usize,
    pub(super) packages: usize,
    pub(super) mounted: usize,
    pub(super) present: usize,
    /// The bytes of copied packages.
    pub(super) copied: u64,
    /// The bytes of other blobs that were copied.
    pub(super) beside: u64,
    /// The bytes of all packages whose sizes are known.
    pub(super) size: u64,
    /// The bytes that were written into a store.
    pub(super) written: u64,
}

impl Totals {
    /// The counts of a version with these packages.
    pub(super) fn of(packages: impl Iterator<Item = (Transfer, Option<u64>)>) -> Self {
        let mut totals = Self::default();
        for (transfer, size) in packages {
            let size = size.unwrap_or_default();
            totals.packages += 1;
            totals.size = totals.size.saturating_add(size);
            match transfer {
                Transfer::Mounted => totals.mounted += 1,
                Transfer::Present => totals.present += 1,
                Transfer::Copied | Transfer::Planned => {
                    totals.copied = totals.copied.saturating_add(size);
                }
            }
        }
        totals.versions = usize::from(totals.added() > 0);
        totals
    }

    pub(super) fn add(&mut self, more: &Self) {
        self.versions += more.versions;
        self.packages += more.packages;
        self.mounted += more.mounted;
        self.present += more.present;
        self.copied = self.copied.saturating_add(more.copied);
        self.beside = self.beside.saturating_add(more.beside);
        self.written = self.written.saturating_add(more.written);
    }

    /// The number of packages that the destination did not have.
    pub(super) fn added(&self) -> usize {
        self.packages - self.present
    }

    /// One line, without the verb before it.
    pub(super) fn text(&self, dry_run: bool) -> String {
        let present = self.present;
        if self.versions == 0 && present == 0 {
            return "nothing".to_owned();
        }
        if self.versions == 0 {
            let packages = counted(present, "package");
            return format!("nothing: {packages} already present,");
        }
        let versions = counted(self.versions, "version");
        if self.packages == 0 {
            return versions;
        }
        let packages = counted(self.added(), "package");
        let bytes = HumanBytes(self.copied.saturating_add(self.beside));
        let how = if dry_run { "to copy" } else { "copied" };
        let mut text = format!("{versions}, {packages} ({bytes} {how}");
        if self.mounted > 0 {
            text += &format!(", {} reused", self.mounted);
        }
        if present > 0 {
            text += &format!(", {present} already present");
        }
        text + ")"
    }
}
