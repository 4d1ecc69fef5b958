//! JSON as the client's decoder takes it (contract 1.6): keys match in any case, the last of two equal keys wins, unknown
//! keys do not matter, `null` leaves a field as it is, and a field of another type spoils the whole document.

use std::fmt;

use serde_json::Number;
use serde_json::de::from_slice;

/// One JSON value with all its keys, in order.
#[derive(Debug)]
pub enum Node {
    Null,
    Bool,
    Number(Number),
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
        from_slice(bytes).map_err(|_| Malformed)
    }

    /// What stands under a name, last occurrence last. `null` counts as an object without fields.
    pub fn fields<'a>(&'a self, name: &str) -> Result<Vec<&'a Node>, Malformed> {
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

    /// A text field; empty if absent.
    pub fn text(&self, name: &str) -> Result<String, Malformed> {
        let mut out = "";
        for value in self.fields(name)? {
            match value {
                Self::Null => {}
                Self::Text(text) => out = text,
                _ => return Err(Malformed),
            }
        }
        Ok(out.to_owned())
    }

    /// A whole number; zero if absent.
    pub fn integer(&self, name: &str) -> Result<i64, Malformed> {
        let mut out = 0;
        for value in self.fields(name)? {
            match value {
                Self::Null => {}
                Self::Number(number) => out = number.as_i64().ok_or(Malformed)?,
                _ => return Err(Malformed),
            }
        }
        Ok(out)
    }

    /// A list; empty if absent or null.
    pub fn list<T>(
        &self,
        name: &str,
        read: impl Fn(&Node) -> Result<T, Malformed>,
    ) -> Result<Vec<T>, Malformed> {
        let mut out = Vec::new();
        for value in self.fields(name)? {
            out = match value {
                Self::Null => Vec::new(),
                Self::List(items) => items.iter().map(&read).collect::<Result<_, _>>()?,
                _ => return Err(Malformed),
            };
        }
        Ok(out)
    }

    /// An object that may be absent.
    pub fn object<T>(
        &self,
        name: &str,
        read: impl Fn(&Node) -> Result<T, Malformed>,
    ) -> Result<Option<T>, Malformed> {
        let mut out = None;
        for value in self.fields(name)? {
            out = match value {
                Self::Null => None,
                present => Some(read(present)?),
            };
        }
        Ok(out)
    }

    /// A map from text to text: here, and only here, keys are what they are.
    pub fn pairs(&self) -> Result<Vec<(String, String)>, Malformed> {
        let Self::Object(fields) = self else {
            return Err(Malformed);
        };
        let pair = |(key, value): &(String, Node)| match value {
            Self::Null => Ok((key.clone(), String::new())),
            Self::Text(text) => Ok((key.clone(), text.clone())),
            _ => Err(Malformed),
        };
        fields.iter().map(pair).collect()
    }
}

/// Unicode's simple folding, as far as the ASCII names of our fields can tell: `ſ` is an `s`, the Kelvin sign a `k`.
fn folded(key: &str) -> String {
    key.chars()
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .collect()
}

struct Visitor;

impl<'de> serde::Deserialize<'de> for Node {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Visitor)
    }
}

impl<'de> serde::de::Visitor<'de> for Visitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Node, E> {
        Ok(Node::Bool)
    }

    fn visit_i64<E>(self, number: i64) -> Result<Node, E> {
        Ok(Node::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Node, E> {
        Ok(Node::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Node, E> {
        Ok(Number::from_f64(number).map_or(Node::Null, Node::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(Node::Text(text.to_owned()))
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
        let mut out = Vec::new();
        while let Some(item) = items.next_element()? {
            out.push(item);
        }
        Ok(Node::List(out))
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut fields: A) -> Result<Node, A::Error> {
        let mut out = Vec::new();
        while let Some(field) = fields.next_entry()? {
            out.push(field);
        }
        Ok(Node::Object(out))
    }
}
