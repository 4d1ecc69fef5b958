//! Parses JSON objects as clients do, and keeps unknown members byte for byte.
//!
//! Clients are written in Go. Its decoder matches member names in any letter case, ignores unknown members, and refuses a document in which
//! a known member has the wrong type ([clients: JSON](crate::clients#json)). This module parses every untrusted JSON document in the same
//! way: OCI documents, and the responses of provider registries, network mirrors and OCI registries.
//!
//! # One document, one meaning
//! If an object has two members with the same name, Go decodes the second *into* the first: members of both objects, and items of
//! both lists, end up in one value. Most other readers use the last member, some the first. So a document with a duplicate member
//! can show one package to a tool that verifies it, and another package to the client that installs it. tfoci therefore refuses a
//! duplicate member, in any letter case and even if one of the two is `null`. This applies to the members that the caller reads;
//! other members may repeat. A single member in an unusual letter case is accepted, see [`Object::is_lenient`].
//!
//! # Limits
//! Members and items are counted before they are stored: an object has at most [`MOST_MEMBERS`] members, and each list has its own limit.
//! Values remain slices of the document until the caller parses them.

mod error;
mod visit;

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use serde_json::value::RawValue;

pub use error::{Error, Fault};

/// The largest number of members of an object. Real ones have a dozen.
pub const MOST_MEMBERS: usize = 1_000;

/// A JSON object: its members in order, with unparsed values.
#[derive(Clone, Debug, Default)]
pub struct Object<'a> {
    members: Vec<(Cow<'a, str>, &'a RawValue)>,
    lenient: bool,
}

impl<'a> Object<'a> {
    /// Parses a document that is exactly one object, with optional white space around it.
    ///
    /// # Errors
    /// The document is not an object, or has too many members.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let mut deserializer = serde_json::Deserializer::from_slice(bytes);
        let object = Self::read(&mut deserializer)?;
        deserializer.end()?;
        Ok(object)
    }

    /// Parses the object at the beginning of a document, and ignores what follows it.
    ///
    /// # Errors
    /// The document does not begin with an object, or the object has too many members.
    pub fn first(bytes: &'a [u8]) -> Result<Self, Error> {
        Self::read(&mut serde_json::Deserializer::from_slice(bytes))
    }

    /// Parses a value that is an object. `null` counts as an object without members, as it does for clients.
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

    /// Returns a member without removing it; `None` if it is absent or `null`.
    ///
    /// # Errors
    /// The object has the member twice.
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

    /// Removes and returns a member; `None` if it is absent or `null`.
    ///
    /// # Errors
    /// The object has the member twice.
    pub fn take(&mut self, name: &'static str) -> Result<Option<&'a RawValue>, Error> {
        let found = self.peek(name)?;
        self.members.retain(|(key, _)| !is_named(key, name));
        Ok(found)
    }

    /// Removes a member and parses its value.
    ///
    /// # Errors
    /// The object has the member twice, or its value has another type.
    pub fn value<T: Deserialize<'a>>(&mut self, name: &'static str) -> Result<Option<T>, Error> {
        let found = self.take(name)?;
        let parsed = found.map(|value| serde_json::from_str(value.get()));
        let parsed = parsed.transpose();
        parsed.map_err(|mistake| Error::from(mistake).within(name))
    }

    /// Removes a mandatory member and parses its value.
    ///
    /// # Errors
    /// As [`Object::value`], or the member is absent.
    pub fn required<T: Deserialize<'a>>(&mut self, name: &'static str) -> Result<T, Error> {
        let missing = || serde_json::Error::missing_field(name).into();
        self.value(name)?.ok_or_else(missing)
    }

    /// Checks that a member is there, perhaps as `null`. Without it, the document is another one.
    ///
    /// # Errors
    /// The member is absent.
    pub fn must_have(&self, name: &'static str) -> Result<(), Error> {
        match self.members.iter().any(|(key, _)| is_named(key, name)) {
            true => Ok(()),
            false => Err(serde_json::Error::missing_field(name).into()),
        }
    }

    /// Removes a text member; empty if absent.
    ///
    /// # Errors
    /// As [`Object::value`].
    pub fn text(&mut self, name: &'static str) -> Result<String, Error> {
        self.value(name).map(Option::unwrap_or_default)
    }

    /// Removes an integer member; zero if absent.
    ///
    /// # Errors
    /// As [`Object::value`].
    pub fn integer(&mut self, name: &'static str) -> Result<i64, Error> {
        self.value(name).map(Option::unwrap_or_default)
    }

    /// Removes an object member and parses it with `read`.
    ///
    /// # Errors
    /// As [`Object::value`], or `read` fails.
    pub fn object<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(Object<'a>) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        let found = self.take(name)?;
        let read = found.map(|value| Object::of(value).and_then(read));
        read.transpose().map_err(|error| error.within(name))
    }

    /// Removes a list member of at most `most` items and parses each with `read`; empty if absent.
    ///
    /// # Errors
    /// As [`Object::value`], there are more items, or `read` fails.
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

    /// Removes a list member of at most `most` texts; empty if absent.
    ///
    /// # Errors
    /// As [`Object::list`].
    pub fn texts(&mut self, name: &'static str, most: usize) -> Result<Vec<String>, Error> {
        self.list(name, most, |item| Ok(serde_json::from_str(item.get())?))
    }

    /// Removes an object member whose names are data, such as map keys. Names are case-sensitive, and no name may occur twice.
    ///
    /// # Errors
    /// As [`Object::value`], a name occurs twice, there are more than `most` members, or `read` fails.
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

    /// Whether any member read so far has its name in an unusual letter case.
    pub fn is_lenient(&self) -> bool {
        self.lenient
    }

    /// The members that were not removed.
    pub fn into_rest(self) -> Vec<(String, Box<RawValue>)> {
        let members = self.members.into_iter();
        members
            .map(|(name, value)| (name.into_owned(), value.to_owned()))
            .collect()
    }
}

/// Parses a list of at most `most` items, each with `read`.
///
/// # Errors
/// The value is not a list, has more items, or `read` fails.
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

/// Calls `each` for every member of an object whose names are data, in order.
///
/// # Errors
/// The value is not an object, or `each` fails.
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

/// Compares names as clients do, by Unicode simple case folding. It makes two non-ASCII letters equal to ASCII ones.
fn is_named(key: &str, name: &str) -> bool {
    let folded = key.chars().map(|c| match c {
        '\u{017f}' => 's',
        '\u{212a}' => 'k',
        c => c.to_ascii_lowercase(),
    });
    folded.eq(name.chars().map(|c| c.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests;
