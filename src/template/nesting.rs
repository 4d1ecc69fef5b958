//! Limits the nesting of quoted texts in expressions.
//!
//! The parser reads an unterminated quoted text twice, as a plain text and as a template. Each level of nesting doubles the work, so twenty
//! levels take seconds. The depth is therefore checked before parsing.

/// The deepest accepted nesting. Real templates have one level: `${hostname == "a.example" ? "a" : "b"}`.
pub(super) const DEEPEST: usize = 8;

/// The largest number of quoted texts that are open at once. An invalid text may have any number.
pub(super) fn depth(text: &str) -> usize {
    let (mut open, mut depth, mut deepest) = (vec![Open::Text], 0_usize, 0);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match (open.last(), c) {
            (Some(Open::Text), '$' | '%') if rest.next_if_eq(&'{').is_some() => {
                open.push(Open::Expression);
            }
            (Some(Open::Text), '\\') => drop(rest.next()),
            (Some(Open::Text), '"') if depth > 0 => {
                open.pop();
                depth -= 1;
            }
            (Some(Open::Expression), '"') => {
                open.push(Open::Text);
                depth += 1;
            }
            (Some(Open::Expression), '{') => open.push(Open::Expression),
            (Some(Open::Expression), '}') => drop(open.pop()),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Text,
    Expression,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_texts_are_counted_where_they_are_open() {
        for (text, expected) in [
            ("ghcr.io/${namespace}", 0),
            (r#"${hostname == "a" ? "b" : "c"}"#, 1),
            (r#"${{"a" = "b"}[type]}/"c""#, 1),
            (r#"${a == "${b == "c" ? "d" : "e"}" ? "f" : "g"}"#, 2),
            (r#"${a == "\"${b}"}"#, 1),
            (r#"%{ if a == "b" }c%{ else }"d"%{ endif }"#, 1),
        ] {
            assert_eq!(depth(text), expected, "{text}");
        }
        assert_eq!(depth(&r#"${a == "x"#.repeat(20)), 20);
    }
}
