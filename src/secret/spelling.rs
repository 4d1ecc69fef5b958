//! Secrets in the text of servers, and how such text spells their characters.

use super::Secret;

/// Shorter secrets are words of a message more often than a password in it.
const SHORTEST: usize = 4;

/// What stands for a secret.
const HIDDEN: char = '…';

/// Reads the first character of a text, and returns it with the rest of the text.
type Spelling = fn(&str) -> Option<(char, &str)>;

/// The spellings that programs use when they repeat a text that they received.
const SPELLINGS: [Spelling; 5] = [plain, percent, form, html, json];

/// Takes secrets out of a text in all spellings. Some proxies and gateways repeat a request in their answer, and the answer is printed and
/// logged.
pub(crate) fn hide(secrets: &[Secret], text: &str) -> String {
    let secrets: Vec<&str> = secrets.iter().map(Secret::reveal).collect();
    let (mut shown, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((first, next)) = plain(rest) {
        let long = secrets.iter().filter(|secret| secret.len() >= SHORTEST);
        let behind = long
            .flat_map(|secret| SPELLINGS.map(|spelling| behind(secret, rest, spelling)))
            .flatten()
            .next();
        shown.push(behind.map_or(first, |_| HIDDEN));
        rest = behind.unwrap_or(next);
    }
    shown
}

/// What follows a secret that a text begins with; `None` if it does not begin with the secret.
fn behind<'a>(secret: &str, text: &'a str, spelling: Spelling) -> Option<&'a str> {
    secret.chars().try_fold(text, |rest, expected| {
        let (read, rest) = spelling(rest)?;
        (read == expected).then_some(rest)
    })
}

/// The character itself.
fn plain(text: &str) -> Option<(char, &str)> {
    let mut rest = text.chars();
    Some((rest.next()?, rest.as_str()))
}

/// As in the path of a URL: `%26` is `&`, and `%C3%BC` is `ü`.
fn percent(text: &str) -> Option<(char, &str)> {
    const LONGEST: usize = 4;
    let (mut rest, mut bytes) = (text, Vec::new());
    while bytes.len() < LONGEST
        && let Some(code) = rest.strip_prefix('%')
    {
        let (digits, behind) = code.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = behind;
        if let Ok(read) = str::from_utf8(&bytes) {
            return Some((read.chars().next()?, rest));
        }
    }
    plain(text)
}

/// As in a form: `+` is a space, and everything else is as in a path.
fn form(text: &str) -> Option<(char, &str)> {
    match text.strip_prefix('+') {
        Some(rest) => Some((' ', rest)),
        None => percent(text),
    }
}

/// As in HTML: `&amp;`, `&#38;` and `&#x26;` are `&`.
fn html(text: &str) -> Option<(char, &str)> {
    // That of `&#x10ffff;`.
    const LONGEST: usize = 8;
    let Some(rest) = text.strip_prefix('&') else {
        return plain(text);
    };
    let end = rest.bytes().take(LONGEST + 1).position(|byte| byte == b';');
    let (name, rest) = rest.split_once(';').filter(|_| end.is_some())?;
    let read = match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        other => {
            let number = other.strip_prefix('#')?;
            let hexadecimal = number.strip_prefix(['x', 'X']);
            let number = match hexadecimal {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => number.parse(),
            };
            char::from_u32(number.ok()?)?
        }
    };
    Some((read, rest))
}

/// As in JSON: `\"` is `"`, and `\u0026` is `&`.
fn json(text: &str) -> Option<(char, &str)> {
    let Some(escaped) = text.strip_prefix('\\') else {
        return plain(text);
    };
    let Some(code) = escaped.strip_prefix('u') else {
        return plain(escaped);
    };
    let (digits, rest) = code.split_at_checked(4)?;
    let number = u32::from_str_radix(digits, 16).ok()?;
    Some((char::from_u32(number)?, rest))
}

#[cfg(test)]
mod tests;
