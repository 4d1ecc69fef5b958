//! How deep texts stand within expressions within texts.
//!
//! The parser reads a quoted text twice where it does not end: once as a plain one, once as a template. Each level within
//! doubles its work, so twenty levels take seconds. The depth is therefore limited before anything is parsed.

/// The most levels. Real templates have one: `${hostname == "a.example" ? "a" : "b"}`.
pub(crate) const DEEPEST: usize = 8;

/// How many quoted texts are open at once, at the most. What does not parse may have any number.
pub(crate) fn depth(text: &str) -> usize {
    let (mut open, mut depth, mut deepest) = (vec![Within::Text], 0_usize, 0);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match (open.last(), c) {
            (Some(Within::Text), '$' | '%') if rest.next_if_eq(&'{').is_some() => {
                open.push(Within::Expression);
            }
            (Some(Within::Text), '\\') => drop(rest.next()),
            (Some(Within::Text), '"') if depth > 0 => {
                open.pop();
                depth -= 1;
            }
            (Some(Within::Expression), '"') => {
                open.push(Within::Text);
                depth += 1;
            }
            (Some(Within::Expression), '{') => open.push(Within::Expression),
            (Some(Within::Expression), '}') => drop(open.pop()),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
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
