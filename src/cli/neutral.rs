//! Neutral text, which neither a terminal nor a CI runner interprets as a command.
//!
//! GitHub's runner executes a line of output that begins with `::`, even after blanks, and `##[` anywhere in a line. Azure Pipelines
//! execute `##vso[`, TeamCity `##teamcity[`. Terminals and GitLab's sections interpret control characters. Every line of output passes
//! through this module.

use std::borrow::Cow;

use tfoci::error::is_deceptive;
use tfoci::shown::{Shown, userinfo};

/// Sanitises a line in which a library quotes its input: shortens it, and removes userinfo from URLs.
pub(super) fn quoted(line: &str) -> String {
    // The libraries quote single lines, and their beginning suffices.
    const LONGEST: usize = 1000;
    let mut out = match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    };
    let ends = |c: char| c.is_whitespace() || "\"'`".contains(c);
    for word in line.split(ends).filter(|word| userinfo(word).is_some()) {
        out = out.replace(word, &Shown::from(word).to_string());
    }
    out
}

/// Sanitises text for people: replaces control and bidirectional characters, breaks runner commands with a backslash, and removes userinfo
/// from URLs.
pub(super) fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            out.push('\n');
        }
        let line = without_userinfo(line);
        let rest = line.trim_start();
        let (blanks, _) = line.split_at(line.len() - rest.len());
        push(&mut out, blanks);
        if rest.starts_with("::") {
            out.push('\\');
        }
        push(&mut out, rest);
    }
    out
}

fn push(out: &mut String, line: &str) {
    let mut rest = line;
    while let Some((before, after)) = split_at_bracket(rest) {
        out.extend(before.chars().map(shown));
        out.push_str("\\[");
        rest = after;
    }
    out.extend(rest.chars().map(shown));
}

/// Replaces an invisible or control character, except `kept`.
pub(super) fn visible(c: char, kept: char) -> char {
    match c != kept && is_deceptive(c) {
        true => char::REPLACEMENT_CHARACTER,
        false => c,
    }
}

/// Replaces a tab by a space, because a tab can do no harm and tables contain some.
fn shown(c: char) -> char {
    visible(c, '\t')
}

/// An equal JSON document, in which these characters are escaped.
pub(super) fn json(document: &str) -> String {
    let document = without_userinfo(document);
    let mut out = String::with_capacity(document.len());
    let mut rest: &str = &document;
    // Such characters, `#` and `::` occur only inside strings, where JSON allows every character to be escaped.
    while let Some((before, after)) = split_at_bracket(rest) {
        escape(&mut out, before);
        out.push_str("\\u005b");
        rest = after;
    }
    escape(&mut out, rest);
    out
}

fn escape(out: &mut String, part: &str) {
    let mut units = [0; 2];
    let mut begins = false;
    for (at, c) in part.char_indices() {
        let is_command = begins && part.get(at..).is_some_and(|rest| rest.starts_with("::"));
        if is_command || (c != '\n' && is_deceptive(c)) {
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
        // A runner command may follow the opening quotation mark, and spaces after it.
        begins = c == '"' || (begins && c.is_whitespace());
    }
}

/// Splits text at `##name[`, and removes the bracket.
fn split_at_bracket(text: &str) -> Option<(&str, &str)> {
    text.match_indices('[').find_map(|(at, _)| {
        let (before, after) = text.split_at_checked(at)?;
        let name =
            before.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || "-_.".contains(c));
        name.ends_with("##")
            .then(|| (before, after.strip_prefix('[').unwrap_or(after)))
    })
}

/// Replaces `https://name:password@host` by `https://…@host`. Redact before you cut a text: a cut may remove the `@`.
fn without_userinfo(text: &str) -> Cow<'_, str> {
    const SCHEME: &str = "://";
    if !text.contains(SCHEME) || !text.contains('@') {
        return text.into();
    }
    let mut parts = text.split(SCHEME);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part
            .find(|c: char| c.is_whitespace() || "/\"'`<>\\".contains(c))
            .unwrap_or(part.len());
        let (authority, rest) = part.split_at(end);
        out.push_str(SCHEME);
        match authority.rsplit_once('@') {
            Some((_, host)) => out.extend(["…@", host, rest]),
            None => out.extend([authority, rest]),
        }
    }
    out.into()
}

#[cfg(test)]
mod tests;
