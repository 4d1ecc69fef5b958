//! Visits members and items one at a time, as slices of the document, so that callers can count them before they store them.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::Error;

/// A member name, borrowed unless it contains escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// Visits members or items one at a time. An error of `each` is passed on in `failed`, because serde's errors can only carry text.
struct Visit<'e, F> {
    expected: &'static str,
    each: F,
    failed: &'e mut Option<Error>,
}

impl<'de, F> Visitor<'de> for Visit<'_, F>
where
    F: FnMut(Cow<'de, str>, &'de RawValue) -> Result<(), Error>,
{
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some((Name(name), value)) = map.next_entry()? {
            if let Err(error) = (self.each)(name, value) {
                *self.failed = Some(error);
                return Err(A::Error::custom("refused"));
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element()? {
            if let Err(error) = (self.each)("".into(), item) {
                *self.failed = Some(error);
                return Err(A::Error::custom("refused"));
            }
        }
        Ok(())
    }
}

pub(super) fn members<'a, D: Deserializer<'a, Error = serde_json::Error>>(
    source: D,
    each: impl FnMut(Cow<'a, str>, &'a RawValue) -> Result<(), Error>,
) -> Result<(), Error> {
    visit("an object", each, |visit| source.deserialize_map(visit))
}

pub(super) fn items<'a, D: Deserializer<'a, Error = serde_json::Error>>(
    source: D,
    mut each: impl FnMut(&'a RawValue) -> Result<(), Error>,
) -> Result<(), Error> {
    let each = |_, item| each(item);
    visit("a sequence", each, |visit| source.deserialize_seq(visit))
}

fn visit<F>(
    expected: &'static str,
    each: F,
    read: impl FnOnce(Visit<'_, F>) -> Result<(), serde_json::Error>,
) -> Result<(), Error> {
    let mut failed = None;
    let visited = read(Visit {
        expected,
        each,
        failed: &mut failed,
    });
    failed.map_or(visited.map_err(Error::from), Err)
}
