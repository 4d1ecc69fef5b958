//! The tree of both languages.

use std::borrow::Cow;

use super::{Error, Expression, SyntaxError};

/// A value of either language.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value<'a> {
    Null,
    Flag(bool),
    Text(String),
    List(Vec<Value<'a>>),
    Section(Section<'a>),
    /// A value of HCL 2.
    Code(Expression<'a>),
    /// A number, or a heredoc of HCL 1. No setting that tfoci reads is one.
    Other,
}

/// The members of a file, block or object, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Section<'a>(pub(super) Vec<Member<'a>>);

/// An attribute, or a block with its labels.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member<'a> {
    pub(crate) name: Cow<'a, str>,
    pub(crate) labels: Vec<&'a str>,
    pub(crate) value: Value<'a>,
    /// The line of its name, from 1; unknown in JSON.
    pub(crate) line: Option<usize>,
}

/// A block with the number of labels that the caller specified.
#[derive(Clone, Debug)]
pub(crate) struct Block<'a> {
    pub(crate) name: &'a str,
    pub(crate) labels: Vec<&'a str>,
    pub(crate) body: &'a Section<'a>,
    /// The line of its name, from 1; unknown in JSON.
    pub(crate) line: Option<usize>,
}

impl<'a> Section<'a> {
    pub(crate) fn blocks<'s>(&'s self, name: &str, labels: usize) -> Result<Vec<Block<'s>>, Error> {
        let mut found = Vec::new();
        for member in self.0.iter().filter(|member| member.name == name) {
            member.descend(member.labels.clone(), &member.value, labels, &mut found)?;
        }
        Ok(found)
    }

    /// All blocks without labels, in order. Other members are ignored.
    pub(crate) fn all_blocks(&self) -> Vec<Block<'_>> {
        let mut found = Vec::new();
        for member in &self.0 {
            let mut blocks = Vec::new();
            let labels = member.labels.clone();
            if member
                .descend(labels, &member.value, 0, &mut blocks)
                .is_ok()
            {
                found.extend(blocks);
            }
        }
        found
    }

    /// Every attribute and block, in order.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Member<'a>> {
        self.0.iter()
    }

    /// The line of an attribute: of the last one with this name, which counts.
    pub(crate) fn line_of(&self, name: &str) -> Option<usize> {
        let mut members = self.0.iter();
        members.rfind(|member| member.name == name)?.line
    }

    /// An attribute; `None` if it is absent or null. The last of several counts.
    pub(crate) fn value(&self, name: &str) -> Option<&Value<'a>> {
        let found = self.0.iter().rfind(|member| member.name == name)?;
        (found.value != Value::Null).then_some(&found.value)
    }

    /// An attribute of a type.
    fn typed<'s, T>(
        &'s self,
        name: &'static str,
        expected: &'static str,
        read: impl FnOnce(&'s Value<'a>) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };
        let wrong = || Error {
            line: self.line_of(name),
            mistake: SyntaxError::Type { name, expected },
        };
        read(value).map(Some).ok_or_else(wrong)
    }

    /// An attribute that is text.
    pub(crate) fn text(&self, name: &'static str) -> Result<Option<String>, Error> {
        self.typed(name, "text in quotes", Value::text)
    }

    /// An attribute that is true or false.
    pub(crate) fn flag(&self, name: &'static str) -> Result<Option<bool>, Error> {
        self.typed(name, "true or false", |value| match value {
            Value::Flag(flag) => Some(*flag),
            _ => None,
        })
    }

    /// An attribute that is an object, or the one block of that name.
    pub(crate) fn section(&self, name: &'static str) -> Result<Option<&Self>, Error> {
        self.typed(name, "an object", |value| match value {
            Value::Section(section) => Some(section),
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

    /// Every attribute that is text, in order.
    pub(crate) fn all_texts(&self) -> impl Iterator<Item = (&str, String)> {
        let members = self.0.iter();
        members.filter_map(|member| Some((&*member.name, member.value.text()?)))
    }
}

impl<'a> Value<'a> {
    /// Text in quotes.
    pub(crate) fn text(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::Code(code) => code.as_text(),
            _ => None,
        }
    }

    /// The members of an object.
    pub(crate) fn object(&self) -> Result<Option<Section<'a>>, Error> {
        let members = match self {
            Self::Section(section) => return Ok(Some(section.clone())),
            Self::Code(code) => code.as_object()?,
            _ => None,
        };
        let member = |(name, code): (&'a str, Expression<'a>)| Member {
            name: name.into(),
            labels: Vec::new(),
            line: Some(code.line()),
            value: Self::Code(code),
        };
        Ok(members.map(|members| Section(members.into_iter().map(member).collect())))
    }
}

impl Member<'_> {
    /// Whether it is a block, with any labels.
    pub(crate) fn is_block(&self) -> bool {
        let is_section = |value: &Value<'_>| matches!(value, Value::Section(_));
        match &self.value {
            Value::List(values) => values.iter().any(is_section),
            value => is_section(value),
        }
    }

    /// Turns the objects around a block into its labels, and lists into several blocks. JSON has no comments but members with the name `//`.
    /// The parsers limit the depth of this recursion.
    fn descend<'s>(
        &'s self,
        labels: Vec<&'s str>,
        value: &'s Value<'s>,
        wanted: usize,
        found: &mut Vec<Block<'s>>,
    ) -> Result<(), Error> {
        match value {
            Value::Null => Ok(()),
            Value::List(values) => values
                .iter()
                .try_for_each(|value| self.descend(labels.clone(), value, wanted, found)),
            Value::Section(body) if labels.len() == wanted => {
                found.push(Block {
                    name: &self.name,
                    labels,
                    body,
                    line: self.line,
                });
                Ok(())
            }
            Value::Section(section) if labels.len() < wanted => {
                let mut members = section.all().filter(|inner| inner.name != "//");
                members.try_for_each(|inner| {
                    let mut labels = labels.clone();
                    labels.push(&inner.name);
                    labels.extend(&inner.labels);
                    self.descend(labels, &inner.value, wanted, found)
                })
            }
            _ => Err(Error {
                line: self.line,
                mistake: SyntaxError::Block {
                    name: self.name.to_string(),
                    labels: wanted,
                },
            }),
        }
    }
}
