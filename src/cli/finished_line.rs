//! The line for a version or package that is done: its name, its packages, its size, and how far it is proven.

use std::sync::atomic::{AtomicUsize, Ordering};

use console::{Alignment, measure_text_width, pad_str};

use tfoci::authentication::{Anchor, Authentication};
use tfoci::event::Subject;

/// Between the parts of a line.
const GAP: &str = "   ";
/// `12 packages, 117.33 MiB`
const COUNT: usize = 23;

/// The parts of a line, so that a narrow terminal shows those that matter.
pub(super) struct FinishedLine<'a> {
    /// The version, and the store if there are several.
    pub(super) subject: &'a Subject,
    /// The number of packages, or of hashes.
    pub(super) count: &'a str,
    /// The size of what was copied.
    pub(super) size: Option<String>,
    pub(super) authentication: &'a Authentication,
}

/// The columns of the lines so far, so that they stand below each other.
#[derive(Debug, Default)]
pub(super) struct Widths {
    name: AtomicUsize,
    store: AtomicUsize,
}

impl Widths {
    /// Makes the columns wide enough for the line of a version.
    pub(super) fn widen(&self, subject: &Subject) {
        for (width, text) in [(&self.name, name(subject)), (&self.store, store(subject))] {
            width.fetch_max(measure_text_width(&text), Ordering::Relaxed);
        }
    }
}

impl FinishedLine<'_> {
    pub(super) fn whole(&self) -> String {
        self.with(true, true, &explained(self.authentication), [0; 3])
    }

    /// The line in so many columns. The explanation is left out first, then the size, then the number of packages and the key. The name is never cut:
    /// a line that is still too wide goes on below. A run may have hundreds of these lines; the last line of the run has the numbers, and `inspect`
    /// shows the key.
    pub(super) fn within(&self, columns: usize, widths: &Widths) -> String {
        widths.widen(self.subject);
        let [name, store] =
            [&widths.name, &widths.store].map(|width| width.load(Ordering::Relaxed));
        let proof = self.authentication;
        let (all, short) = (proof.to_string(), proof.without_key());
        let mut forms = [
            self.with(true, true, &explained(proof), [name, store, COUNT]),
            self.with(true, true, &all, [name, store, COUNT]),
            self.with(true, false, &all, [name, store, 0]),
            self.with(false, false, &short, [name, store, 0]),
        ]
        .into_iter();
        let fitting = forms.find(|line| measure_text_width(line) <= columns);
        fitting.unwrap_or_else(|| self.with(false, false, &short, [0; 3]))
    }

    fn with(&self, has_count: bool, has_size: bool, proof: &str, widths: [usize; 3]) -> String {
        let count = has_count.then_some(self.count);
        let size = self.size.as_deref().filter(|_| has_size);
        let counted: Vec<&str> = count.into_iter().chain(size).collect();
        let texts = [name(self.subject), store(self.subject), counted.join(", ")];
        let columns = texts.into_iter().zip(widths);
        let mut parts: Vec<String> = columns
            .filter(|(text, _)| !text.is_empty())
            .map(|(text, width)| pad_str(&text, width, Alignment::Left, None).into_owned())
            .collect();
        parts.push(proof.to_owned());
        parts.join(GAP)
    }
}

/// The provider, with its version and platform.
fn name(subject: &Subject) -> String {
    let everywhere = Subject {
        destination: None,
        ..subject.clone()
    };
    everywhere.to_string()
}

/// The store, if there are several: its host, and the beginning of its repositories without the address of the provider.
pub(super) fn store(subject: &Subject) -> String {
    let Some(destination) = &subject.destination else {
        return String::new();
    };
    let address = subject.provider.to_string();
    let (host, name) = address.split_once('/').unwrap_or_default();
    // Repositories may spell the port of a host differently.
    let host = host.split_once(':').map_or(host, |(host, _)| host);
    let before = destination.strip_suffix(name);
    let before = before.and_then(|before| before.strip_suffix('/'));
    let before = before.unwrap_or(destination);
    match before.rsplit_once('/') {
        Some((store, last)) if last.starts_with(host) => store.to_owned(),
        _ => before.to_owned(),
    }
}

/// Whether the key of a release is stored beside it.
pub(super) fn is_embedded(authentication: &Authentication) -> bool {
    authentication.anchor == Some(Anchor::Embedded)
}

/// The authentication, with an explanation if it proves less than the word `signed` suggests.
pub(super) fn explained(authentication: &Authentication) -> String {
    let more = match is_embedded(authentication) {
        true => " by the key beside it, not pinned",
        false => "",
    };
    format!("{authentication}{more}")
}

#[cfg(test)]
mod tests;
