//! Plain words for the messages of serde, which name types of Rust.

/// What a value must be, from a message of serde. `object` is the word for a value with members: `object` in JSON, `table` in TOML. A message of
/// another form is returned as it is. The received value is left out: a server may have repeated a password in it.
pub(crate) fn words(message: &str, object: &str) -> String {
    if message == "wanted string or table" {
        return "expected a text".to_owned();
    }
    if let Some(name) = message.strip_prefix("missing field ") {
        return format!("{name} is missing");
    }
    let is_of_value = ["invalid type: ", "invalid value: ", "unknown variant "]
        .into_iter()
        .any(|begin| message.starts_with(begin));
    match message.rsplit_once(", expected ") {
        Some((_, expected)) if is_of_value => format!("expected {}", kind(expected, object)),
        _ => message.to_owned(),
    }
}

/// What is wrong, without any text of the document: only what a value must be, from a message of serde or of the parser. Names and values of
/// the document stand between quotes, and before what is expected.
pub(crate) fn without_text(message: &str, object: &str) -> String {
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

fn with_article(noun: &str) -> String {
    let article = match noun.starts_with(['a', 'e', 'i', 'o', 'u']) {
        true => "an",
        false => "a",
    };
    format!("{article} {noun}")
}

#[cfg(test)]
mod tests;
