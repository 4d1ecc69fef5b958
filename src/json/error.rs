//! Why a JSON document is refused, and where in it the fault is.

use std::fmt;

use crate::error::{Category, printable};

/// A document that cannot be read, or that its readers would not read alike.
#[derive(Debug)]
pub struct Error {
    /// The way from the document to the object or value with the fault, outermost step first.
    path: Vec<Step>,
    /// What is wrong there.
    pub fault: Fault,
}

/// What is wrong with a document.
#[derive(Debug)]
pub enum Fault {
    /// It is not JSON, or a value is not of the type that clients decode.
    Malformed(serde_json::Error),
    /// An object has a member twice that clients know.
    Repeated {
        /// The name of the member as the first of the two spells it.
        first: String,
        /// The name as the second spells it.
        second: String,
    },
    /// There are more members, items or levels than are read.
    TooMany {
        /// What was counted.
        what: &'static str,
        /// The most that is read.
        limit: usize,
    },
}

/// One step from a document to a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Member(String),
    /// An item of a list, counted from 1.
    Item(usize),
}

impl Error {
    /// That an object has a member twice.
    pub fn repeated(first: &str, second: &str) -> Self {
        Fault::Repeated {
            first: first.to_owned(),
            second: second.to_owned(),
        }
        .into()
    }

    /// That there is more of something than is read.
    pub fn too_many(what: &'static str, limit: usize) -> Self {
        Fault::TooMany { what, limit }.into()
    }

    /// The same fault, seen from the object that has this member.
    #[must_use]
    pub fn within(mut self, member: &str) -> Self {
        self.path.insert(0, Step::Member(printable(member)));
        self
    }

    pub(super) fn at_item(mut self, number: usize) -> Self {
        self.path.insert(0, Step::Item(number));
        self
    }

    /// The part of a document that has the fault: `entry 2 of the index`, `platform of entry 2 of the index`, or `the index`.
    pub fn part_of(&self, document: &str) -> String {
        let mut parts: Vec<String> = Vec::new();
        let mut list = "";
        for step in &self.path {
            match step {
                Step::Member(name) => {
                    list = name;
                    parts.push(name.clone());
                }
                Step::Item(number) => {
                    parts.pop();
                    parts.push(match list {
                        "manifests" => format!("entry {number}"),
                        "layers" => format!("layer {number}"),
                        list => format!("item {number} of `{list}`"),
                    });
                }
            }
        }
        parts.reverse();
        parts.push(format!("the {document}"));
        parts.join(" of ")
    }

    /// What was expected of a document and what was found in it, as facts below the first line of an error.
    pub fn facts(&self, document: &str) -> String {
        let part = self.part_of(document);
        match &self.fault {
            Fault::Malformed(_) => format!("  found in {part}"),
            Fault::Repeated { first, second } => {
                let (first, second) = (printable(first), printable(second));
                format!("  expected one `{first}` in {part}\n  received `{first}` and `{second}`")
            }
            Fault::TooMany { what, limit } => {
                format!("  expected at most {limit} {what} in {part}\n  received more")
            }
        }
    }

    /// What kind of problem it is: a document with two meanings is never used, whatever it says.
    pub fn category(&self) -> Category {
        match self.fault {
            Fault::Repeated { .. } => Category::Untrusted,
            Fault::Malformed(_) | Fault::TooMany { .. } => Category::Malformed,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.path {
            if let Step::Member(name) = step {
                write!(f, "`{name}`: ")?;
            }
        }
        match &self.fault {
            Fault::Malformed(mistake) => {
                let text = printable(&mistake.to_string());
                match text.split_once(" at line ") {
                    // The place within a member would be taken for the place within the document.
                    Some((text, _)) if !self.path.is_empty() => f.write_str(text),
                    _ => f.write_str(&text),
                }
            }
            Fault::Repeated { first, second } => {
                let (first, second) = (printable(first), printable(second));
                write!(f, "an object has the members `{first}` and `{second}`")
            }
            Fault::TooMany { what, limit } => write!(f, "more than {limit} {what}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        Self {
            path: Vec::new(),
            fault,
        }
    }
}

impl From<serde_json::Error> for Error {
    fn from(mistake: serde_json::Error) -> Self {
        Fault::Malformed(mistake).into()
    }
}
