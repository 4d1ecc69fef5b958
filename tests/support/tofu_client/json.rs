//! JSON as the client's decoder reads it (`tfoci::clients#json`): keys match in any case, unknown keys are ignored, `null` leaves text
//! and numbers unchanged, and a field of another type fails the whole document. The last of two equal keys wins; objects and lists are
//! merged field by field, because Go decodes the second one into the first.

use std::fmt;

use serde_json::de::{from_slice, from_str};
use serde_json::value::RawValue;

/// One JSON value with all its keys, in order.
#[derive(Debug)]
pub enum Node {
    Null,
    Bool,
    /// As it is written: a number that is not read may be larger than any type.
    Number(String),
    Text(String),
    List(Vec<Node>),
    Object(Vec<(String, Node)>),
}

/// The bytes are not JSON, or a field has another type than the client's.
#[derive(Debug, PartialEq, Eq)]
pub struct Malformed;

impl Node {
    /// Reads one document; only white space may follow it.
    pub fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        Self::read(from_slice(bytes).map_err(|_| Malformed)?)
    }

    fn read(raw: &RawValue) -> Result<Self, Malformed> {
        let text = raw.get();
        Ok(match text.as_bytes().first() {
            Some(b'n') => Self::Null,
            Some(b't' | b'f') => Self::Bool,
            Some(b'"') => Self::Text(from_str(text).map_err(|_| Malformed)?),
            Some(b'[') => {
                let items: Vec<&RawValue> = from_str(text).map_err(|_| Malformed)?;
                let items = items.into_iter().map(Self::read);
                Self::List(items.collect::<Result<_, _>>()?)
            }
            Some(b'{') => {
                let Fields(fields) = from_str(text).map_err(|_| Malformed)?;
                let fields = fields.into_iter();
                let fields = fields.map(|(key, value)| Ok((key, Self::read(value)?)));
                Self::Object(fields.collect::<Result<_, _>>()?)
            }
            _ => Self::Number(text.to_owned()),
        })
    }

    /// The values of a name, in order. `null` counts as an object without fields.
    fn fields(&self, name: &str) -> Result<Vec<&Self>, Malformed> {
        match self {
            Self::Null => Ok(Vec::new()),
            Self::Object(fields) => Ok(fields
                .iter()
                .filter(|(key, _)| folded(key) == folded(name))
                .map(|(_, value)| value)
                .collect()),
            _ => Err(Malformed),
        }
    }

    /// Reads a text field.
    pub fn text(&self, name: &str, into: &mut String) -> Result<(), Malformed> {
        for value in self.fields(name)? {
            match value {
                Self::Null => {}
                Self::Text(text) => into.clone_from(text),
                _ => return Err(Malformed),
            }
        }
        Ok(())
    }

    /// Reads a whole number.
    pub fn integer(&self, name: &str, into: &mut i64) -> Result<(), Malformed> {
        for value in self.fields(name)? {
            match value {
                Self::Null => {}
                Self::Number(number) => *into = number.parse().map_err(|_| Malformed)?,
                _ => return Err(Malformed),
            }
        }
        Ok(())
    }

    /// Reads an object that may be absent. Of two objects, the second is read over the first.
    pub fn object<T: Default>(
        &self,
        name: &str,
        into: &mut Option<T>,
        read: impl Fn(&Self, &mut T) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        for value in self.fields(name)? {
            match value {
                Self::Null => *into = None,
                present => read(present, into.get_or_insert_default())?,
            }
        }
        Ok(())
    }

    /// Reads a list. Of two lists, the items of the second are read over those of the first, unless the second is empty.
    pub fn list<T: Default>(
        &self,
        name: &str,
        into: &mut Vec<T>,
        read: impl Fn(&Self, &mut T) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        let mut length = into.len();
        for value in self.fields(name)? {
            let items = match value {
                Self::Null => &Vec::new(),
                Self::List(items) => items,
                _ => return Err(Malformed),
            };
            length = items.len();
            if items.is_empty() {
                into.clear();
            }
            into.resize_with(length.max(into.len()), T::default);
            for (item, out) in items.iter().zip(into.iter_mut()) {
                read(item, out)?;
            }
        }
        into.truncate(length);
        Ok(())
    }

    /// A map from text to text. Only in maps, keys match exactly.
    pub fn pairs(&self, into: &mut Vec<(String, String)>) -> Result<(), Malformed> {
        let Self::Object(fields) = self else {
            return Err(Malformed);
        };
        for (key, value) in fields {
            let text = match value {
                Self::Null => String::new(),
                Self::Text(text) => text.clone(),
                _ => return Err(Malformed),
            };
            into.push((key.clone(), text));
        }
        Ok(())
    }
}

/// Unicode's simple case folding, as far as it matters for ASCII names of fields: `ſ` is an `s`, the Kelvin sign a `k`.
fn folded(key: &str) -> String {
    key.chars()
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .collect()
}

/// The members of an object, in order, duplicates included.
struct Fields<'a>(Vec<(String, &'a RawValue)>);

impl<'de> serde::Deserialize<'de> for Fields<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut fields: A,
            ) -> Result<Fields<'de>, A::Error> {
                let mut out = Vec::new();
                while let Some(field) = fields.next_entry()? {
                    out.push(field);
                }
                Ok(Fields(out))
            }
        }
        deserializer.deserialize_map(Visitor)
    }
}

#[test]
fn a_number_that_is_not_read_may_be_of_any_size() {
    let node = Node::parse(br#"{"other":8E666,"size":-1}"#).unwrap();
    let mut size = 0;
    node.integer("size", &mut size).unwrap();
    assert_eq!(size, -1);
    assert_eq!(node.integer("other", &mut size), Err(Malformed));
}
