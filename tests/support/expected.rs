//! The table of `testdata/layouts/EXPECTED.tsv`, which `testdata/README.md` explains.

use std::fs;
use std::path::{Path, PathBuf};

/// One line.
#[derive(Clone, Debug)]
pub struct Line {
    pub layout: String,
    pub version: String,
    pub platform: String,
    pub outcome: String,
    pub reason: String,
}

impl Line {
    /// Whether the line installs a package, and does not list versions or tags.
    pub fn is_install(&self) -> bool {
        !["list", "ignored"].contains(&&*self.version)
    }

    /// Whether tfoci accepts the layout: it accepts what clients accept, except duplicate members, which readers interpret in different
    /// ways, and digests other than SHA-256.
    pub fn is_accepted(&self) -> bool {
        self.outcome == "ok"
            && !["-member-repeated", "-digest-malformed"]
                .iter()
                .any(|code| self.reason.ends_with(code))
    }

    /// The layout as a store address.
    pub fn store(&self) -> String {
        format!("oci-layout:{}", layouts().join(&self.layout).display())
    }
}

/// The directory of the layouts.
pub fn layouts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/layouts")
}

/// Every line.
pub fn lines() -> impl Iterator<Item = Line> {
    let table = fs::read_to_string(layouts().join("EXPECTED.tsv")).unwrap();
    let lines: Vec<Line> = table.lines().skip(1).map(read).collect();
    lines.into_iter()
}

fn read(line: &str) -> Line {
    let cells: Vec<&str> = line.split('\t').collect();
    let [layout, version, platform, outcome, reason, _] = cells[..] else {
        panic!("not six columns: {line}");
    };
    Line {
        layout: layout.to_owned(),
        version: version.to_owned(),
        platform: platform.to_owned(),
        outcome: outcome.to_owned(),
        reason: reason.to_owned(),
    }
}
