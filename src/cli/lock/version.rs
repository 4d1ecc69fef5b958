//! The lines about a version that was locked or installed, and the warnings about its hashes.

use std::collections::BTreeSet;

use tfoci::authentication::{Anchor, Status};
use tfoci::error::{MANY, listed, printable_path};
use tfoci::event::{Subject, Transfer};
use tfoci::hash::PackageHash;
use tfoci::lock::Locked;

use super::Writing;
use super::report::Report;
use crate::cli::progress::{explained, tone};

impl Report<'_> {
    /// Prints what was done with a version.
    pub(super) fn print_locked(&self, locked: &Locked) {
        let (request, printer) = (self.request, &self.session.printer);
        let subject = Subject::version(&locked.provider, &locked.version);
        let names = locked.files.iter().filter_map(|file| self.roots.get(*file));
        let names: Vec<String> = names.map(|root| printable_path(&root.directory)).collect();
        let directories = match self.files.len() {
            1 => String::new(),
            _ => format!(" in {}", names.join(", ")),
        };
        let how = match locked.authentication.anchor {
            Some(Anchor::Lock) if request.installs => "it matches the lock file".to_owned(),
            _ => explained(&locked.authentication),
        };
        let mut packages = locked.packages.iter();
        let are_present = packages.all(|one| one.transfer == Transfer::Present);
        let (verb, more) = match (request.installs, locked.hashes.len()) {
            (true, _) if are_present => ("Present", String::new()),
            (true, _) if request.dry_run => ("Would add", String::new()),
            (true, _) => ("Installed", String::new()),
            (false, count) => {
                let verb = request.writing.verb("Locked", "Checked", "Would lock");
                let plural = if count == 1 { "" } else { "es" };
                let comma = if directories.is_empty() { "" } else { "," };
                (verb, format!(", {count} hash{plural}{comma}{directories}"))
            }
        };
        let text = format!("{subject}   {how}{more}");
        printer.line(tone(&locked.authentication), verb, &text);
        for package in &locked.packages {
            printer.result(&package.path.display().to_string());
        }
        if !request.installs || request.writing == Writing::Real {
            self.warn_of_others(&subject, locked);
        }
        self.warn_of_hashes(&subject, locked, &directories);
        printer.warn_of_notes(&subject, &locked.authentication);
        self.warn_of_lost_h1(&subject, locked);
    }

    /// Warns that the hashes of only some platforms are known. The lock file may have had those of other platforms before.
    fn warn_of_others(&self, subject: &Subject, locked: &Locked) {
        let Some(only) = &locked.only else {
            return;
        };
        let why = match locked.authentication.status {
            _ if locked.place.is_mirror() => {
                "a mirror has no signatures: `--from STORE --trust FILE` locks every platform, and `--platform all` or `--trust-store` those that the mirror has"
            }
            Status::Signed => {
                "no key is pinned for it: `--trust FILE` or `--key FILE` locks every platform"
            }
            _ => "the release is not signed: `--platform all` downloads and locks the others",
        };
        let (known, kept) = match (self.request.writing, locked.kept) {
            (Writing::Real, 0) => ("is locked for", String::new()),
            (_, 0) => ("was compared for", String::new()),
            (_, kept) => (
                "was compared for",
                format!(" ({kept} of the hashes of the lock file stay without comparison)"),
            ),
        };
        let only = listed(only, MANY);
        let text = format!("{subject} {known} {only} only{kept}, because {why}");
        self.session.printer.warning(&text);
    }

    fn warn_of_hashes(&self, subject: &Subject, locked: &Locked, directories: &str) {
        let printer = &self.session.printer;
        let place = &locked.place;
        if !locked.strangers.is_empty() {
            // A mirror does not say which packages the release has.
            let what = match place.is_mirror() {
                true => format!(
                    "hashes that match no package of {place}. They may be of platforms that it does not have: `--from STORE` with a pinned key, or `--from origin`, compares them"
                ),
                false => "hashes that match no package of this release, and clients accept packages with these hashes. Either a package was published again, or the lock file was changed; compare it with its last version before you use or remove them".to_owned(),
            };
            let strangers = listed(&locked.strangers, MANY);
            printer.warning(&format!(
                "{subject}: the lock file{directories} has {what}: {strangers}"
            ));
        }
        if !locked.uncompared.is_empty() {
            printer.warning(&format!(
                "{subject}: {} `h1` of the lock file{directories} could not be compared, because {place} does not have {}: {}",
                locked.uncompared.len(),
                listed(&locked.missing, MANY),
                listed(&locked.uncompared, MANY)
            ));
        }
    }

    /// Warns that a new version has fewer `h1` than the version before had.
    fn warn_of_lost_h1(&self, subject: &Subject, locked: &Locked) {
        let count =
            |hashes: &BTreeSet<PackageHash>| hashes.iter().filter(|hash| hash.is_h1()).count();
        let has = count(&locked.hashes);
        let before = locked.files.iter().find_map(|file| {
            let entry = self.roots.get(*file)?.entries.get(&locked.provider)?;
            let (version, hashes) = entry.locked.as_ref()?;
            // The hashes of the same version stay.
            let is_less = *version != locked.version && has < count(hashes);
            is_less.then(|| (version, count(hashes)))
        });
        let Some((before, had)) = before.filter(|_| self.request.writing != Writing::Locked) else {
            return;
        };
        let verb = self.request.writing.verb("has", "has", "would have");
        self.session.printer.warning(&format!(
            "{subject} {verb} {has} `h1` in the lock file, and {before} had {had}: `install --locked` needs the one of its platform, and `tfoci lock --h1` with the same options and each `--platform` adds them"
        ));
    }
}
