//! Files in HCL 2 and JSON, read in one way. In JSON, labels are the names of objects, every block may be a list of blocks, and nothing has a
//! line.

use super::error::Located;
use super::{FileError, Target, first_name, in_nfc};
use crate::syntax::outline::{self, Expression};
use crate::syntax::{self, Section};

/// The content of a file or block.
#[derive(Clone, Copy)]
pub(super) enum Body<'a> {
    Hcl(&'a outline::Body<'a>),
    Json(&'a Section),
}

pub(super) struct Block<'a> {
    pub(super) labels: Vec<String>,
    pub(super) line: Option<usize>,
    pub(super) body: Body<'a>,
}

/// The value of an argument.
#[derive(Clone, Copy)]
pub(super) enum Value<'a> {
    Hcl(&'a Expression<'a>),
    Json(&'a syntax::Value),
}

/// Parses a file in JSON.
pub(super) fn json(bytes: &[u8]) -> Result<syntax::Value, Located> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    serde_json::from_slice(bytes).map_err(|error| (Some(error.line()), FileError::Json))
}

/// A mistake in a file in HCL.
pub(super) fn not_hcl(error: outline::Error) -> Located {
    (Some(error.line), FileError::Hcl(error.mistake))
}

impl Block<'_> {
    /// Its last label.
    pub(super) fn name(&self) -> String {
        self.labels.last().cloned().unwrap_or_default()
    }
}

impl<'a> Body<'a> {
    /// The blocks of this name, which have so many labels.
    pub(super) fn blocks(self, name: &str, labels: usize) -> Result<Vec<Block<'a>>, Located> {
        match self {
            Self::Hcl(body) => body
                .blocks(name)
                .map(|block| of_hcl(block, labels))
                .collect(),
            Self::Json(section) => {
                let members = section.members().filter(|(member, _)| *member == name);
                let mut found = Vec::new();
                for (_, value) in members {
                    of_json(value, Vec::new(), labels, &mut found)?;
                }
                Ok(found)
            }
        }
    }

    pub(super) fn value(self, name: &str) -> Option<Value<'a>> {
        match self {
            Self::Hcl(body) => body.attributes.get(name).map(Value::Hcl),
            Self::Json(section) => section.value(name).map(Value::Json),
        }
    }

    /// An argument that is text.
    pub(super) fn text(self, name: &'static str) -> Result<Option<String>, Located> {
        let value = self.value(name);
        value.map(|value| value.text_of(name)).transpose()
    }

    /// The local name of the provider that a block refers to. Clients read it in forms that this refuses, such as a heredoc.
    pub(super) fn provider(self) -> Result<Option<String>, Located> {
        let Some(value) = self.value("provider") else {
            return Ok(None);
        };
        let root = match value {
            Value::Hcl(expression) => expression.as_root(),
            Value::Json(_) => None,
        };
        let text = || value.text_of("provider").map(|text| first_name(&text));
        root.map_or_else(text, |root| Ok(root.to_owned())).map(Some)
    }

    /// The members of an object, without comments.
    pub(super) fn members(self) -> Vec<(&'a str, Value<'a>)> {
        match self {
            Self::Hcl(body) => {
                let attributes = body.attributes.iter();
                attributes
                    .map(|(name, value)| (*name, Value::Hcl(value)))
                    .collect()
            }
            Self::Json(section) => {
                let members = section.members().filter(|(name, _)| *name != "//");
                members
                    .map(|(name, value)| (name, Value::Json(value)))
                    .collect()
            }
        }
    }
}

impl Value<'_> {
    pub(super) fn line(self) -> Option<usize> {
        match self {
            Self::Hcl(expression) => Some(expression.line()),
            Self::Json(_) => None,
        }
    }

    /// The text of a value, as clients have it.
    pub(super) fn text(self) -> Option<String> {
        match self {
            Self::Hcl(expression) => expression.as_text().map(|text| in_nfc(&text)),
            Self::Json(syntax::Value::Text(text)) => Some(in_nfc(text)),
            Self::Json(_) => None,
        }
    }

    fn text_of(self, name: &'static str) -> Result<String, Located> {
        let refusal = || (self.line(), FileError::NotText { name });
        self.text().ok_or_else(refusal)
    }

    /// The text of a value, or the expression that it is. OpenTofu evaluates templates in JSON, and Terraform takes them as they are.
    pub(super) fn literal(self) -> Result<String, String> {
        match (self, self.text()) {
            (Self::Json(_), Some(text)) if text.contains("${") || text.contains("%{") => Err(text),
            (_, Some(text)) => Ok(text),
            (Self::Hcl(expression), None) => Err(expression.text().to_owned()),
            (Self::Json(_), None) => Err(String::new()),
        }
    }

    /// As [`Value::literal`], where JSON has to be text.
    pub(super) fn literal_text(self) -> Result<Result<String, String>, Located> {
        match self {
            Self::Json(value) if !matches!(value, syntax::Value::Text(_)) => {
                Err((None, FileError::NotText { name: "source" }))
            }
            value => Ok(value.literal()),
        }
    }

    pub(super) fn target(self) -> Option<Target> {
        match self {
            Self::Hcl(expression) => Target::of(expression),
            Self::Json(_) => Target::of(&Expression::of(&self.text()?)),
        }
    }

    /// The source and version of a required provider, which is an object.
    pub(super) fn requirement(
        self,
        name: &str,
    ) -> Result<(Option<String>, Option<String>), Located> {
        let refusal = || {
            let name = name.to_owned();
            (self.line(), FileError::Requirement { name })
        };
        let (mut source, mut version) = (None, None);
        match self {
            Self::Hcl(expression) => {
                for member in expression.as_object().ok_or_else(refusal)? {
                    match member.map_err(not_hcl)? {
                        ("source", value) => source = Some(Value::Hcl(&value).text_of("source")?),
                        ("version", value) => {
                            version = Some(Value::Hcl(&value).text_of("version")?)
                        }
                        _ => {}
                    }
                }
            }
            Self::Json(syntax::Value::Section(section)) => {
                let body = Body::Json(section);
                (source, version) = (body.text("source")?, body.text("version")?);
            }
            Self::Json(_) => return Err(refusal()),
        }
        Ok((source, version))
    }
}

fn of_hcl<'a>(block: &'a outline::Block<'a>, labels: usize) -> Result<Block<'a>, Located> {
    let received = block.labels.len();
    if received != labels {
        let mistake = FileError::Labels {
            name: block.name.to_owned(),
            expected: labels,
            received,
        };
        return Err((Some(block.line), mistake));
    }
    Ok(Block {
        labels: block.labels.iter().map(ToString::to_string).collect(),
        line: Some(block.line),
        body: Body::Hcl(&block.body),
    })
}

/// Adds the blocks that a member has below so many labels. A member `//` is a comment.
fn of_json<'a>(
    value: &'a syntax::Value,
    labels: Vec<String>,
    more: usize,
    found: &mut Vec<Block<'a>>,
) -> Result<(), Located> {
    for section in sections(value)? {
        let Some(more) = more.checked_sub(1) else {
            found.push(Block {
                labels: labels.clone(),
                line: None,
                body: Body::Json(section),
            });
            continue;
        };
        for (label, value) in section.members().filter(|(label, _)| *label != "//") {
            let labels = labels.iter().cloned().chain([label.to_owned()]);
            of_json(value, labels.collect(), more, found)?;
        }
    }
    Ok(())
}

/// A block, or a list of blocks.
pub(super) fn sections(value: &syntax::Value) -> Result<Vec<&Section>, Located> {
    match value {
        syntax::Value::Null => Ok(Vec::new()),
        syntax::Value::List(values) => values.iter().map(section).collect(),
        value => Ok(vec![section(value)?]),
    }
}

fn section(value: &syntax::Value) -> Result<&Section, Located> {
    match value {
        syntax::Value::Section(section) => Ok(section),
        _ => Err((None, FileError::Json)),
    }
}
