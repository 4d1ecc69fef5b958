//! A parser for HCL 1, the language of the CLI configuration.
//!
//! HCL 1 differs from HCL 2: names may be quoted, line breaks or commas between items are optional, and `${…}` in text is
//! plain text. An item consists of names and a value, with an optional `=` between them.

use super::Error;
use super::block::{Member, Section, Value};

/// The deepest accepted nesting. Real files have three levels.
const DEEPEST: usize = 64;

pub(super) fn parse(text: &str) -> Result<Section, Error> {
    let mut reader = Reader {
        text,
        rest: text,
        depth: 0,
        line: 1,
        counted: text,
    };
    reader.section(None)
}

struct Reader<'a> {
    text: &'a str,
    rest: &'a str,
    depth: usize,
    /// The line at which `counted` begins.
    line: usize,
    /// The text whose lines are not counted yet. It begins before `rest`, or with it.
    counted: &'a str,
}

impl<'a> Reader<'a> {
    /// Reads items up to the closing brace or the end of the file.
    fn section(&mut self, end: Option<char>) -> Result<Section, Error> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.mistake());
        }
        let mut members = Vec::new();
        loop {
            self.space()?;
            if self.rest.starts_with(',') && !members.is_empty() {
                self.next();
                self.space()?;
            }
            if self.peek() == end {
                self.next();
                break;
            }
            members.push(self.member()?);
        }
        self.depth -= 1;
        Ok(Section::new(members))
    }

    fn member(&mut self) -> Result<Member, Error> {
        let line = self.line();
        let name = self.name()?;
        let mut labels = Vec::new();
        loop {
            self.space()?;
            match self.peek() {
                Some('{') => break,
                Some('=') if labels.is_empty() => {
                    self.next();
                    self.space()?;
                    break;
                }
                _ => labels.push(self.name()?),
            }
        }
        let value = self.value()?;
        Ok(Member {
            name,
            labels,
            value,
            line: Some(line),
        })
    }

    /// The line of the current position. Each line break of the file is counted once, whatever the number of calls.
    fn line(&mut self) -> usize {
        let passed = self.counted.len() - self.rest.len();
        let passed = self.counted.get(..passed).unwrap_or_default();
        self.line += passed.matches('\n').count();
        self.counted = self.rest;
        self.line
    }

    /// Reads a bare or quoted name.
    fn name(&mut self) -> Result<String, Error> {
        if self.peek() == Some('"') {
            return self.quoted();
        }
        let word = self.word();
        if word.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            Ok(word.to_owned())
        } else {
            Err(self.mistake())
        }
    }

    fn value(&mut self) -> Result<Value, Error> {
        match self.peek() {
            Some('{') => {
                self.next();
                Ok(Value::Section(self.section(Some('}'))?))
            }
            Some('[') => {
                self.next();
                self.list()
            }
            Some('"') => self.quoted().map(Value::Text),
            Some('<') => self.heredoc().map(Value::Text),
            _ => {
                let here = self.mistake();
                match self.word() {
                    "true" => Ok(Value::Flag(true)),
                    "false" => Ok(Value::Flag(false)),
                    word if word.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
                        Ok(Value::Other)
                    }
                    _ => Err(here),
                }
            }
        }
    }

    fn list(&mut self) -> Result<Value, Error> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.mistake());
        }
        let mut values = Vec::new();
        loop {
            self.space()?;
            if self.peek() != Some(']') {
                values.push(self.value()?);
                self.space()?;
            }
            match self.next() {
                Some(',') => {}
                Some(']') => break,
                _ => return Err(self.mistake()),
            }
        }
        self.depth -= 1;
        Ok(Value::List(values))
    }

    /// Reads text in quotes. The content of `${…}` is copied unchanged, quotes and line breaks included.
    fn quoted(&mut self) -> Result<String, Error> {
        self.next();
        let mut text = String::new();
        loop {
            match self.next() {
                Some('"') => return Ok(text),
                Some('$') if self.peek() == Some('{') => {
                    text.push('$');
                    self.interpolation(&mut text)?;
                }
                Some('\\') => text.push(self.escape()?),
                None | Some('\n') => return Err(self.mistake()),
                Some(c) => text.push(c),
            }
        }
    }

    fn interpolation(&mut self, text: &mut String) -> Result<(), Error> {
        let mut braces = 0_usize;
        loop {
            let c = self.next().ok_or_else(|| self.mistake())?;
            text.push(c);
            match c {
                '{' => braces += 1,
                '}' if braces <= 1 => return Ok(()),
                '}' => braces -= 1,
                _ => {}
            }
        }
    }

    fn escape(&mut self) -> Result<char, Error> {
        let digits = match self.next() {
            Some('n') => return Ok('\n'),
            Some('r') => return Ok('\r'),
            Some('t') => return Ok('\t'),
            Some(c @ ('\\' | '"')) => return Ok(c),
            Some('x') => 2,
            Some('u') => 4,
            Some('U') => 8,
            _ => return Err(self.mistake()),
        };
        let (code, rest) = self
            .rest
            .split_at_checked(digits)
            .ok_or_else(|| self.mistake())?;
        let sound = code.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u32::from_str_radix(code, 16).ok().filter(|_| sound);
        let c = number
            .and_then(char::from_u32)
            .ok_or_else(|| self.mistake())?;
        self.rest = rest;
        Ok(c)
    }

    /// Reads a heredoc: `<<EOF`, or `<<-EOF`, from whose lines common leading white space is removed.
    fn heredoc(&mut self) -> Result<String, Error> {
        let opened = self.rest.strip_prefix("<<").ok_or_else(|| self.mistake())?;
        let (indented, opened) = match opened.strip_prefix('-') {
            Some(opened) => (true, opened),
            None => (false, opened),
        };
        let (mark, mut rest) = opened.split_once('\n').ok_or_else(|| self.mistake())?;
        let mark = mark.trim_end();
        let mut lines = Vec::new();
        while let Some((line, after)) = rest.split_once('\n').or(Some((rest, ""))) {
            if line.trim() == mark && !mark.is_empty() {
                self.rest = after;
                let indent = |line: &&str| line.len() - line.trim_start().len();
                let least = lines.iter().map(indent).min().unwrap_or(0);
                let cut = if indented { least } else { 0 };
                let line = |line: &str| format!("{}\n", line.get(cut..).unwrap_or_default());
                return Ok(lines.into_iter().map(line).collect());
            }
            if rest.is_empty() {
                break;
            }
            lines.push(line);
            rest = after;
        }
        Err(self.mistake())
    }

    /// Skips white space and comments.
    fn space(&mut self) -> Result<(), Error> {
        loop {
            self.rest = self.rest.trim_start();
            if let Some(comment) = self.rest.strip_prefix("/*") {
                let closed = comment.split_once("*/").ok_or_else(|| self.mistake())?;
                self.rest = closed.1;
            } else if self.rest.starts_with('#') || self.rest.starts_with("//") {
                self.rest = self.rest.split_once('\n').map_or("", |(_, rest)| rest);
            } else {
                return Ok(());
            }
        }
    }

    fn word(&mut self) -> &'a str {
        let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '+');
        let end = self.rest.find(|c| !part(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        self.rest = rest;
        word
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next();
        self.rest = chars.as_str();
        next
    }

    /// The syntax error at the current position.
    fn mistake(&self) -> Error {
        let read = self.text.len() - self.rest.len();
        let before = self.text.get(..read).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        Error::Hcl {
            line: before.matches('\n').count() + 1,
            column: line.chars().count() + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(source: &str) -> String {
        match parse(&format!("a = {source}")).unwrap().value("a") {
            Some(Value::Text(text)) => text.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn items_follow_each_other_in_any_way() {
        let wanted = parse("a = 1\nb \"c\" {\n  d = true\n}\n").unwrap();
        for source in [
            "a=2 b c{d=true}",
            "\"a\" = 0x1f, \"b\" \"c\" { \"d\" = true, }",
            "# x\na = -1.5e+3 // y\nb c /* z\n */ { d = true } # end",
        ] {
            assert_eq!(parse(source).unwrap(), wanted, "{source}");
        }
    }

    #[test]
    fn items_have_lines() {
        let source = "a = <<EOF\n\nEOF\n\nb /* \n */ \"c\" {\n  d = [\n\n]\n}\n e {} f {}";
        let root = parse(source).unwrap();
        let lines: Vec<_> = root.all_blocks().iter().map(|block| block.line).collect();
        assert_eq!(lines, [Some(11), Some(11)]);
        let blocks = root.blocks("b", 1).unwrap();
        assert_eq!(blocks[0].line, Some(5));
    }

    #[test]
    fn text_is_unescaped_but_not_within_interpolations() {
        for (source, wanted) in [
            (r#""a\"b\\c\tA\u00e9""#, "a\"b\\c\tAé"),
            (r#""${x == "\"" ? {} : 1}y""#, r#"${x == "\"" ? {} : 1}y"#),
            (r#""$${x}""#, "$${x}"),
            (r#""%{ pa$$ word""#, "%{ pa$$ word"),
            ("<<EOF\n  one\n two\nEOF\n", "  one\n two\n"),
            ("<<-EOF\n  one\n   two\n  EOF", "one\n two\n"),
        ] {
            assert_eq!(text(source), wanted, "{source}");
        }
        // A brace in a string within an interpolation ends it, as for clients.
        assert!(parse(r#"a = "${x == "}"}""#).is_err());
    }

    #[test]
    fn mistakes_have_a_place() {
        for (source, place) in [
            ("a", (1, 2)),
            ("a = ", (1, 5)),
            ("a = b", (1, 5)),
            ("a {", (1, 4)),
            ("}", (1, 1)),
            ("a = 1\nb = \"x\ny\"", (3, 1)),
            ("a = [1 2]", (1, 9)),
            ("a = \"\\q\"", (1, 8)),
            ("a b = 1", (1, 5)),
            ("é = \"${\"", (1, 9)),
            ("a = <<EOF\nx\n", (1, 5)),
            ("/* x", (1, 1)),
            ("a = \"\\u00\"", (1, 8)),
        ] {
            match parse(source) {
                Err(Error::Hcl { line, column }) => {
                    assert_eq!((line, column), place, "{source:?}");
                }
                other => panic!("{source:?}: {other:?}"),
            }
        }
    }
}
