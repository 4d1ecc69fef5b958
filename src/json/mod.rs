//! JSON objects as clients read them, with every byte of what they do not understand kept.
//!
//! Clients are written in Go. Its decoder matches the names of members in any letter case, ignores unknown members, and refuses
//! a document in which a member that it knows has another type ([clients: JSON](crate::clients#json)).
//! This reader does the same, for every JSON
//! document that a stranger wrote: OCI documents, and the answers of provider registries, network mirrors and OCI registries.
//!
//! # One document, one meaning
//! Of two members with one name, Go decodes the second *into* the first: members of both objects, and items of both lists, end up
//! in one value. Other readers take the last member, some take the first. A document that repeats a member can therefore show one
//! package to a tool that verifies it and another package to the client that installs it. So an object that has a member twice is
//! refused, in whatever letter case and even if one of them is `null`. This holds for the members that are asked for;
//! members that nobody asks for may repeat. A single member in an unusual letter case is accepted and noted.
//!
//! # Bounded
//! Nothing is collected before it is counted: an object has at most [`MOST_MEMBERS`] members, and each list has a limit of its own.
//! Values are slices of the document until they are needed.

mod error;
mod visit;

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

pub use error::{Error, Fault};

/// The most members that an object can have. Real ones have a dozen.
pub const MOST_MEMBERS: usize = 1_000;
/// The deepest nesting that is read. Real documents have six levels; clients stop at 10 000.
const DEEPEST: usize = 100;

/// A JSON object: its members in their order, their values as they are written.
#[derive(Clone, Debug, Default)]
pub struct Object<'a> {
    members: Vec<(Cow<'a, str>, &'a RawValue)>,
    lenient: bool,
}

impl<'a> Object<'a> {
    /// Reads a document that is exactly one object; white space may surround it, nothing else.
    ///
    /// # Errors
    /// What is no object, nests too deep, or has too many members.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        if depth(bytes) > DEEPEST {
            return Err(Error::too_many("levels", DEEPEST));
        }
        let mut deserializer = serde_json::Deserializer::from_slice(bytes);
        let object = Self::read(&mut deserializer)?;
        deserializer.end()?;
        Ok(object)
    }

    /// Reads the object at the beginning of a document, and passes over what follows it.
    ///
    /// # Errors
    /// What is no object, or has too many members.
    pub fn first(bytes: &'a [u8]) -> Result<Self, Error> {
        Self::read(&mut serde_json::Deserializer::from_slice(bytes))
    }

    /// Reads a value that is an object. `null` is an object without members, as it is to clients.
    ///
    /// # Errors
    /// As [`Object::first`].
    pub fn of(value: &'a RawValue) -> Result<Self, Error> {
        if is_null(value) {
            return Ok(Self::default());
        }
        Self::read(&mut serde_json::Deserializer::from_str(value.get()))
    }

    fn read<D: Deserializer<'a, Error = serde_json::Error>>(source: D) -> Result<Self, Error> {
        let mut members = Vec::new();
        visit::members(source, |name, value| {
            if members.len() == MOST_MEMBERS {
                return Err(Error::too_many("members", MOST_MEMBERS));
            }
            members.push((name, value));
            Ok(())
        })?;
        Ok(Self {
            members,
            lenient: false,
        })
    }

    /// Looks at a member and leaves it there. Absent and `null` are the same.
    ///
    /// # Errors
    /// The member is there twice.
    pub fn peek(&mut self, name: &'static str) -> Result<Option<&'a RawValue>, Error> {
        let mut found = self.members.iter().filter(|(key, _)| is_named(key, name));
        let Some((first, value)) = found.next() else {
            return Ok(None);
        };
        if let Some((second, _)) = found.next() {
            return Err(Error::repeated(first, second));
        }
        self.lenient |= first != name;
        Ok(Some(*value).filter(|value| !is_null(value)))
    }

    /// Takes a member out. Absent and `null` are the same.
    ///
    /// # Errors
    /// The member is there twice.
    pub fn take(&mut self, name: &'static str) -> Result<Option<&'a RawValue>, Error> {
        let found = self.peek(name)?;
        self.members.retain(|(key, _)| !is_named(key, name));
        Ok(found)
    }

    /// Takes a value of a plain type out.
    ///
    /// # Errors
    /// The member is there twice, or has another type.
    pub fn value<T: Deserialize<'a>>(&mut self, name: &'static str) -> Result<Option<T>, Error> {
        let found = self.take(name)?;
        found.map(|value| plain(value, name)).transpose()
    }

    /// Takes a value out without which the object says nothing.
    ///
    /// # Errors
    /// As [`Object::value`], or the member is absent.
    pub fn required<T: Deserialize<'a>>(&mut self, name: &'static str) -> Result<T, Error> {
        let missing = || serde_json::Error::missing_field(name).into();
        self.value(name)?.ok_or_else(missing)
    }

    /// Takes text out; empty if absent.
    ///
    /// # Errors
    /// As [`Object::value`].
    pub fn text(&mut self, name: &'static str) -> Result<String, Error> {
        self.value(name).map(Option::unwrap_or_default)
    }

    /// Takes a whole number out; zero if absent.
    ///
    /// # Errors
    /// As [`Object::value`].
    pub fn integer(&mut self, name: &'static str) -> Result<i64, Error> {
        self.value(name).map(Option::unwrap_or_default)
    }

    /// Takes an object out.
    ///
    /// # Errors
    /// As [`Object::value`], or as `read`.
    pub fn object<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(Object<'a>) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        let found = self.take(name)?;
        let read = found.map(|value| Object::of(value).and_then(read));
        read.transpose().map_err(|error| error.within(name))
    }

    /// Takes a list of at most `most` items out; empty if absent.
    ///
    /// # Errors
    /// As [`Object::value`], there are more items, or as `read`.
    pub fn list<T>(
        &mut self,
        name: &'static str,
        most: usize,
        read: impl FnMut(&'a RawValue) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let Some(value) = self.take(name)? else {
            return Ok(Vec::new());
        };
        items(value, most, read).map_err(|error| error.within(name))
    }

    /// Takes a list of at most `most` texts out; empty if absent.
    ///
    /// # Errors
    /// As [`Object::list`].
    pub fn texts(&mut self, name: &'static str, most: usize) -> Result<Vec<String>, Error> {
        self.list(name, most, |item| Ok(serde_json::from_str(item.get())?))
    }

    /// Takes an object out whose names are data: they are what they are, in every letter case, and no name occurs twice.
    ///
    /// # Errors
    /// As [`Object::value`], a name occurs twice, there are more than `most`, or as `read`.
    pub fn map<T>(
        &mut self,
        name: &'static str,
        most: usize,
        mut read: impl FnMut(&'a RawValue) -> Result<T, Error>,
    ) -> Result<BTreeMap<String, T>, Error> {
        let mut all = BTreeMap::new();
        let Some(value) = self.take(name)? else {
            return Ok(all);
        };
        let within = |error: Error| error.within(name);
        entries(value, |key, value| {
            if all.contains_key(&*key) {
                return Err(Error::repeated(&key, &key));
            }
            if all.len() == most {
                return Err(Error::too_many("members", most));
            }
            let value = read(value).map_err(|error| error.within(&key))?;
            all.insert(key.into_owned(), value);
            Ok(())
        })
        .map_err(within)?;
        Ok(all)
    }

    /// Whether anything that was looked at so far had its name in an unusual letter case.
    pub fn is_lenient(&self) -> bool {
        self.lenient
    }

    /// The members that were not taken.
    pub fn into_rest(self) -> Vec<(String, Box<RawValue>)> {
        let members = self.members.into_iter();
        members
            .map(|(name, value)| (name.into_owned(), value.to_owned()))
            .collect()
    }
}

/// Reads a value of a plain type, which is a member's.
fn plain<'a, T: Deserialize<'a>>(value: &'a RawValue, name: &str) -> Result<T, Error> {
    serde_json::from_str(value.get()).map_err(|mistake| Error::from(mistake).within(name))
}

/// Reads a list of at most `most` items.
///
/// # Errors
/// What is no list, has more items, or as `read`.
pub fn items<'a, T>(
    value: &'a RawValue,
    most: usize,
    mut read: impl FnMut(&'a RawValue) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    let mut all = Vec::new();
    let mut count = 0_usize;
    let mut deserializer = serde_json::Deserializer::from_str(value.get());
    visit::items(&mut deserializer, |item| {
        if count == most {
            return Err(Error::too_many("items", most));
        }
        count += 1;
        all.push(read(item).map_err(|error| error.at_item(count))?);
        Ok(())
    })?;
    Ok(all)
}

/// Visits the members of an object whose names are data, in their order.
///
/// # Errors
/// What is no object, or as `each`.
pub fn entries<'a>(
    value: &'a RawValue,
    each: impl FnMut(Cow<'a, str>, &'a RawValue) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut deserializer = serde_json::Deserializer::from_str(value.get());
    visit::members(&mut deserializer, each)
}

/// Whether a value is `null`.
pub fn is_null(value: &RawValue) -> bool {
    value.get() == "null"
}

/// Compares as clients do: by Unicode's simple folding, in which two letters beyond ASCII equal one within.
fn is_named(key: &str, name: &str) -> bool {
    let folded = key.chars().map(|c| match c {
        '\u{017f}' => 's',
        '\u{212a}' => 'k',
        c => c.to_ascii_lowercase(),
    });
    folded.eq(name.chars().map(|c| c.to_ascii_lowercase()))
}

/// How deep brackets nest. Text that is not JSON may give any number.
fn depth(bytes: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut in_text, mut escaped) = (false, false);
    for byte in bytes {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'[' | b'{' if !in_text => depth += 1,
            b']' | b'}' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// The canonical bytes of something that tfoci writes: no white space, members in the order of declaration.
pub(crate) fn to_raw(value: &impl Serialize) -> Result<Box<RawValue>, serde_json::Error> {
    serde_json::value::to_raw_value(value)
}

#[cfg(test)]
mod tests;
