//! What the blocks and arguments of a module hold, in HCL 2 and JSON alike. Nothing in JSON has a line.

use super::error::Located;
use super::{FileError, Target, first_name, in_nfc};
use crate::syntax::{self, Block, Expression, Section, SyntaxError, Value};

/// An error of the parser.
pub(super) fn located(error: syntax::Error) -> Located {
    (error.line, error.mistake.into())
}

/// The last label of a block.
pub(super) fn name(block: &Block<'_>) -> String {
    block.labels.last().copied().unwrap_or_default().to_owned()
}

/// The blocks of this name, which have so many labels.
pub(super) fn blocks<'a>(
    section: &'a Section<'a>,
    name: &str,
    labels: usize,
) -> Result<Vec<Block<'a>>, Located> {
    // Only in JSON can the members of a block be its labels.
    let mut members = section.all().filter(|member| member.name == name);
    if let Some(odd) = members.find(|one| one.line.is_some() && one.labels.len() != labels) {
        let name = name.to_owned();
        return Err((odd.line, SyntaxError::Block { name, labels }.into()));
    }
    section.blocks(name, labels).map_err(located)
}

/// The roots of a file in JSON, which may be a list of objects.
pub(super) fn roots(file: Value<'_>) -> Result<Vec<Section<'_>>, Located> {
    match file {
        Value::Null => Ok(Vec::new()),
        Value::Section(section) => Ok(vec![section]),
        Value::List(values) => {
            let roots = values.into_iter().map(roots).collect::<Result<Vec<_>, _>>();
            Ok(roots?.into_iter().flatten().collect())
        }
        _ => Err((None, SyntaxError::Json.into())),
    }
}

/// An argument that is text.
pub(super) fn text_of(
    section: &Section<'_>,
    name: &'static str,
) -> Result<Option<String>, Located> {
    let text = section.text(name).map_err(located)?;
    Ok(text.map(|text| in_nfc(&text)))
}

/// The local name of the provider that a block refers to. Clients read it in forms that this refuses, such as a heredoc.
pub(super) fn provider(section: &Section<'_>) -> Result<Option<String>, Located> {
    if let Some(Value::Code(code)) = section.value("provider")
        && let Some(root) = code.as_root()
    {
        return Ok(Some(root.to_owned()));
    }
    Ok(text_of(section, "provider")?.map(|text| first_name(&text)))
}

pub(super) fn line(value: &Value<'_>) -> Option<usize> {
    match value {
        Value::Code(code) => Some(code.line()),
        _ => None,
    }
}

/// The text of a value, as clients have it.
pub(super) fn text(value: &Value<'_>) -> Option<String> {
    value.text().map(|text| in_nfc(&text))
}

/// The text of a value, or the expression that it is. OpenTofu evaluates templates in JSON, and Terraform takes them as they are.
fn literal(value: &Value<'_>) -> Result<String, String> {
    match (value, text(value)) {
        (Value::Text(_), Some(text)) if text.contains("${") || text.contains("%{") => Err(text),
        (_, Some(text)) => Ok(text),
        (Value::Code(code), None) => Err(code.text().to_owned()),
        (_, None) => Err(String::new()),
    }
}

/// As [`literal`], where JSON has to be text.
pub(super) fn literal_of(
    section: &Section<'_>,
    name: &'static str,
) -> Result<Option<Result<String, String>>, Located> {
    match section.value(name) {
        None => Ok(None),
        Some(value @ (Value::Text(_) | Value::Code(_))) => Ok(Some(literal(value))),
        Some(_) => text_of(section, name).map(|text| text.map(Ok)),
    }
}

/// The resource that an `import` block is about.
pub(super) fn target(section: &Section<'_>) -> Option<Target> {
    match section.value("to")? {
        Value::Code(code) => Target::of(code),
        value => Target::of(&Expression::of(&text(value)?)),
    }
}

/// The source and version of a required provider, which is an object.
pub(super) fn requirement(
    name: &str,
    value: &Value<'_>,
) -> Result<(Option<String>, Option<String>), Located> {
    let refusal = || {
        let name = name.to_owned();
        (line(value), FileError::Requirement { name })
    };
    let object = value.object().map_err(located)?.ok_or_else(refusal)?;
    Ok((text_of(&object, "source")?, text_of(&object, "version")?))
}
