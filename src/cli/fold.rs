//! Folds text at the width of a terminal.

use console::measure_text_width;

/// The width of the lines of a page: a paragraph goes on if the first word of the next line had no space.
const FULL: usize = 90;
/// The least columns for the text of a row of a table. With fewer, it begins in a line of its own.
const NARROWEST: usize = 24;

/// Rows of at most so many columns, if no word is longer.
pub(super) fn rows<'a>(words: impl IntoIterator<Item = &'a str>, columns: usize) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    for word in words {
        match rows.last_mut() {
            Some(row) if measure_text_width(row) + 1 + measure_text_width(word) <= columns => {
                if !row.is_empty() {
                    row.push(' ');
                }
                row.push_str(word);
            }
            _ => rows.push(word.to_owned()),
        }
    }
    rows
}

/// Folds the paragraphs, items and rows of tables of a page. Code stays as it is.
pub(super) fn page(page: &str, columns: usize) -> String {
    let mut text = String::new();
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        let mut part = vec![line];
        let mut last = line;
        while let Some(next) = lines.next_if(|next| goes_on(line, last, next)) {
            part.push(next);
            last = next;
        }
        let is_narrow = |line: &&str| measure_text_width(line) <= columns;
        let is_heading = indentation(line) == 0;
        let is_text = part.len() > 1 || is_heading || is_row(line) || line.ends_with(['.', ':']);
        if is_code(line) || !is_text || part.iter().all(is_narrow) {
            part.iter().for_each(|line| text += &format!("{line}\n"));
        } else {
            text += &folded(&part, columns);
        }
    }
    text
}

/// Folds the lines of a paragraph, an item or a row. Further lines begin below the text of the first.
fn folded(part: &[&str], columns: usize) -> String {
    let first = part.first().copied().unwrap_or_default();
    let parts = first.split_at_checked(hanging(first));
    let (beginning, rest) = parts.unwrap_or((first, ""));
    let mut joined = rest.to_owned();
    for line in part.iter().skip(1) {
        joined = format!("{joined} {}", line.trim_start());
    }
    let mut text = beginning.to_owned();
    let mut indent = measure_text_width(beginning);
    if indent + NARROWEST > columns {
        indent = indentation(first) + 2;
        text = format!("{}\n{:indent$}", beginning.trim_end(), "");
    }
    let rows = rows(words(&joined), columns.saturating_sub(indent));
    text + &rows.join(&format!("\n{:indent$}", "")) + "\n"
}

/// The words of a text. Code between backticks is one word.
fn words(text: &str) -> Vec<&str> {
    let mut is_code = false;
    let is_end = |letter: char| {
        is_code ^= letter == '`';
        letter == ' ' && !is_code
    };
    let words = text.split(is_end).filter(|word| !word.is_empty());
    words.collect()
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Where the text of a line begins, in bytes: after the number of an item, or in the last column of a table.
fn hanging(line: &str) -> usize {
    let start = indentation(line);
    let text = line.trim_start();
    let number = text
        .split_once(". ")
        .filter(|(number, _)| number.len() == 1);
    if number.is_some_and(|(number, _)| number.starts_with(|first: char| first.is_ascii_digit())) {
        return start + 3;
    }
    match text.trim_end().rfind("  ") {
        Some(gap) => start + gap + 2,
        None => start,
    }
}

fn is_row(line: &str) -> bool {
    hanging(line) > indentation(line)
}

/// Whether a line is code, which is indented further, ends with a backslash, is a comment, or is a command in a table.
fn is_code(line: &str) -> bool {
    let text = line.trim_start();
    let is_command = is_row(line) && text.contains(" --") && !text.contains(['`', '.']);
    let is_further = indentation(line) > 2 && (!is_row(line) || text.contains(['=', '#']));
    is_further || text.ends_with('\\') || text.starts_with('#') || is_command
}

/// Whether the next line continues a part that begins with `first` and ends with `last`.
fn goes_on(first: &str, last: &str, next: &str) -> bool {
    if next.trim().is_empty() || is_code(first) {
        return false;
    }
    if is_row(first) {
        return indentation(next) == hanging(first);
    }
    let word = next.split_whitespace().next().unwrap_or_default();
    let is_full = measure_text_width(last) + 1 + measure_text_width(word) > FULL;
    let is_alike = indentation(first) == indentation(next);
    is_full && is_alike && !is_row(next) && !is_code(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_and_rows_go_on_below_their_text() {
        let text = "\
WORDS
  release     one version of a provider: its zip packages, and the author's documents:
              checksum document (SHA256SUMS), signature, public keys
  1. `--authfile FILE`; the files of 3 and 4 are then not read at all
    code stays as it is, however wide it may be
  a very long name of a thing in the first column   and a text that is wide
";
        let narrow = "\
WORDS
  release     one version of a provider:
              its zip packages, and the
              author's documents:
              checksum document
              (SHA256SUMS), signature,
              public keys
  1. `--authfile FILE`; the files of 3
     and 4 are then not read at all
    code stays as it is, however wide it may be
  a very long name of a thing in the first column
    and a text that is wide
";
        assert_eq!(page(text, 40), narrow);
        assert_eq!(page(text, 100), text);
    }

    #[test]
    fn code_between_backticks_is_one_word() {
        assert_eq!(words("a `b c` d"), ["a", "`b c`", "d"]);
        assert_eq!(rows(words("a `b c` d"), 6), ["a", "`b c`", "d"]);
        assert_eq!(
            rows(words("longer than wide"), 6),
            ["longer", "than", "wide"]
        );
        assert_eq!(rows(words(""), 6), [""; 0]);
    }
}
