//! Where the entries of a trust file and their keys are.

use std::ops::Range;

use toml_edit::{Document, Item, Table, TableLike, Value};

/// Where an entry is, so that errors and edits find it.
#[derive(Clone, Debug, Default)]
pub(super) struct EntryLines {
    /// The line of its `match`.
    pub entry: usize,
    /// The comment behind each of its `keys`, on the same line.
    pub comments: Vec<Option<String>>,
    /// The first byte of its header, unless it is an inline table.
    pub header: Option<usize>,
    /// The bytes of its list of keys.
    pub list: Option<Range<usize>>,
}

/// The comment behind a key that ends at this byte, if it is the last key of its line. The list may end before the comment.
fn comment(text: &str, end: usize) -> Option<String> {
    let rest = text.get(end..)?.lines().next()?;
    let (between, comment) = rest.split_once('#')?;
    let is_last = between.chars().all(|c| matches!(c, ',' | ']' | ' ' | '\t'));
    let comment = Some(comment.trim()).filter(|_| is_last)?;
    (!comment.is_empty()).then(|| comment.to_owned())
}

/// The lines of every table of this name, in order; none if the text is not TOML.
pub(super) fn lines(text: &str, name: &str) -> Vec<EntryLines> {
    let Ok(file) = Document::parse(text) else {
        return Vec::new();
    };
    let ends: Vec<usize> = text.match_indices('\n').map(|(end, _)| end).collect();
    let line = |at: usize| 1 + ends.partition_point(|end| *end < at);
    let lines = |table: &dyn TableLike| {
        let start = |item: &Item| item.span().map(|span| span.start);
        let entry = table.get("match").and_then(start);
        let list = table.get("keys");
        let keys = list.and_then(Item::as_array).into_iter();
        let keys: Vec<_> = keys.flatten().filter_map(Value::span).collect();
        EntryLines {
            header: None,
            list: list.and_then(Item::span),
            entry: entry.map(line).unwrap_or_default(),
            comments: keys.iter().map(|span| comment(text, span.end)).collect(),
        }
    };
    let tables = file.get(name);
    match tables.and_then(Item::as_array_of_tables) {
        Some(tables) => {
            let header = |table: &Table| table.span().map(|span| span.start);
            let lines = tables.iter().map(|table| EntryLines {
                header: header(table),
                ..lines(table)
            });
            lines.collect()
        }
        None => {
            let tables = tables.and_then(Item::as_array).into_iter().flatten();
            let tables = tables.filter_map(Value::as_inline_table);
            tables.map(|table| lines(table)).collect()
        }
    }
}
