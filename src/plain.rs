//! Plain words for the messages of serde, which name types of Rust.

/// What a value must be and is, from a message of serde. `object` is the word for a value with members: `object` in JSON, `table` in TOML.
/// A message of another form is returned as it is.
pub(crate) fn words(message: &str, object: &str) -> String {
    if message == "wanted string or table" {
        return "expected a text".to_owned();
    }
    if let Some(text) = without_quotes(message) {
        return text.to_owned();
    }
    let member = message.strip_prefix("missing field ");
    if let Some(name) = member {
        return format!("{name} is missing");
    }
    let received = ["invalid type: ", "invalid value: ", "unknown variant "]
        .into_iter()
        .find_map(|begin| message.strip_prefix(begin));
    match received.and_then(|rest| rest.rsplit_once(", expected ")) {
        Some((received, expected)) => {
            let (expected, received) = (kind(expected, object), value(received, object));
            format!("expected {expected}, received {received}")
        }
        None => message.to_owned(),
    }
}

/// What the TOML parser says of a text without quotes, which it takes for the value that begins with the same character.
fn without_quotes(message: &str) -> Option<&'static str> {
    const QUOTES: &str = "a text needs quotes";
    match message {
        "string values must be quoted, expected literal string" => Some(QUOTES),
        "invalid float, expected `nan`" | "invalid float, expected `inf`" => Some(QUOTES),
        "invalid boolean, expected `true`" | "invalid boolean, expected `false`" => {
            Some("it is neither `true` nor `false`, and a text needs quotes")
        }
        "unexpected key or value, expected newline, `#`" => {
            Some("the line goes on after the value, and a text needs quotes")
        }
        _ => None,
    }
}

/// What is wrong, without any text of the document: only what a value must be, from a message of serde or of the parser. Names and values of
/// the document stand between quotes, and before what is expected.
pub(crate) fn without_text(message: &str, object: &str) -> String {
    if let Some(text) = without_quotes(message) {
        return text.to_owned();
    }
    match message.rsplit_once(", expected ") {
        Some((_, expected)) => format!("expected {}", kind(expected, object)),
        None if message.starts_with("missing field ") => words(message, object),
        None if message.contains(['`', '"', '\'']) => "it is not as expected".to_owned(),
        None => words(message, object),
    }
}

/// The word for the expected type.
fn kind(expected: &str, object: &str) -> String {
    match expected {
        "a sequence" => "a list".to_owned(),
        "a string" | "a borrowed string" => "a text".to_owned(),
        "a boolean" => "`true` or `false`".to_owned(),
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number".to_owned(),
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number from 0".to_owned(),
        "a nonzero usize" => "a whole number from 1".to_owned(),
        "a map" => with_article(object),
        other if other.starts_with("struct ") => with_article(object),
        other => other.to_owned(),
    }
}

/// The words for a received value.
fn value(received: &str, object: &str) -> String {
    let numbers = ["integer ", "floating point "];
    let number = numbers.iter().find_map(|kind| received.strip_prefix(kind));
    match (number, received) {
        (Some(number), _) => format!("the number {}", number.trim_matches('`')),
        (None, "sequence") => "a list".to_owned(),
        (None, "map") => with_article(object),
        // A server may have repeated a password in it.
        (None, other) if other.starts_with("string ") => "a text".to_owned(),
        (None, other) => other.strip_prefix("boolean ").unwrap_or(other).to_owned(),
    }
}

fn with_article(noun: &str) -> String {
    let article = match noun.starts_with(['a', 'e', 'i', 'o', 'u']) {
        true => "an",
        false => "a",
    };
    format!("{article} {noun}")
}

#[cfg(test)]
mod tests;
