//! The line for a version or package that is done: its name, its packages, its size, and how far it is proven.

use std::borrow::Cow;

use console::{measure_text_width, truncate_str};

use tfoci::authentication::{Anchor, Authentication};

/// Between the parts of a line.
const GAP: &str = "   ";
/// A name is not cut to fewer columns.
const SHORTEST_NAME: usize = 12;

/// The parts of a line, so that a narrow terminal shows those that matter.
pub(super) struct FinishedLine<'a> {
    /// The provider, with its version and platform.
    pub(super) name: String,
    /// The number of packages.
    pub(super) count: Option<String>,
    /// The size of what was copied.
    pub(super) size: Option<String>,
    /// `None` if the version was not read.
    pub(super) authentication: Option<&'a Authentication>,
    /// Whether the line explains an authentication that proves less than it seems to.
    pub(super) is_explained: bool,
}

impl FinishedLine<'_> {
    pub(super) fn whole(&self) -> String {
        let proof = match self.is_explained {
            true => self.authentication.map(explained),
            false => self.authentication.map(Authentication::to_string),
        };
        self.with(true, true, proof)
    }

    /// The line in so many columns. The explanation is left out first, then the size, the beginning of the key, the number of packages, and
    /// the key. The name is cut last. The status and the anchor stay. A run may have hundreds of these lines, so each stays one line; the last
    /// line of the run has the numbers, and `inspect` shows the key.
    pub(super) fn within(&self, columns: usize) -> String {
        let proof = self.authentication;
        let all = || proof.map(Authentication::to_string);
        let short = || proof.map(Authentication::short);
        let forms = [
            self.whole(),
            self.with(true, true, all()),
            self.with(true, false, all()),
            self.with(true, false, short()),
            self.with(false, false, short()),
        ];
        let fitting = forms
            .into_iter()
            .find(|line| measure_text_width(line) <= columns);
        fitting.unwrap_or_else(|| self.narrowest(columns))
    }

    /// The name and the proof without its key. The end of a name tells more than its beginning, which is its host.
    fn narrowest(&self, columns: usize) -> String {
        let Some(proof) = self.authentication else {
            return cut_left(&self.name, columns).into_owned();
        };
        let room = |proof: &str| columns.saturating_sub(measure_text_width(proof) + GAP.len());
        let mut text = proof.without_key();
        if room(&text) < SHORTEST_NAME.min(measure_text_width(&self.name)) {
            text = proof.without_notes();
        }
        let name = cut_left(&self.name, room(&text));
        match name.is_empty() {
            true => text,
            false => format!("{name}{GAP}{text}"),
        }
    }

    fn with(&self, has_count: bool, has_size: bool, proof: Option<String>) -> String {
        let count = self.count.clone().filter(|_| has_count);
        let size = self.size.clone().filter(|_| has_size);
        let counted: Vec<String> = count.into_iter().chain(size).collect();
        let counted = Some(counted.join(", ")).filter(|text| !text.is_empty());
        let parts = [Some(self.name.clone()), counted, proof];
        parts.into_iter().flatten().collect::<Vec<_>>().join(GAP)
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

/// The end of a text, in so many columns.
fn cut_left(text: &str, columns: usize) -> Cow<'_, str> {
    if measure_text_width(text) <= columns {
        return text.into();
    }
    let kept = columns.saturating_sub(1);
    let ends = text.char_indices().filter_map(|(at, _)| text.get(at..));
    let end = ends.into_iter().find(|end| measure_text_width(end) <= kept);
    let cut = format!("…{}", end.unwrap_or_default());
    truncate_str(&cut, columns, "").into_owned().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tfoci::authentication::{Note, Status};

    fn lines(notes: Vec<Note>, columns: &[usize]) -> Vec<String> {
        let authentication = Authentication {
            status: Status::Signed,
            anchor: Some(Anchor::Pinned),
            fingerprint: "C874011F0AB405110D02105534365D9472D7468F".parse().ok(),
            notes,
        };
        let line = FinishedLine {
            name: "example.com/acme/demo 1.0.0".to_owned(),
            count: Some("4 packages".to_owned()),
            size: Some("1.71 KiB".to_owned()),
            authentication: Some(&authentication),
            is_explained: true,
        };
        let line = |columns: &usize| {
            let text = line.within(*columns);
            assert!(measure_text_width(&text) <= (*columns).max(15), "{text}");
            text
        };
        columns.iter().map(line).collect()
    }

    #[test]
    fn narrow_lines_keep_the_status_and_the_anchor() {
        assert_eq!(
            lines(Vec::new(), &[90, 84, 73, 66, 60, 53, 45, 30, 12]),
            [
                "example.com/acme/demo 1.0.0   4 packages, 1.71 KiB   signed 34365D9472D7468F (pinned)",
                "example.com/acme/demo 1.0.0   4 packages   signed 34365D9472D7468F (pinned)",
                "example.com/acme/demo 1.0.0   4 packages   signed …72D7468F (pinned)",
                "example.com/acme/demo 1.0.0   signed …72D7468F (pinned)",
                "example.com/acme/demo 1.0.0   signed …72D7468F (pinned)",
                "example.com/acme/demo 1.0.0   signed (pinned)",
                "example.com/acme/demo 1.0.0   signed (pinned)",
                "…/demo 1.0.0   signed (pinned)",
                "signed (pinned)",
            ]
        );
    }

    #[test]
    fn notes_stay_as_long_as_the_name_is_readable() {
        assert_eq!(
            lines(vec![Note::ExpiredKey], &[50, 42, 30]),
            [
                "…com/acme/demo 1.0.0   signed (pinned) expired-key",
                "…/demo 1.0.0   signed (pinned) expired-key",
                "…/demo 1.0.0   signed (pinned)",
            ]
        );
    }
}
