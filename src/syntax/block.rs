//! Represents HCL 1 and JSON as one tree.
//!
//! The CLI configuration is HCL 1. There, a block is an attribute whose value is an object, and its labels
//! are the names of the objects around it. JSON writes the same with objects and lists. So both become one tree, and the caller
//! specifies how many labels a block has.

use super::Error;

/// A value of either language.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Flag(bool),
    Text(String),
    List(Vec<Value>),
    Section(Section),
    /// A number. No setting that tfoci reads is one.
    Other,
}

/// The members of a block or object, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Section(Vec<Member>);

/// An attribute, or a block with its labels.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) labels: Vec<String>,
    pub(crate) value: Value,
    /// The line of its name, from 1; unknown in JSON.
    pub(crate) line: Option<usize>,
}

/// Members on different lines can be equal.
impl PartialEq for Member {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.labels == other.labels && self.value == other.value
    }
}

/// A block with the number of labels that the caller specified.
#[derive(Clone, Debug)]
pub(crate) struct Block<'a> {
    pub(crate) name: &'a str,
    pub(crate) labels: Vec<&'a str>,
    pub(crate) body: &'a Section,
    /// The line of its name, from 1; unknown in JSON.
    pub(crate) line: Option<usize>,
}

impl Section {
    pub(crate) fn new(members: Vec<Member>) -> Self {
        Self(members)
    }

    /// The blocks with this name and number of labels.
    pub(crate) fn blocks(&self, name: &str, labels: usize) -> Result<Vec<Block<'_>>, Error> {
        let mut found = Vec::new();
        for member in self.0.iter().filter(|member| member.name == name) {
            member.collect_blocks(labels, &mut found)?;
        }
        Ok(found)
    }

    /// All blocks without labels, in order. Other members are ignored.
    pub(crate) fn all_blocks(&self) -> Vec<Block<'_>> {
        let mut found = Vec::new();
        for member in &self.0 {
            let mut blocks = Vec::new();
            if member.collect_blocks(0, &mut blocks).is_ok() {
                found.extend(blocks);
            }
        }
        found
    }

    /// Every attribute and block, in order.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Member> {
        self.0.iter()
    }

    /// The line of an attribute: of the last one with this name, which counts.
    pub(crate) fn line_of(&self, name: &str) -> Option<usize> {
        let mut members = self.0.iter();
        members.rfind(|member| member.name == name)?.line
    }

    /// The members of a JSON object, in order.
    pub(crate) fn members(&self) -> impl Iterator<Item = (&str, &Value)> {
        let members = self.0.iter();
        members.map(|member| (member.name.as_str(), &member.value))
    }

    /// An attribute; `None` if it is absent or null. The last of several counts.
    pub(crate) fn value(&self, name: &str) -> Option<&Value> {
        let found = self.0.iter().rfind(|member| member.name == name)?;
        (found.value != Value::Null).then_some(&found.value)
    }

    /// An attribute of a type.
    fn typed<'s, T>(
        &'s self,
        name: &'static str,
        expected: &'static str,
        read: impl FnOnce(&'s Value) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };
        let wrong = || Error::Type { name, expected };
        read(value).map(Some).ok_or_else(wrong)
    }

    /// An attribute that is text.
    pub(crate) fn text(&self, name: &'static str) -> Result<Option<String>, Error> {
        self.typed(name, "text", Value::text)
    }

    /// An attribute that is true or false.
    pub(crate) fn flag(&self, name: &'static str) -> Result<Option<bool>, Error> {
        self.typed(name, "true or false", |value| match value {
            Value::Flag(flag) => Some(*flag),
            _ => None,
        })
    }

    /// An attribute that is an object, or the one block of that name.
    pub(crate) fn section(&self, name: &'static str) -> Result<Option<&Section>, Error> {
        self.typed(name, "an object", |value| match value {
            Value::Section(section) => Some(section),
            _ => None,
        })
    }

    /// Every attribute that is text, in order.
    pub(crate) fn all_texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().filter_map(|member| match &member.value {
            Value::Text(text) => Some((member.name.as_str(), text.as_str())),
            _ => None,
        })
    }

    /// An attribute that is a list of text.
    pub(crate) fn texts(&self, name: &'static str) -> Result<Option<Vec<String>>, Error> {
        self.typed(name, "a list of text", |value| match value {
            Value::List(values) => values.iter().map(Value::text).collect(),
            _ => None,
        })
    }
}

impl Value {
    fn text(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()),
            _ => None,
        }
    }
}

impl Member {
    /// Whether it is a block, with any labels.
    pub(crate) fn is_block(&self) -> bool {
        let is_section = |value: &Value| matches!(value, Value::Section(_));
        match &self.value {
            Value::List(values) => values.iter().any(is_section),
            value => is_section(value),
        }
    }

    fn collect_blocks<'a>(
        &'a self,
        labels: usize,
        found: &mut Vec<Block<'a>>,
    ) -> Result<(), Error> {
        let given = self.labels.iter().map(String::as_str).collect();
        descend(self, given, &self.value, labels, found)
    }
}

/// Turns the objects around a block into its labels, and lists into several blocks. The parsers limit the depth of this recursion.
fn descend<'a>(
    member: &'a Member,
    labels: Vec<&'a str>,
    value: &'a Value,
    wanted: usize,
    found: &mut Vec<Block<'a>>,
) -> Result<(), Error> {
    match value {
        Value::List(values) => values
            .iter()
            .try_for_each(|value| descend(member, labels.clone(), value, wanted, found)),
        Value::Section(body) if labels.len() == wanted => {
            found.push(Block {
                name: &member.name,
                labels,
                body,
                line: member.line,
            });
            Ok(())
        }
        Value::Section(section) if labels.len() < wanted => {
            section.0.iter().try_for_each(|inner| {
                let mut labels = labels.clone();
                labels.push(&inner.name);
                labels.extend(inner.labels.iter().map(String::as_str));
                descend(member, labels, &inner.value, wanted, found)
            })
        }
        _ => Err(Error::Block {
            name: member.name.clone(),
            labels: wanted,
        }),
    }
}
