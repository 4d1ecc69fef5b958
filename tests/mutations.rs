//! Arbitrary alterations of a layout: tfoci never panics, and clients accept every artifact that tfoci accepts.

use std::ops::Range;
use std::path::Path;

use proptest::prelude::*;
use proptest::sample::{Index, select};

use tfoci::authentication::Note;

use crate::layouts::{install_from, stored_in};
use crate::support::layout::Parts;
use crate::support::tofu_client;

/// Values in place of those that readers expect.
const VALUES: [&str; 22] = [
    "null",
    "true",
    "0",
    "2",
    "-1",
    "2.5",
    "9223372036854775808",
    r#""""#,
    r#""x""#,
    r#""2""#,
    r#""e30=""#,
    r#""archive/zip""#,
    r#""linux""#,
    r#""sha256:00""#,
    r#""application/vnd.oci.image.index.v1+json""#,
    "[]",
    "[null]",
    "[1]",
    r#"["x"]"#,
    "{}",
    r#"{"os":1}"#,
    r#"{"a":null}"#,
];

/// Members that clients look at, though a small layout has none of them.
const MEMBERS: [&str; 12] = [
    "urls",
    "data",
    "annotations",
    "platform",
    "os.features",
    "os.version",
    "variant",
    "subject",
    "config",
    "artifactType",
    "\u{17f}ize",
    "unknown",
];

#[derive(Clone, Debug)]
enum Mutation {
    /// A value in place of another.
    Replace(Index, &'static str),
    /// A member of the name of another, before it.
    Repeat(Index, &'static str),
    /// A member at the front of an object.
    Insert(Index, &'static str, &'static str),
    /// A name or text in another letter case.
    Case(Index),
    /// One character in place of another.
    Character(Index, char),
    /// The end is missing.
    Cut(Index),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let value = || select(VALUES.as_slice());
    prop_oneof![
        4 => (any::<Index>(), value()).prop_map(|(at, value)| Mutation::Replace(at, value)),
        4 => (any::<Index>(), value()).prop_map(|(at, value)| Mutation::Repeat(at, value)),
        4 => (any::<Index>(), select(MEMBERS.as_slice()), value()).prop_map(|(at, name, value)| Mutation::Insert(at, name, value)),
        2 => any::<Index>().prop_map(Mutation::Case),
        1 => (any::<Index>(), any::<char>()).prop_map(|(at, c)| Mutation::Character(at, c)),
        1 => any::<Index>().prop_map(Mutation::Cut),
    ]
}

impl Mutation {
    /// Alters a document; `None` where there is nothing of the kind.
    fn apply(&self, text: &str) -> Option<String> {
        let place = |at: &Index, is: &dyn Fn(usize, usize) -> bool| {
            let places = values(text).into_iter().filter(|(from, to)| is(*from, *to));
            let places: Vec<(usize, usize)> = places.collect();
            (!places.is_empty()).then(|| *at.get(&places))
        };
        let put = |at: Range<usize>, new: &str| [&text[..at.start], new, &text[at.end..]].concat();
        Some(match self {
            Self::Replace(at, value) => {
                let (from, to) = place(at, &|_, _| true)?;
                put(from..to, value)
            }
            Self::Repeat(at, value) => {
                let (from, to) = place(at, &|_, to| text[to..].starts_with(':'))?;
                put(from..from, &format!("{}:{value},", &text[from..to]))
            }
            Self::Insert(at, name, value) => {
                let (from, _) = place(at, &|from, _| text[from..].starts_with("{\""))?;
                put(from..from + 1, &format!("{{\"{name}\":{value},"))
            }
            Self::Case(at) => {
                let (from, to) = place(at, &|from, _| text[from..].starts_with('"'))?;
                put(from..to, &text[from..to].to_uppercase())
            }
            Self::Character(at, new) => {
                let at = at.index(text.chars().count());
                let altered = |(n, old)| if n == at { *new } else { old };
                text.chars().enumerate().map(altered).collect()
            }
            Self::Cut(at) => text.chars().take(at.index(text.chars().count())).collect(),
        })
    }
}

/// The ranges of each name and each value. `DIGEST` is in quotes, `SIZE` counts as a number.
fn values(text: &str) -> Vec<(usize, usize)> {
    let (mut spans, mut open, mut start) = (Vec::new(), Vec::new(), None);
    let mut quoted = false;
    for (at, byte) in text.bytes().enumerate() {
        match (byte, start) {
            (b'"', Some(from)) if quoted => {
                spans.push((from, at + 1));
                (start, quoted) = (None, false);
            }
            _ if quoted => {}
            (b'"', _) => (start, quoted) = (Some(at), true),
            (b'[' | b'{', _) => open.push(at),
            (b']' | b'}' | b',', from) => {
                spans.extend(from.map(|from| (from, at)));
                start = None;
                if byte != b',' {
                    spans.extend(open.pop().map(|from| (from, at + 1)));
                }
            }
            (b':', _) => {}
            (_, None) => start = Some(at),
            _ => {}
        }
    }
    spans
}

/// Asserts the property. Returns whether the layout is accepted.
fn judge(parts: &Parts, directory: &Path) -> bool {
    let layout = directory.join("layout");
    parts.write(&layout);
    let (stored, into) = (stored_in(&layout), directory.join("mirror"));
    let ours = install_from(&stored, "1.0.0", "linux_amd64", &into);
    let theirs = tofu_client::install(&layout, "1.0.0", "linux", "amd64");
    if let Ok(installed) = &ours {
        let package =
            theirs.unwrap_or_else(|refusal| panic!("clients refuse it: {refusal}\n{parts:?}"));
        let hashes: Vec<String> = installed.hashes.iter().map(ToString::to_string).collect();
        assert!(hashes.contains(&package.zh), "{hashes:?}");
        let mut notes = installed.authentication.notes.clone();
        notes.retain(|note| *note != Note::LenientJson);
        assert_eq!(notes, []);
    }
    ours.is_ok()
}

#[test]
fn the_layout_is_accepted_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    assert!(judge(&Parts::good(), directory.path()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn artifacts_that_tfoci_accepts_clients_accept(
        mutations in prop::collection::vec((0..4_u8, mutation()), 1..4)
    ) {
        let mut parts = Parts::good();
        for (document, mutation) in &mutations {
            let text = match document {
                0 => &mut parts.manifest,
                1 => &mut parts.index,
                2 => &mut parts.tags,
                _ => &mut parts.marker,
            };
            if let Some(altered) = mutation.apply(text).filter(|altered| !altered.is_empty()) {
                *text = altered;
            }
        }
        let directory = tempfile::tempdir().unwrap();
        judge(&parts, directory.path());
    }
}
